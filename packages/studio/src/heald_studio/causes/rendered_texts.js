// Reads the text nodes that a person can see, in the order of the document, with the place of each word.
// Runs in a world of its own. `selector` names the element whose box and texts are asked for; empty for none.
(selector, most) => {
  const clips = new Map();
  const everything = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  const clipOf = (element) => {
    if (!element || element === document.body || element === document.documentElement) return everything;
    if (clips.has(element)) return clips.get(element);
    const style = getComputedStyle(element);
    let outer = style.position === "fixed" ? null : element.parentElement;
    if (style.position === "absolute") {
      while (outer && getComputedStyle(outer).position === "static" && getComputedStyle(outer).transform === "none") outer = outer.parentElement;
    }
    let clip = clipOf(outer);
    if (style.overflowX !== "visible" || style.overflowY !== "visible" || style.clip !== "auto") {
      const box = element.getBoundingClientRect();
      clip = {
        left: Math.max(clip.left, box.left),
        top: Math.max(clip.top, box.top),
        right: Math.min(clip.right, box.right),
        bottom: Math.min(clip.bottom, box.bottom),
      };
    }
    clips.set(element, clip);
    return clip;
  };
  const written = (text, style) => {
    if (style.textTransform === "uppercase") return text.toUpperCase();
    return style.textTransform === "lowercase" ? text.toLowerCase() : text;
  };
  const placed = (text, box, clip) => {
    const left = Math.max(box.left, clip.left);
    const top = Math.max(box.top, clip.top);
    const right = Math.min(box.right, clip.right);
    const bottom = Math.min(box.bottom, clip.bottom);
    if (right - left < 1 || bottom - top < 0.4 * box.height || box.height < 3) return null;
    return [text, left + scrollX, top + scrollY, right - left, bottom - top];
  };
  const range = document.createRange();
  const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const wordsOf = (node, style, clip) => {
    const words = [];
    for (const match of node.data.matchAll(/\S+/g)) {
      const measure = (from, to, isWhole) => {
        range.setStart(node, from);
        range.setEnd(node, to);
        const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
        if (boxes.length > 1 && isWhole) {
          // A word that is broken over lines, or a text without spaces: each letter has its place.
          for (const letter of letters.segment(match[0])) measure(from + letter.index, from + letter.index + letter.segment.length, false);
        } else if (boxes.length > 0) {
          const word = placed(written(node.data.slice(from, to), style), boxes[0], clip);
          if (word !== null) words.push(word);
        }
      };
      measure(match.index, match.index + match[0].length, true);
    }
    return words;
  };
  const pathOf = (element) => {
    const parts = [];
    for (let here = element; here && here !== document.documentElement; here = here.parentElement) {
      const alike = here.parentElement ? [...here.parentElement.children].filter((other) => other.tagName === here.tagName) : [here];
      const name = here.tagName.toLowerCase();
      parts.unshift(alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(here) + 1})` : name);
    }
    return parts.join(" > ");
  };
  let selected = null;
  try {
    selected = selector === "" ? null : document.querySelector(selector);
  } catch {
    selected = null;
  }
  const texts = [];
  const inside = [];
  const walker = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT);
  let count = 0;
  for (let node = walker.nextNode(); node && count < most; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element || /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|OPTION|TEXTAREA|TITLE)$/i.test(element.tagName)) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const words = wordsOf(node, getComputedStyle(element), clipOf(element));
    if (words.length === 0) continue;
    if (selected !== null && selected.contains(element)) inside.push(texts.length);
    texts.push({ path: pathOf(element), words });
    count += words.length;
  }
  const page = document.scrollingElement ?? document.documentElement;
  const isPainted = (element) => {
    if (/^(IMG|SVG|VIDEO|CANVAS|PICTURE|INPUT|TEXTAREA|SELECT|PROGRESS|METER|IFRAME|HR)$/i.test(element.tagName)) return true;
    const style = getComputedStyle(element);
    const hasBorder = ["Top", "Right", "Bottom", "Left"].some((side) => style[`border${side}Style`] !== "none" && parseFloat(style[`border${side}Width`]) > 0);
    return hasBorder || style.backgroundImage !== "none" || style.boxShadow !== "none" || !/^(rgba\(.*, 0\)|transparent)$/.test(style.backgroundColor);
  };
  const boxOf = (element) => {
    const box = element.getBoundingClientRect();
    return [box.left + scrollX, box.top + scrollY, box.width, box.height];
  };
  // What can be seen of the element: its own box, or the outermost boxes inside that are painted.
  const painted = [];
  const collect = (element) => {
    if (painted.length >= 60) return;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return;
    const box = boxOf(element);
    if (isPainted(element) && box[2] >= 1 && box[3] >= 1) painted.push(box);
    else for (const child of element.children) collect(child);
  };
  if (selected !== null) collect(selected);
  const mark = selected?.getAttribute("data-heald-source") ?? "";
  const element = selected && { path: pathOf(selected), tag: selected.tagName.toLowerCase(), box: boxOf(selected), painted, texts: inside, mark };
  return { width: innerWidth, height: Math.max(page.scrollHeight, innerHeight), texts, element };
}
