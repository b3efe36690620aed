// Where a reader is in a page: scroll positions, focus, what was typed and which details are open. The page around the preview
// asks for it before it shows another page, and gives it to that one.
(() => {
  const MOST = 200;
  const LONGEST = 20_000;
  const say = (kind, data) => parent.postMessage({ heald: kind, ...data }, "*");
  const path = (/^.*?\/preview\/[^/]+\/(.*)$/.exec(location.pathname) ?? ["", ""])[1];
  const page = path === "" || path === "_draft" ? "index.html" : path;

  const placeOf = (element) => {
    if (element.id && document.querySelectorAll(`#${CSS.escape(element.id)}`).length === 1) return `#${CSS.escape(element.id)}`;
    const parts = [];
    for (let here = element; here && here !== document.documentElement; here = here.parentElement) {
      const alike = [...(here.parentElement?.children ?? [])].filter((sibling) => sibling.tagName === here.tagName);
      parts.unshift(`${here.tagName.toLowerCase()}:nth-of-type(${alike.indexOf(here) + 1})`);
    }
    return parts.join(" > ");
  };
  const elementAt = (place) => {
    try {
      return document.querySelector(String(place));
    } catch {
      return null;
    }
  };

  const openAtFirst = new WeakSet();
  addEventListener("DOMContentLoaded", () => document.querySelectorAll("details[open]").forEach((details) => openAtFirst.add(details)));

  const isSecret = (field) => field.type === "password" || field.type === "file" || field.type === "hidden";
  const isToggle = (field) => field.type === "checkbox" || field.type === "radio";
  const isChanged = (field) => {
    if (field.tagName === "SELECT") return [...field.options].some((option) => option.selected !== option.defaultSelected);
    return isToggle(field) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  };
  const valueOf = (field) => {
    if (field.tagName === "SELECT") return [...field.selectedOptions].map((option) => option.value);
    return isToggle(field) ? field.checked : field.value.slice(0, LONGEST);
  };
  // The setter of the browser: a library that watches its own fields must not take the value for its own.
  const write = (field, name, value) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), name).set.call(field, value);
  const setValue = (field, value) => {
    if (field.tagName === "SELECT") for (const option of field.options) option.selected = value.includes(option.value);
    else if (isToggle(field)) write(field, "checked", value === true);
    else write(field, "value", String(value));
  };
  const fieldName = (field) => `${field.tagName} ${field.type} ${field.name}`;

  const capture = () => {
    const root = document.scrollingElement ?? document.documentElement;
    const scrolled = [...document.querySelectorAll("body *")].filter((element) => element.scrollTop > 0 || element.scrollLeft > 0);
    const fields = [...document.querySelectorAll("input, textarea, select")].filter((field) => !isSecret(field) && isChanged(field));
    const details = [...document.querySelectorAll("details")].filter((element) => element.open !== openAtFirst.has(element));
    const focused = document.activeElement;
    const hasFocus = focused !== null && focused !== document.body && focused !== document.documentElement;
    return {
      page,
      left: root.scrollLeft,
      top: root.scrollTop,
      bottom: root.scrollTop + innerHeight,
      boxes: scrolled.slice(0, MOST).map((element) => [placeOf(element), element.scrollLeft, element.scrollTop]),
      fields: fields.slice(0, MOST).map((field) => [placeOf(field), fieldName(field), valueOf(field)]),
      details: details.slice(0, MOST).map((element) => [placeOf(element), element.open]),
      focus: hasFocus ? [placeOf(focused), caretOf(focused)] : null,
    };
  };
  const caretOf = (element) => {
    try {
      return typeof element.selectionStart === "number" ? [element.selectionStart, element.selectionEnd] : null;
    } catch {
      return null;
    }
  };

  const restore = (view) => {
    for (const [place, isOpen] of view.details) {
      const element = elementAt(place);
      if (element?.tagName === "DETAILS") element.open = isOpen === true;
    }
    for (const [place, name, value] of view.fields) {
      const field = elementAt(place);
      if (field === null || fieldName(field) !== name) continue;
      setValue(field, value);
      for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true })); // scripts follow it as if it was typed
    }
    for (const [place, left, top] of view.boxes) elementAt(place)?.scrollTo({ left, top, behavior: "instant" });
    return scroll(view);
  };
  const focus = ([place, caret]) => {
    const element = elementAt(place);
    element?.focus({ preventScroll: true });
    if (caret !== null && element !== null && caretOf(element) !== null) element.setSelectionRange(caret[0], caret[1]);
  };
  /** Whether the page is where it was; a script may still have to make the lower part of it. */
  const scroll = (view) => {
    const root = document.scrollingElement ?? document.documentElement;
    if (Math.abs(root.scrollTop - view.top) > 1 || Math.abs(root.scrollLeft - view.left) > 1) root.scrollTo({ left: view.left, top: view.top, behavior: "instant" });
    return Math.abs(root.scrollTop - view.top) <= 1;
  };

  const TRIES = 30; // frames until a page that stays shorter than the one before is shown as it is
  let unreached = null; // where the reader was, while the page is still too short for it
  const settle = (view, tries) => {
    unreached = scroll(view) ? null : view;
    if (unreached === null || tries === 0) requestAnimationFrame(() => setTimeout(() => say("restored", {})));
    else requestAnimationFrame(() => settle(view, tries - 1));
  };

  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(kind, () => (unreached = null), { capture: true, passive: true });
  addEventListener("load", () =>
    new ResizeObserver(() => {
      if (unreached !== null && scroll(unreached)) unreached = null;
    }).observe(document.documentElement),
  );
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data) return;
    if (event.data.heald === "capture") say("view", { question: event.data.question, view: capture() });
    if (event.data.heald === "focus" && event.data.focus !== null) focus(event.data.focus);
    if (event.data.heald !== "restore") return;
    const view = event.data.view;
    if (view === null || view.page !== page) requestAnimationFrame(() => requestAnimationFrame(() => say("restored", {})));
    else if (restore(view)) requestAnimationFrame(() => settle(view, 0));
    else requestAnimationFrame(() => settle(view, TRIES));
  });
})();
