// Lists the lines, boxes, pictures and fields of a document with their style, and whether each is in a link or a heading.
() => {
  const isVisible = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const place = (r) => [r.left + scrollX, r.top + scrollY, r.width, r.height].map((v) => Math.round(v * 10) / 10);
  const channels = (colour) => (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const role = (e) => ({
    link: Boolean(e.closest("a")),
    heading: Boolean(e.closest("h1, h2, h3, h4, h5, h6, [role=heading]")),
    button: Boolean(e.closest("button, [role=button], input, select, textarea, summary")),
  });
  const isUnderlined = (e) => {
    for (let n = e; n && n !== document.body; n = n.parentElement) {
      const style = getComputedStyle(n);
      if (style.textDecorationLine.includes("underline")) return true;
      if (style.display.includes("inline-block")) return false;
    }
    return false;
  };
  const content = (e, style) => {
    const typed = e.type === "password" ? "•".repeat(e.value.length) : e.value;
    const text = e.tagName === "SELECT" ? e.selectedOptions[0]?.label || "" : typed || e.placeholder || "";
    const isPrompt = e.tagName !== "SELECT" && !e.value;
    return {
      type: e.type,
      text: text.trim(),
      colour: channels((isPrompt ? getComputedStyle(e, "::placeholder") : style).color),
      size: parseFloat(style.fontSize),
      weight: Number(style.fontWeight),
      family: style.fontFamily,
      align: style.textAlign,
      left: parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft) + (parseFloat(style.textIndent) || 0),
      top: parseFloat(style.borderTopWidth) + parseFloat(style.paddingTop),
      arrow: e.tagName === "SELECT" && !e.multiple && style.appearance !== "none",
    };
  };
  const root = document.body || document.documentElement;

  const lines = [];
  const range = document.createRange();
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode() && lines.length < 4000) {
    const node = walk.currentNode;
    const e = node.parentElement;
    if (!node.data.trim() || /^(SCRIPT|STYLE|NOSCRIPT|TITLE|OPTION|TEXTAREA)$/.test(e.tagName)) continue;
    if (!isVisible(e) || e.closest("svg")) continue;
    const style = getComputedStyle(e);
    const look = {
      size: parseFloat(style.fontSize),
      weight: Number(style.fontWeight),
      italic: style.fontStyle !== "normal",
      colour: channels(style.color),
      underline: isUnderlined(e),
      family: style.fontFamily,
      spacing: parseFloat(style.letterSpacing) || 0,
      ...role(e),
    };
    let last = null;
    for (const match of node.data.matchAll(/\S+/g)) {
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const rect = range.getClientRects()[0];
      if (!rect || rect.width < 1 || rect.height < 4) continue;
      const word = style.textTransform === "uppercase" ? match[0].toUpperCase() : match[0];
      const box = place(rect);
      if (last && Math.abs(last.box[1] - box[1]) < 2 && box[0] >= last.box[0]) {
        last.box[2] = box[0] + box[2] - last.box[0];
        last.text += ` ${word}`;
      } else {
        last = { text: word, box, ...look };
        lines.push(last);
      }
    }
  }

  const boxes = [];
  const pictures = [];
  const fields = [];
  for (const e of root.querySelectorAll("*")) {
    const rect = e.getBoundingClientRect();
    if (!isVisible(e) || rect.width < 1 || rect.height < 1 || e.parentElement.closest("svg")) continue;
    const box = place(rect);
    if (/^(IMG|svg|CANVAS|VIDEO|IFRAME)$/.test(e.tagName)) {
      pictures.push({ box, ground: false, ...role(e) });
      continue;
    }
    const style = getComputedStyle(e);
    const fill = channels(style.backgroundColor);
    const widths = ["Top", "Right", "Bottom", "Left"].map((side) => parseFloat(style[`border${side}Width`]) || 0);
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName)) fields.push({ box, ...content(e, style) });
    if (style.backgroundImage.includes("url(")) pictures.push({ box, ground: true, ...role(e) });
    const isFilled = fill.length < 4 || fill[3] > 0.05;
    if (isFilled || widths.some((width) => width > 0)) {
      const radius = parseFloat(style.borderTopLeftRadius) || 0;
      boxes.push({ box, fill: isFilled ? fill : null, radius, widths, edge: channels(style.borderTopColor) });
    }
  }
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  const isLoaded = (sheet) => {
    try {
      return sheet.cssRules.length > 0;
    } catch {
      return false; // of another origin
    }
  };
  const links = [...document.querySelectorAll("link[rel=stylesheet]")];
  const sheets = { sheets: links.length, loaded: links.filter((link) => link.sheet && isLoaded(link.sheet)).length };
  return { width, height, ground: channels(getComputedStyle(root).backgroundColor), lines, boxes, pictures, fields, ...sheets };
}
