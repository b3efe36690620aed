(() => {
  const say = (kind, data) => parent.postMessage({ heald: kind, ...data }, "*");
  const short = (value, most = 2000) => {
    let text;
    try {
      text = typeof value === "string" ? value : value instanceof Error ? `${value.name}: ${value.message}` : JSON.stringify(value);
    } catch {
      text = String(value);
    }
    return (text ?? String(value)).slice(0, most);
  };
  let said = 0;
  const log = (level, values) => {
    if (said++ < 200) say("console", { level, text: values.map((value) => short(value)).join(" ").slice(0, 4000) });
  };
  for (const level of ["error", "warn"]) {
    const plain = console[level].bind(console);
    console[level] = (...values) => {
      log(level, values);
      plain(...values);
    };
  }
  addEventListener("error", (event) => {
    const what = event.target && event.target !== window ? `could not load ${event.target.src || event.target.href || event.target.tagName}` : event.message;
    if (said++ < 200) say("error", { text: short(what), line: event.lineno || 0 });
  }, true);
  addEventListener("unhandledrejection", (event) => {
    if (said++ < 200) say("error", { text: short(event.reason) });
  });
  // Requests that fail are errors of the page as well; its own code still sees them fail.
  const report = (what) => {
    if (said++ < 200) say("error", { text: short(what) });
  };
  const plainFetch = window.fetch?.bind(window);
  if (plainFetch) {
    window.fetch = (...request) => {
      const where = request[0] instanceof Request ? request[0].url : String(request[0]);
      return plainFetch(...request).then(
        (answer) => {
          if (!answer.ok) report(`${where} answered ${answer.status}`);
          return answer;
        },
        (fault) => {
          report(`could not load ${where}: a preview has no network`);
          throw fault;
        },
      );
    };
  }
  // Chromium connects to the host of a frame before it applies the policy that forbids the frame.
  const isRemote = (address) => {
    const target = URL.parse?.(address, document.baseURI);
    return /^https?:$/.test(target?.protocol ?? "") && target.host !== location.host;
  };
  const source = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "src");
  const setAttribute = Element.prototype.setAttribute;
  Object.defineProperty(HTMLIFrameElement.prototype, "src", {
    ...source,
    set(address) {
      if (isRemote(address)) setAttribute.call(this, "data-src", address);
      else source.set.call(this, address);
    },
  });
  Element.prototype.setAttribute = function (name, value) {
    const isFrame = this instanceof HTMLIFrameElement && String(name).toLowerCase() === "src" && isRemote(value);
    setAttribute.call(this, isFrame ? "data-src" : name, value);
  };
  for (const name of ["alert", "confirm", "prompt", "print"]) window[name] = () => undefined;
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel"]) delete window[name]; // no policy stops these

  // No policy of the page covers WebRTC: it would reach any host. Frames inside get no scripts, so none has it either.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCIceTransport"]) delete window[name];
  const quiet = (frame) => {
    if (frame.getAttribute("sandbox") === "") return;
    const { parentNode, nextSibling } = frame;
    frame.remove();
    frame.setAttribute("sandbox", "");
    parentNode?.insertBefore(frame, nextSibling);
  };
  new MutationObserver((changes) => {
    for (const change of changes) {
      for (const node of change.type === "childList" ? change.addedNodes : [change.target]) {
        if (node.nodeName === "IFRAME") quiet(node);
        else node.querySelectorAll?.("iframe").forEach(quiet);
      }
    }
  }).observe(document, { subtree: true, childList: true, attributeFilter: ["sandbox", "srcdoc"] });

  const size = () => say("size", { width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight });
  // The path of the page below the address of the preview. A page that is still being written has none.
  const base = (/^.*?\/preview\/[^/]+\//.exec(location.pathname) ?? ["/"])[0];
  const page = decodeURIComponent(location.pathname.slice(base.length)) || "index.html";
  addEventListener("DOMContentLoaded", () => say("ready", {}));
  addEventListener("load", () => {
    say("page", { path: page, missing: document.body?.dataset.healdMissing !== undefined });
    size();
    new ResizeObserver(size).observe(document.documentElement);
  });

  const marksOf = window.healdMarks; // of the script before this one
  delete window.healdMarks;
  let choosing = false;
  let hasTools = true; // a page that is only picked from has no handles
  let marked = null;
  let selection = []; // the last one is the one that the panel shows
  // An attribute and a sheet of its own: the style of the element stays what the page wrote.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("[data-heald-mark]{outline:2px solid #3b6fe0 !important}[data-heald-selected]{outline:2px solid #3b6fe0 !important;outline-offset:2px !important}");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const mark = (element) => {
    marked?.removeAttribute("data-heald-mark");
    marked = element;
    element?.setAttribute("data-heald-mark", "");
  };
  const select = (elements) => {
    for (const element of selection) element.removeAttribute("data-heald-selected");
    selection = elements;
    for (const element of selection) element.setAttribute("data-heald-selected", "");
    tools.update();
  };
  const sourceOf = (element) => {
    const copy = element.cloneNode(true);
    for (const part of [copy, ...copy.querySelectorAll("[data-heald-mark], [data-heald-selected]")]) {
      part.removeAttribute("data-heald-mark");
      part.removeAttribute("data-heald-selected");
    }
    return copy.outerHTML;
  };
  const pathOf = (element) => {
    const parts = [];
    for (let here = element; here && here.nodeType === 1 && here !== document.documentElement; here = here.parentElement) {
      const alike = here.parentElement ? [...here.parentElement.children].filter((sibling) => sibling.tagName === here.tagName) : [here];
      const name = here.tagName.toLowerCase();
      parts.unshift(alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(here) + 1})` : name);
    }
    return parts.join(" > ");
  };
  // The page moves below a resting pointer when an edit is shown: only a pointer that moves marks an element.
  let rest = null;
  addEventListener("mouseover", (event) => {
    if (!choosing || (event.screenX === rest?.x && event.screenY === rest.y)) return;
    rest = null;
    mark(tools.owns(event.target) || event.target === document.documentElement ? null : event.target);
  }, true);
  addEventListener("mouseout", (event) => choosing && event.relatedTarget === null && mark(null), true);
  // Arrow keys walk through the elements: up to the parent, down to the first child, aside to the siblings.
  const beside = (element, step) => {
    const all = [...(element.parentElement?.children ?? [])].filter((sibling) => !/^(SCRIPT|STYLE|LINK|META|TEMPLATE)$/.test(sibling.tagName));
    return all[all.indexOf(element) + step];
  };
  const visible = (element) => [...element.children].find((sibling) => !/^(SCRIPT|STYLE|LINK|META|TEMPLATE)$/.test(sibling.tagName));
  const walk = (key, from) => {
    if (!from) return visible(document.body) ?? document.body;
    if (key === "ArrowUp") return from === document.body ? from : from.parentElement;
    if (key === "ArrowDown") return visible(from) ?? from;
    return beside(from, key === "ArrowLeft" ? -1 : 1) ?? from;
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (event.target?.isContentEditable && choosing) return;
      say("escape", {});
      return;
    }
    if (!choosing || event.target?.isContentEditable) return;
    if (/^Arrow/.test(event.key)) {
      mark(walk(event.key, marked));
      marked?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && marked) choose(marked, event.shiftKey, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
  addEventListener("click", (event) => {
    if (!choosing) return;
    event.preventDefault();
    event.stopPropagation();
    rest = { x: event.screenX, y: event.screenY };
    if (!tools.isBusy() && event.target instanceof Element && event.target !== document.documentElement) choose(event.target, event.shiftKey);
  }, true);
  // Links lead to the other pages of the project, also those from its root. Other sites cannot be shown in a preview.
  addEventListener("click", (event) => {
    const link = event.defaultPrevented || choosing ? null : event.target?.closest?.("a[href]");
    const reference = link?.getAttribute("href") ?? "";
    if (link === null || reference.startsWith("#") || /^(javascript|mailto|tel|data|blob):/i.test(reference)) return;
    event.preventDefault();
    const target = new URL(reference.startsWith("/") && !reference.startsWith("//") && !reference.startsWith(base) ? base + reference.slice(1) : reference, location.href);
    if (target.host !== location.host || !target.pathname.startsWith(base)) say("outside", { address: target.href.slice(0, 500) });
    else location.assign(target.href);
  });
  const factsOf = (element, members) => {
    const style = getComputedStyle(element);
    const look = {
      color: style.color, background: style.backgroundColor, size: style.fontSize, padding: style.padding,
      margin: style.margin, family: style.fontFamily, weight: style.fontWeight,
    };
    const text = element.childElementCount === 0 && !/^(IMG|INPUT|TEXTAREA|SELECT|VIDEO|CANVAS)$/.test(element.tagName) ? element.textContent : null;
    const source = element.tagName === "IMG" ? element.getAttribute("src") : null;
    return { path: pathOf(element), mark: marksOf(element), copies: copiesOf(element).length, text, look, source, rules: tools.rulesOf(element, members) };
  };
  const choose = (element, more = false, keyed = false) => {
    showEdit(null);
    mark(null);
    const others = more ? selection.filter((member) => member !== element) : [];
    if (more && selection.includes(element) && others.length > 0) select(others);
    else select([...others, element]);
    reportSelection(keyed);
  };
  const reportSelection = (keyed = false) => {
    const element = selection.at(-1);
    const html = sourceOf(element).slice(0, 8000);
    const alike = [...document.querySelectorAll(element.tagName)].filter((other) => other.className === element.className && other.textContent === element.textContent);
    const members = new Set(selection.flatMap(copiesOf));
    const others = selection.slice(0, -1).map((other) => factsOf(other, members));
    say("selected", { html, index: alike.indexOf(element) + 1, count: alike.length, ...factsOf(element, members), others, keyed, tokens: tools.tokens() });
  };
  // All elements that the same place in the source makes, such as the items of a list.
  const copiesOf = (element) => {
    const mark = element.getAttribute("data-heald-source");
    return mark === null ? [element] : [...document.querySelectorAll(`[data-heald-source="${CSS.escape(mark)}"]`)];
  };
  const elementAt = (path) => {
    try {
      return document.querySelector(path);
    } catch {
      return null;
    }
  };

  // The selection outlives a new version of the page: a script may need a while to make the element again.
  let finding = 0;
  const find = (paths, tries) => {
    clearTimeout(finding);
    const elements = paths.map(elementAt);
    if (paths.length === 0) select([]);
    else if (elements.every((element) => element !== null)) {
      if (elements.length === selection.length && elements.every((element, at) => element === selection[at])) return;
      showEdit(null);
      mark(null);
      select(elements);
      reportSelection();
      elements.at(-1).scrollIntoView({ block: "nearest" });
    } else if (tries > 0) finding = setTimeout(() => find(paths, tries - 1), 100);
    else if (elements.at(-1) !== null) find([paths.at(-1)], 0);
    else say("lost", {});
  };
  addEventListener("resize", () => selection.at(-1)?.scrollIntoView({ block: "nearest" }));

  // A change by hand is shown before it is applied, and taken back where it is not.
  let before = [];
  const showEdit = (edit) => {
    for (const { element, style, text, source } of before) {
      setAttribute.call(element, "style", style ?? ""); // Chromium keeps an empty attribute of a style that a script set
      if (style === null) element.removeAttribute("style");
      if (text !== null && element.textContent !== text) element.textContent = text;
      if (source !== null) element.setAttribute("src", source);
    }
    before = [];
    if (edit === null) return;
    const first = elementAt(edit.path);
    const chosen = [edit.path, ...(edit.others ?? [])].map(elementAt).filter((element) => element !== null);
    for (const element of new Set(chosen.flatMap(copiesOf))) {
      const isFirst = element === first;
      const text = isFirst && typeof edit.text === "string" && element.childElementCount === 0 ? element.textContent : null;
      const source = isFirst && typeof edit.source === "string" ? element.getAttribute("src") : null;
      before.push({ element, style: element.getAttribute("style"), text, source });
      for (const [name, value] of Object.entries(edit.style ?? {})) element.style.setProperty(name, value);
      if (text !== null) element.textContent = edit.text;
      if (source !== null) element.setAttribute("src", edit.source);
    }
    tools.update();
  };
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data) return;
    switch (event.data.heald) {
      case "select":
        choosing = event.data.on === true;
        hasTools = event.data.plain !== true;
        if (!choosing) mark(null);
        tools.update();
        return;
      case "mark":
        find((Array.isArray(event.data.paths) ? event.data.paths : []).map(String), 20);
        return;
      case "edit":
        showEdit(event.data.edit ?? null);
        return;
      default:
        tools.onMessage(event.data);
    }
  });
  const tools = window.healdTools({ say, pathOf, marksOf, elementAt, choose, mark, isChoosing: () => choosing && hasTools, selection: () => selection });
  delete window.healdTools;
  // Keys that the page does not use itself reach the page around the preview.
  addEventListener("keydown", (event) => {
    const at = event.composedPath()[0];
    if (event.defaultPrevented || !event.isTrusted || at?.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at?.tagName ?? "")) return;
    const { key, code, altKey, ctrlKey, metaKey, shiftKey } = event;
    const isCommand = (ctrlKey || metaKey) && !altKey && key.toLowerCase() === "k";
    if (!isCommand && (ctrlKey || metaKey || key.length !== 1 || key === " ")) return;
    if (isCommand) event.preventDefault();
    say("key", { key, code, altKey, ctrlKey, metaKey, shiftKey });
  });
})();
