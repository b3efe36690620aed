// What a page holds, for whoever wants to know what could be seen: text with its style, pictures, controls.
() => {
  const box = (r) => [r.left, r.top, r.width, r.height].map((v) => Math.round(v * 10) / 10);
  const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const unread = ["SCRIPT", "STYLE", "OPTION", "TITLE"];
  const blocks = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    const text = node.data.replace(/\s+/g, " ").trim();
    if (!text || unread.includes(parent.tagName) || !shown(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()].filter((r) => r.width > 1 && r.height > 1).map(box);
    if (!lines.length) continue;
    const style = getComputedStyle(parent);
    blocks.push({
      text,
      tag: parent.tagName.toLowerCase(),
      box: box(range.getBoundingClientRect()),
      lines,
      colour: style.color,
      size: parseFloat(style.fontSize),
      weight: Number(style.fontWeight),
      slant: style.fontStyle,
      family: style.fontFamily,
      align: style.textAlign,
      transform: style.textTransform,
      direction: style.direction,
    });
  }
  const found = (names) =>
    [...document.querySelectorAll(names)].filter(shown).map((e) => ({
      tag: e.tagName.toLowerCase(),
      type: e.type || "",
      box: box(e.getBoundingClientRect()),
      text: e.value || e.placeholder || e.alt || "",
    }));
  return { blocks, pictures: found("img, svg, canvas"), controls: found("input, select, textarea, button") };
}
