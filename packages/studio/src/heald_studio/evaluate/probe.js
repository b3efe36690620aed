// Measures how a page is built. Runs in a world of its own, after the page has settled.
() => {
  const skipped = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "LINK", "META", "BR", "WBR", "OPTION", "SOURCE"]);
  const drawn = (e) => e.namespaceURI === "http://www.w3.org/2000/svg" && e.ownerSVGElement;
  const shown = (e) => e.checkVisibility({ visibilityProperty: true });

  let elements = 0;
  let positioned = 0;
  for (const element of (document.body || document.documentElement).querySelectorAll("*")) {
    if (skipped.has(element.tagName) || drawn(element) || !shown(element)) continue;
    elements += 1;
    const { position } = getComputedStyle(element);
    if (position === "absolute" || position === "fixed") positioned += 1;
  }

  // An element that covers a part of an earlier sibling, by whatever means.
  const covers = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 4 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  let overlaid = 0;
  const uses = new Map();
  for (const parent of [document.body, ...document.body.querySelectorAll("*")]) {
    if (drawn(parent)) continue;
    for (const name of parent.classList) uses.set(name, (uses.get(name) || 0) + 1);
    const children = [...parent.children].filter((e) => !skipped.has(e.tagName) && !drawn(e) && shown(e)).slice(0, 300);
    const rects = children.map((e) => e.getBoundingClientRect());
    overlaid += rects.filter((rect, at) => rects.slice(0, at).some((other) => covers(rect, other))).length;
  }
  const once = [...uses.values()].filter((count) => count === 1).length;

  const named = (ids) =>
    (ids || "")
      .split(/\s+/)
      .filter(Boolean)
      .some((id) => (document.getElementById(id)?.textContent || "").trim());
  const words = (e) =>
    (e.textContent || "").trim() || [...e.querySelectorAll("img[alt], [aria-label], svg title")].some((inner) =>
      (inner.getAttribute("alt") || inner.getAttribute("aria-label") || inner.textContent || "").trim());
  const labelled = (e) => {
    if ((e.getAttribute("aria-label") || "").trim() || named(e.getAttribute("aria-labelledby"))) return true;
    if ((e.getAttribute("title") || "").trim()) return true;
    if ([...(e.labels || [])].some((label) => words(label))) return true;
    if (e.tagName === "BUTTON" || e.getAttribute("role")) return Boolean(words(e));
    if (["submit", "reset", "button"].includes(e.type)) return Boolean(e.value || e.type !== "button");
    if (e.type === "image") return Boolean((e.alt || "").trim());
    return false;
  };
  const kinds = "input:not([type=hidden]), select, textarea, button, [role=button], [role=checkbox], [role=switch], [role=textbox]";
  const controls = [...document.querySelectorAll(kinds)].filter(shown);
  const bare = controls.filter((e) => !labelled(e)).map((e) => {
    const type = e.tagName === "INPUT" ? ` of type ${e.type}` : "";
    return `${e.tagName.toLowerCase()}${type}`.slice(0, 60);
  });

  const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(shown).map((e) => Number(e.tagName[1]));
  return { elements, positioned, overlaid, classes: uses.size, once, controls: controls.length, bare, levels };
}
