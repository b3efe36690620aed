// Observes the locked parts of a page: where they are, what they say, what is drawn over them. Runs in a world of its
// own, so that nothing the page redefined is used. `locks` are {kind, path, text, html}; `styled` asks for the styles
// too, where no picture is taken.
(locks, styled) => {
  const most = 16;
  const heald = (globalThis.heald = { candidates: [] });
  const collapse = (text) => text.replace(/[ \t\n\r\f]+/g, " ").trim();
  const pathOf = (element) => {
    const parts = [];
    for (let here = element; here && here !== document.documentElement; here = here.parentElement) {
      const alike = here.parentElement ? [...here.parentElement.children].filter((other) => other.tagName === here.tagName) : [here];
      const name = here.tagName.toLowerCase();
      parts.unshift(alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(here) + 1})` : name);
    }
    return parts.join(" > ");
  };
  const at = (path) => {
    try {
      return document.querySelector(path);
    } catch {
      return null;
    }
  };
  const boxOf = (element, kind) => {
    let box = element.getBoundingClientRect();
    if (kind === "text") {
      const range = document.createRange();
      range.selectNodeContents(element);
      box = range.getBoundingClientRect();
    }
    return { left: box.left + scrollX, top: box.top + scrollY, width: box.width, height: box.height };
  };
  heald.boxOf = boxOf;
  const WRITTEN = ["color", "webkitTextFillColor", "fontFamily", "fontSize", "fontWeight", "fontStyle", "fontStretch", "textDecorationLine", "textTransform", "letterSpacing", "wordSpacing", "textShadow", "webkitTextStrokeWidth", "backgroundColor", "backgroundImage", "opacity", "filter", "transform", "mixBlendMode", "visibility", "webkitTextSecurity", "verticalAlign", "writingMode", "direction", "unicodeBidi", "clipPath", "maskImage"];
  // How the words in an element are drawn, as a set: each combination once.
  const looks = (element) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const seen = new Set();
    while (walker.nextNode()) {
      if (!walker.currentNode.data.trim()) continue;
      const chain = [];
      for (let here = walker.currentNode.parentElement; here && here !== element.parentElement; here = here.parentElement) {
        const style = getComputedStyle(here);
        chain.push(here === walker.currentNode.parentElement ? WRITTEN.map((name) => style[name]).join("|") : [style.opacity, style.filter, style.transform, style.backgroundColor].join("|"));
        for (const part of ["::before", "::after"]) if (getComputedStyle(here, part).content !== "none") chain.push(getComputedStyle(here, part).content);
      }
      seen.add(chain.join(" / "));
    }
    return [...seen];
  };
  // What is drawn outside of the box: shadows, outlines, generated content.
  const outside = (element) =>
    [element, ...element.querySelectorAll("*")].slice(0, 300).map((part) => {
      const style = getComputedStyle(part);
      const added = ["::before", "::after"].map((name) => getComputedStyle(part, name).content);
      return [style.boxShadow, style.outlineStyle === "none" ? "" : style.outline, style.filter, style.textShadow, ...added].join("|");
    });
  // Whether a click in the middle or near the corners reaches the element.
  const hits = (element) => {
    const box = element.getBoundingClientRect();
    const points = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]];
    return points
      .map(([x, y]) => [box.left + box.width * x, box.top + box.height * y])
      .map(([x, y]) => {
        if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return "-";
        const top = document.elementFromPoint(x, y);
        return top !== null && element.contains(top) ? "1" : "0";
      })
      .join("");
  };
  // What the elements around it do with it, and how it is moved away from its place in the flow.
  const flags = (element) => {
    const around = ["[inert]", "[aria-hidden=true]", "[contenteditable]", "[hidden]", "a[href]", "label", "button"].filter((selector) => element.parentElement?.closest(selector));
    for (let here = element; here; here = here.parentElement) {
      const style = getComputedStyle(here);
      around.push(...[style.transform, style.translate, style.rotate, style.scale].filter((value) => value !== "none"));
      const isOut = /absolute|fixed|sticky/.test(style.position);
      const isShifted = style.position === "relative" && [style.left, style.top].some((value) => !/^(auto|0px)$/.test(value));
      if (isOut || isShifted) around.push(style.position);
    }
    return around.join(" ");
  };
  const AROUND = ["opacity", "filter", "transform", "visibility", "mixBlendMode", "clipPath", "maskImage", "zoom", "perspective"];
  // How an element and everything in it is drawn, and what the elements around it do to it.
  const styles = (element, kind) => {
    const parts = kind === "style" ? [element] : [element, ...element.querySelectorAll("*")].slice(0, 300);
    const drawn = parts.map((part) => [...WRITTEN, "borderColor", "borderWidth", "borderRadius", "display"].map((name) => getComputedStyle(part)[name]).join("|"));
    for (let here = element.parentElement; here; here = here.parentElement) drawn.push(AROUND.map((name) => getComputedStyle(here)[name]).join("|"));
    return drawn;
  };
  const describe = (element, kind) => ({
    path: pathOf(element),
    html: element.outerHTML,
    text: collapse(element.textContent),
    inner: element.innerHTML,
    ...boxOf(element, kind),
    is_visible: element.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true }),
    hits: kind === "element" ? hits(element) : "",
    flags: flags(element),
    looks: kind === "style" ? [...looks(element), outside(element)[0]] : outside(element),
    styles: styled ? styles(element, kind) : [],
  });
  const everything = document.body ? [document.body, ...document.body.querySelectorAll("*")] : [];
  const told = locks.map(({ kind, path, text, html }) => {
    const first = path === "" ? null : at(path);
    let elements = [];
    if (kind === "element") {
      const tag = (path.split(">").pop() ?? "").trim().replace(/:.*/, "");
      const source = html || first?.outerHTML || "";
      elements = everything.filter((other) => other.localName === tag && other.outerHTML === source);
    } else if (kind === "text") {
      const words = collapse(text);
      const texts = new Map(everything.filter((other) => !/^(script|style|template|noscript|title)$/.test(other.localName)).map((other) => [other, collapse(other.textContent)]));
      const innermost = (says) => [...texts.keys()].filter((other) => says(texts.get(other)) && ![...other.children].some((child) => says(texts.get(child) ?? "")));
      elements = innermost((said) => said === words);
      if (!elements.length) elements = innermost((said) => said.includes(words));
    } else if (first !== null) {
      elements = everything.filter((other) => other.localName === first.localName && other.className === first.className).slice(0, 4);
    }
    const ranked = [...new Set([...(first !== null && (kind !== "text" || !elements.length || elements.includes(first)) ? [first] : []), ...elements])].slice(0, most);
    heald.candidates.push(ranked);
    return ranked.map((element) => describe(element, kind));
  });
  const conditions = new Set();
  const readRules = (rules) => {
    for (const rule of rules) {
      if (rule.media?.mediaText) conditions.add(rule.media.mediaText);
      if (rule instanceof CSSContainerRule) conditions.add(`container ${rule.conditionText}`);
      if (rule.styleSheet) readSheet(rule.styleSheet);
      if (rule.cssRules) readRules(rule.cssRules);
    }
  };
  const readSheet = (sheet) => {
    if (sheet.media?.mediaText) conditions.add(sheet.media.mediaText);
    try {
      readRules(sheet.cssRules);
    } catch {
      conditions.add("a sheet that cannot be read");
    }
  };
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) readSheet(sheet);
  for (const element of document.querySelectorAll("[media]")) conditions.add(element.getAttribute("media"));
  const lines = [];
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && lines.length < 600) {
    const words = collapse(walker.currentNode.data);
    const parent = walker.currentNode.parentElement;
    if (words.length < 3 || !parent?.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    if (box.height > 0) lines.push([words, box.top + scrollY, box.bottom + scrollY, box.left, box.right]);
  }
  const source = (element) => element.src || element.currentSrc || "";
  return {
    locks: told,
    conditions: [...conditions].sort(),
    refreshes: [...document.querySelectorAll("meta[http-equiv=refresh i]")].map((meta) => meta.content),
    pictures: [...document.querySelectorAll("img, video, audio, source")].map(source).filter(Boolean),
    lines,
    height: document.documentElement.scrollHeight,
    width: Math.max(document.documentElement.scrollWidth, innerWidth),
  };
}
