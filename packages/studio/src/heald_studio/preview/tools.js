// The tools of visual editing inside a preview: handles for space, moving by dragging, text in place, layers and tokens.
// They report what a person does; the page around the preview decides what becomes of it.
window.healdTools = ({ say, pathOf, marksOf, elementAt, choose, mark, isChoosing, selection }) => {
  const SIDES = ["top", "right", "bottom", "left"];
  const HIDDEN = /^(SCRIPT|STYLE|LINK|META|TEMPLATE|NOSCRIPT)$/;
  const STEP = 4; // pixels
  const FAR = 6; // pixels that a pointer moves before it drags

  // The handles stand outside of the body, in a tree of their own: the page and its styles do not see them.
  let host = null;
  let layer = null;
  const sheet = `:host{all:initial;position:fixed;inset:0;z-index:2147483647;pointer-events:none}
    .handle{position:absolute;box-sizing:border-box;border:1px solid #fff;border-radius:4px;pointer-events:auto;touch-action:none}
    .handle.top,.handle.bottom{width:28px;height:8px;margin:-4px -14px;cursor:ns-resize}
    .handle.left,.handle.right{width:8px;height:28px;margin:-14px -4px;cursor:ew-resize}
    .padding{background:#2f9e6a}.margin{background:#d9822b}
    .value{position:absolute;padding:2px 6px;border-radius:4px;background:#1d2433;color:#fff;font:12px/1.4 system-ui,sans-serif;white-space:nowrap}
    .line{position:absolute;background:#3b6fe0;border-radius:2px}`;
  const open = () => {
    if (host !== null) return;
    host = document.createElement("heald-tools");
    host.setAttribute("aria-hidden", "true");
    const root = host.attachShadow({ mode: "closed" });
    const style = new CSSStyleSheet();
    style.replaceSync(sheet);
    root.adoptedStyleSheets = [style];
    layer = document.createElement("div");
    root.append(layer);
    document.documentElement.append(host);
    size.observe(document.documentElement);
  };
  const close = () => {
    host?.remove();
    host = layer = null;
  };
  const box = (name, values) => {
    const element = document.createElement("div");
    element.className = name;
    for (const [key, value] of Object.entries(values)) element.style[key] = `${value}px`;
    layer.append(element);
    return element;
  };

  let drag = null; // a handle or an element that is being moved
  let typing = null; // an element whose text is being written
  const primary = () => selection().at(-1) ?? null;
  const draw = () => {
    const element = primary();
    if (!isChoosing() || element === null || typing !== null || !element.isConnected) {
      close();
      return;
    }
    open();
    if (drag?.handle) {
      place(drag.handle, drag.kind, drag.side, element);
      return;
    }
    layer.replaceChildren();
    if (selection().length > 1 || element === document.body) return;
    for (const kind of ["padding", "margin"]) {
      for (const side of SIDES) {
        const handle = box(`handle ${kind} ${side}`, {});
        handle.dataset.handle = `${kind}-${side}`;
        place(handle, kind, side, element);
        handle.addEventListener("pointerdown", (event) => grip(event, handle, kind, side));
      }
    }
  };
  const place = (handle, kind, side, element) => {
    const rect = element.getBoundingClientRect();
    const space = parseFloat(getComputedStyle(element)[`${kind}-${side}`]) || 0;
    const shift = kind === "padding" ? Math.max(space / 2, 7) : -Math.max(space / 2, 9);
    const at = { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
    // The handles of a small element stand beside each other.
    if (side === "top" || side === "bottom") at.x += rect.height < 40 && kind === "padding" ? (side === "top" ? -18 : 18) : 0;
    if (side === "top") at.y = rect.top + shift;
    if (side === "bottom") at.y = rect.bottom - shift;
    if (side === "left") at.x = rect.left + shift;
    if (side === "right") at.x = rect.right - shift;
    // Outside of the window nobody could reach it.
    handle.style.left = `${Math.min(Math.max(at.x, 6), innerWidth - 6)}px`;
    handle.style.top = `${Math.min(Math.max(at.y, 6), innerHeight - 6)}px`;
  };
  let frame = 0;
  const update = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  };
  const size = new ResizeObserver(update);
  addEventListener("scroll", update, true);
  addEventListener("resize", update);

  // A handle: the space grows away from the content. Shift moves the opposite side too, Alt moves by single pixels.
  const grip = (event, handle, kind, side) => {
    event.preventDefault();
    event.stopPropagation();
    const start = parseFloat(getComputedStyle(primary())[`${kind}-${side}`]) || 0;
    drag = { handle, kind, side, x: event.clientX, y: event.clientY, start };
    handle.setPointerCapture(event.pointerId);
    const label = box("value", {});
    const move = (moved) => {
      const along = side === "top" || side === "bottom" ? moved.clientY - drag.y : moved.clientX - drag.x;
      const inwards = side === "top" || side === "left" ? along : -along;
      const exact = Math.max(0, start + (kind === "padding" ? inwards : -inwards));
      const value = `${moved.altKey ? Math.round(exact) : Math.round(exact / STEP) * STEP}px`;
      const opposite = SIDES[(SIDES.indexOf(side) + 2) % 4];
      const sides = moved.shiftKey ? [side, opposite] : [side];
      say("handled", { style: Object.fromEntries(sides.map((name) => [`${kind}-${name}`, value])) });
      label.textContent = `${kind} ${sides.join(" and ")}: ${value}`;
      label.style.left = `${Math.min(moved.clientX + 12, innerWidth - 160)}px`;
      label.style.top = `${moved.clientY + 12}px`;
    };
    const end = () => {
      handle.removeEventListener("pointermove", move);
      drag = null;
      isDropped = true;
      update();
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", end, { once: true });
  };
  // The click that ends a drag selects nothing.
  let isDropped = false;
  addEventListener("pointerdown", () => (isDropped = false), true);

  // Dragging a selected element moves all selected ones before or behind the one below the pointer.
  let pressed = null;
  addEventListener("pointerdown", (event) => {
    if (!isChoosing() || typing !== null || event.button !== 0 || !(event.target instanceof Node)) return;
    const element = outermost().find((candidate) => candidate.contains(event.target));
    if (element !== undefined) pressed = { element, x: event.clientX, y: event.clientY };
  }, true);
  // The selected elements in the order of the page, without those inside of another one.
  const outermost = () => {
    const elements = selection().filter((element) => element.isConnected && element !== document.body);
    const isInside = (element) => elements.some((other) => other !== element && other.contains(element));
    const isBefore = (element, other) => element.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    return elements.filter((element) => !isInside(element)).sort((element, other) => (isBefore(element, other) ? -1 : 1));
  };
  addEventListener("pointermove", (event) => {
    if (pressed === null) return;
    if (drag === null && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < FAR) return;
    drag ??= { element: pressed.element, target: null };
    drag.target = dropAt(pressed.element, event.clientX, event.clientY);
    drawLine(drag.target);
    event.preventDefault();
    event.stopPropagation();
  }, true);
  const drop = (event) => {
    const moved = drag?.element ? drag : null;
    pressed = null;
    if (moved === null) return;
    drag = null;
    isDropped = true;
    if (event.type === "pointerup" && moved.target !== null) move(outermost(), moved.target.element, moved.target.place);
    update();
  };
  addEventListener("pointerup", drop, true);
  addEventListener("pointercancel", drop, true);
  addEventListener("dragstart", (event) => isChoosing() && event.preventDefault(), true);
  addEventListener("selectstart", (event) => isChoosing() && typing === null && event.preventDefault(), true);

  const isRow = (parent) => {
    const style = getComputedStyle(parent);
    if (/flex/.test(style.display)) return !style.flexDirection.startsWith("column");
    const [first, second] = [...parent.children].filter((child) => !HIDDEN.test(child.tagName));
    if (!first || !second) return false;
    return Math.abs(first.getBoundingClientRect().top - second.getBoundingClientRect().top) < 4;
  };
  // The sibling below the pointer; in another parent the element itself.
  const dropAt = (element, x, y) => {
    const below = document.elementFromPoint(x, y);
    if (!(below instanceof Element) || outermost().some((dragged) => dragged.contains(below) || below.contains(dragged))) {
      return below === element.parentElement ? nearest(element, x, y) : null;
    }
    let target = below;
    for (let here = below; here; here = here.parentElement) if (here.parentElement === element.parentElement) target = here;
    return { element: target, place: sideOf(target, x, y) };
  };
  const nearest = (element, x, y) => {
    const dragged = outermost();
    const siblings = [...element.parentElement.children].filter((sibling) => !dragged.includes(sibling) && !HIDDEN.test(sibling.tagName));
    const distance = (sibling) => {
      const rect = sibling.getBoundingClientRect();
      return Math.hypot(rect.left + rect.width / 2 - x, rect.top + rect.height / 2 - y);
    };
    const target = siblings.sort((one, other) => distance(one) - distance(other))[0];
    return target === undefined ? null : { element: target, place: sideOf(target, x, y) };
  };
  const sideOf = (target, x, y) => {
    const rect = target.getBoundingClientRect();
    const isBefore = isRow(target.parentElement) ? x < rect.left + rect.width / 2 : y < rect.top + rect.height / 2;
    return isBefore ? "before" : "after";
  };
  const drawLine = (goal) => {
    if (layer === null) return;
    layer.replaceChildren();
    if (goal === null) return;
    const rect = goal.element.getBoundingClientRect();
    if (isRow(goal.element.parentElement)) box("line", { left: (goal.place === "before" ? rect.left : rect.right) - 2, top: rect.top, width: 4, height: rect.height });
    else box("line", { left: rect.left, top: (goal.place === "before" ? rect.top : rect.bottom) - 2, width: rect.width, height: 4 });
  };

  // The elements are moved at once, and put back where the source cannot be changed so.
  let undo = null;
  const move = (elements, target, side) => {
    const reference = (element) => ({ path: pathOf(element), ...marksOf(element) });
    const references = elements.map(reference);
    const goal = reference(target);
    const places = elements.map((element) => ({ element, parent: element.parentNode, next: element.nextSibling, follower: element.nextElementSibling }));
    const putBack = () => {
      for (const { element, parent, next } of places.toReversed()) parent.insertBefore(element, next);
    };
    if (side === "before") target.before(...elements);
    else target.after(...elements);
    if (places.every(({ element, parent, follower }) => element.parentNode === parent && element.nextElementSibling === follower)) {
      putBack();
      return;
    }
    undo = putBack;
    say("moved", { moves: elements.map((element, at) => ({ element: references[at], path: pathOf(element) })), target: goal, place: side });
  };
  // All selected elements move together: before the sibling that precedes the first of them, or behind the one that follows the last.
  const step = (by) => {
    const elements = outermost();
    const edge = elements.at(by < 0 ? 0 : -1);
    const siblings = [...(edge?.parentElement?.children ?? [])].filter((sibling) => !HIDDEN.test(sibling.tagName));
    const target = siblings[siblings.indexOf(edge) + by];
    if (target !== undefined) move(elements, target, by < 0 ? "before" : "after");
  };

  // A double click writes into the text itself. Enter or a click elsewhere ends it, Escape takes it back.
  addEventListener("dblclick", (event) => {
    const element = event.target;
    if (!isChoosing() || !(element instanceof HTMLElement) || element.childElementCount > 0 || element.textContent.trim() === "") return;
    event.preventDefault();
    event.stopPropagation();
    if (primary() !== element) choose(element);
    const text = element.textContent;
    typing = element;
    close();
    element.contentEditable = "plaintext-only";
    element.focus();
    getSelection()?.selectAllChildren(element);
    const end = (isDone) => {
      if (typing !== element) return;
      typing = null;
      const written = element.textContent;
      element.removeAttribute("contenteditable");
      element.textContent = text;
      if (isDone && written !== text) say("typed", { text: written.replace(/\n/g, " ") });
      update();
    };
    element.addEventListener("blur", () => end(true), { once: true });
    element.addEventListener("keydown", (pressedKey) => {
      if (pressedKey.key !== "Enter" && pressedKey.key !== "Escape") return;
      pressedKey.preventDefault();
      pressedKey.stopPropagation();
      end(pressedKey.key === "Enter");
      element.blur();
    });
  }, true);

  // The tree of elements, as long as somebody looks at it.
  const MOST_LAYERS = 1500;
  const layersOf = () => {
    const layers = [];
    const walk = (element, path, depth) => {
      if (layers.length >= MOST_LAYERS) return;
      const children = [...element.children].filter((child) => !HIDDEN.test(child.tagName));
      const isDrawing = element.tagName.toLowerCase() === "svg";
      const text = children.length === 0 ? element.textContent.trim() : "";
      const label = element.getAttribute("aria-label") || element.getAttribute("alt") || text || (element.id ? `#${element.id}` : "");
      layers.push({ path, name: element.tagName.toLowerCase(), label: label.replace(/\s+/g, " ").slice(0, 60), depth, parent: children.length > 0 && !isDrawing });
      if (isDrawing) return;
      const counts = new Map();
      for (const child of element.children) counts.set(child.tagName, (counts.get(child.tagName) ?? 0) + 1);
      const seen = new Map();
      for (const child of element.children) {
        seen.set(child.tagName, (seen.get(child.tagName) ?? 0) + 1);
        if (HIDDEN.test(child.tagName)) continue;
        const name = child.tagName.toLowerCase();
        walk(child, `${path} > ${counts.get(child.tagName) > 1 ? `${name}:nth-of-type(${seen.get(child.tagName)})` : name}`, depth + 1);
      }
    };
    if (document.body) walk(document.body, "body", 0);
    return layers;
  };
  let watcher = null;
  let timer = 0;
  const sendLayers = () => {
    clearTimeout(timer);
    timer = setTimeout(() => say("layers", { layers: layersOf() }), 100);
  };
  const watch = (on) => {
    watcher?.disconnect();
    watcher = null;
    if (!on) return;
    sendLayers();
    watcher = new MutationObserver(sendLayers);
    watcher.observe(document.documentElement, { childList: true, subtree: true });
  };

  // The tokens of the project: variables of CSS, and the theme of Tailwind. `code` is what is written for `value`.
  const MOST_TOKENS = 200;
  const tokens = () => {
    const list = new Map();
    const add = (kind, name, value, code) => {
      if (list.size < MOST_TOKENS && typeof value === "string" && value.trim() !== "" && value.length < 200) list.set(code, { kind, name, value: value.trim(), code });
    };
    const kindOf = (name, value) => (CSS.supports("color", value) && !/^-?[\d.]/.test(value) ? "color" : /font(?!.*(size|weight))/.test(name) && CSS.supports("font-family", value) ? "font" : null);
    const root = getComputedStyle(document.documentElement);
    const read = (rules) => {
      for (const rule of rules) {
        if (rule instanceof CSSStyleRule && /(^|,)\s*(:root|html|:host)\b/.test(rule.selectorText)) {
          for (const name of rule.style) {
            const value = name.startsWith("--") && !/^--(tw-|default-)/.test(name) ? root.getPropertyValue(name).trim() : "";
            const kind = value === "" ? null : kindOf(name, value);
            if (kind !== null) add(kind, name.slice(2), value, `var(${name})`);
          }
        } else if (rule.cssRules) read(rule.cssRules);
      }
    };
    for (const styles of document.styleSheets) {
      try {
        read(styles.cssRules);
      } catch {
        // a sheet of another origin
      }
    }
    const theme = window.tailwind?.config?.theme ?? {};
    const flatten = (colours, prefix) => {
      for (const [name, value] of Object.entries(colours ?? {})) {
        const key = prefix === "" ? name : `${prefix}.${name}`;
        if (typeof value === "object") flatten(value, key);
        else if (CSS.supports("color", String(value))) add("color", key.replace(/\./g, "-").replace(/-DEFAULT$/, ""), String(value), `theme(colors.${key})`);
      }
    };
    for (const part of [theme, theme.extend ?? {}]) {
      flatten(part.colors, "");
      for (const [name, value] of Object.entries(part.fontFamily ?? {})) add("font", name, Array.isArray(value) ? value.join(", ") : String(value), `theme(fontFamily.${name})`);
    }
    return [...list.values()];
  };

  // The rule that can be edited for each property: it styles the selected elements and no others, and what it sets is
  // what they get. Each is tried with a value that no page has, so rules that are stronger need not be known.
  const PROBES = {
    color: ["color", "rgb(1, 2, 3)"],
    "background-color": ["background-color", "rgb(1, 2, 3)"],
    "font-size": ["font-size", "13.25px"],
    "font-family": ["font-family", "heald-probe"],
    "font-weight": ["font-weight", "357"],
    padding: ["padding-top", "3.25px"],
    margin: ["margin-top", "3.25px"],
  };
  const still = new CSSStyleSheet();
  still.replaceSync("*{transition:none !important}");
  const ownRules = (element, members) => {
    const isOwn = (rule) => {
      if (!(rule instanceof CSSStyleRule) || /[:&]/.test(rule.selectorText) || rule.cssRules.length > 0 || !element.matches(rule.selectorText)) return false;
      return [...document.querySelectorAll(rule.selectorText)].every((styled) => members.has(styled));
    };
    return [...document.styleSheets].flatMap((styles) => {
      try {
        return [...styles.cssRules].filter(isOwn);
      } catch {
        return []; // a sheet of another origin
      }
    });
  };
  const wins = (rule, element, [name, value]) => {
    const written = rule.style.cssText;
    rule.style.setProperty(name, value);
    const isShown = getComputedStyle(element).getPropertyValue(name) === value;
    rule.style.cssText = written;
    return isShown;
  };
  const rulesOf = (element, members) => {
    const rules = element.hasAttribute("data-heald-source") ? [] : ownRules(element, members);
    if (rules.length === 0) return {};
    const sheets = document.adoptedStyleSheets;
    document.adoptedStyleSheets = [...sheets, still];
    const winners = Object.entries(PROBES).map(([kind, probe]) => {
      const strong = rules.filter((rule) => wins(rule, element, probe));
      const isDeclared = (rule) => rule.style.getPropertyValue(kind) !== "" || rule.style.getPropertyValue(probe[0]) !== "";
      return [kind, (strong.findLast(isDeclared) ?? strong.at(-1))?.selectorText];
    });
    document.adoptedStyleSheets = sheets;
    return Object.fromEntries(winners.filter(([, selector]) => selector !== undefined));
  };

  const onMessage = (data) => {
    switch (data.heald) {
      case "layers":
        watch(data.on === true);
        return;
      case "hover":
        mark(typeof data.path === "string" && data.path !== "" ? elementAt(data.path) : null);
        return;
      case "pick": {
        const element = elementAt(String(data.path ?? ""));
        if (element === null) return;
        choose(element, data.more === true);
        element.scrollIntoView({ block: "nearest" });
        return;
      }
      case "step":
        step(data.by === -1 ? -1 : 1);
        return;
      case "unmove":
        undo?.();
        undo = null;
        update();
    }
  };
  return { update, tokens, rulesOf, onMessage, owns: (element) => host !== null && element === host, isBusy: () => typing !== null || drag !== null || isDropped };
};
