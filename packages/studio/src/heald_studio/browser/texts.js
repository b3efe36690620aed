// Reads what a person can read on the page: one entry for each line of text, with its place, colour and style.
// Runs in a world of its own. `limit` is the number of entries, `most` the milliseconds it may take.
(limit, most) => {
  const started = performance.now();
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colours = new Map();
  const clips = new Map();
  const solid = new Map();
  const blocks = new Map();
  const containers = new Map();
  const everything = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  let cut = false;

  const parentOf = (element) =>
    element.assignedSlot || element.parentElement || (element.getRootNode() || {}).host || null;

  // [red, green, blue], or null if something shines through.
  function colourOf(text) {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = "#000";
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      colours.set(text, alpha > 250 ? [red, green, blue] : null);
    }
    return colours.get(text);
  }

  function isSolid(element) {
    if (!element) return true;
    if (!solid.has(element)) {
      solid.set(element, Number(getComputedStyle(element).opacity) > 0.98 && isSolid(parentOf(element)));
    }
    return solid.get(element);
  }

  // What is left of the page for this element's content after everything that clips it.
  function clipOf(element) {
    if (!element || element === document.body || element === document.documentElement) return everything;
    if (clips.has(element)) return clips.get(element);
    const style = getComputedStyle(element);
    let outer = parentOf(element);
    if (style.position === "fixed") outer = null;
    if (style.position === "absolute") {
      while (outer && getComputedStyle(outer).position === "static" && getComputedStyle(outer).transform === "none") {
        outer = parentOf(outer);
      }
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
  }

  function containerOf(element) {
    const inside = [];
    let at = element;
    while (at && !blocks.has(at)) {
      inside.push(at);
      const display = getComputedStyle(at).display;
      if (!/^(inline|contents|ruby)/.test(display) || /-/.test(display)) break;
      at = parentOf(at);
    }
    const block = at ? (blocks.get(at) ?? at) : document.documentElement;
    for (const inner of inside) blocks.set(inner, block);
    return block;
  }

  function transformed(text, how) {
    if (how === "uppercase") return text.toUpperCase();
    if (how === "lowercase") return text.toLowerCase();
    if (how === "capitalize") return text.replace(/(^|\s)(\S)/g, (_, space, letter) => space + letter.toUpperCase());
    return text;
  }

  function add(container, clip, text, box, colour, style) {
    let { left, top, right, bottom } = box;
    const width = right - left;
    const height = bottom - top;
    left = Math.max(left, clip.left);
    top = Math.max(top, clip.top);
    right = Math.min(right, clip.right);
    bottom = Math.min(bottom, clip.bottom);
    if (!(right - left >= 2 && bottom - top >= height * 0.4 && height >= 3)) return;
    const seen = (right - left) / width;
    if (seen < 0.98) text = text.slice(0, Math.max(1, Math.round(text.length * seen)));
    const bold = Number(style.fontWeight) >= 600 ? right - left : 0;
    const italic = style.fontStyle === "normal" ? 0 : right - left;
    if (!containers.has(container)) containers.set(container, []);
    const lines = containers.get(container);
    const last = lines[lines.length - 1];
    if (last) {
      const shared = Math.min(bottom, last.bottom) - Math.max(top, last.top);
      const gap = Math.max(left - last.right, last.left - right);
      if (shared > 0.5 * Math.min(bottom - top, last.bottom - last.top) && gap < Math.min(bottom - top, 24)) {
        last.text += text;
        if (right - left > last.widest) [last.widest, last.colour] = [right - left, colour];
        last.wide += right - left;
        last.bold += bold;
        last.italic += italic;
        last.left = Math.min(last.left, left);
        last.top = Math.min(last.top, top);
        last.right = Math.max(last.right, right);
        last.bottom = Math.max(last.bottom, bottom);
        return;
      }
    }
    lines.push({ text, left, top, right, bottom, colour, widest: right - left, wide: right - left, bold, italic });
    lines.count = (lines.count || 0) + 1;
    total += 1;
  }
  let total = 0;

  function pieces(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const whole = [...range.getClientRects()].filter((box) => box.width > 0);
    if (!whole.length) return [];
    if (whole.length === 1) return [[node.data, whole[0]]];
    const found = [];
    const measure = (from, to, deeper) => {
      range.setStart(node, from);
      range.setEnd(node, to);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
      if (boxes.length > 1 && deeper) {
        for (let at = from; at < to; ) {
          const next = at + (node.data.codePointAt(at) > 0xffff ? 2 : 1);
          measure(at, next, false);
          at = next;
        }
      } else if (boxes.length) found.push([node.data.slice(from, to), boxes[0]]);
      else if (found.length) found[found.length - 1][0] += " ";
    };
    for (const word of node.data.matchAll(/\S+|\s+/g)) measure(word.index, word.index + word[0].length, true);
    return found;
  }

  function readText(node) {
    const element = node.parentElement || node.parentNode.host;
    if (!element || !node.data.trim()) {
      const parent = element && containers.get(containerOf(element));
      if (parent && parent.length && node.data) parent[parent.length - 1].text += " ";
      return;
    }
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return;
    if (element.tagName === "DETAILS" && !element.open) return;
    const style = getComputedStyle(element);
    const drawn = element.namespaceURI === "http://www.w3.org/2000/svg";
    const colour = isSolid(element) ? colourOf(drawn ? style.fill : style.webkitTextFillColor || style.color) : null;
    const clip = clipOf(element);
    const container = drawn ? element : containerOf(element);
    for (const [text, box] of pieces(node)) add(container, clip, transformed(text, style.textTransform), box, colour, style);
  }

  function readControl(element) {
    const kind = (element.type || "").toLowerCase();
    if (["hidden", "checkbox", "radio", "range", "color", "file", "image"].includes(kind)) return;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return;
    const chosen = element.tagName === "SELECT" ? (element.selectedOptions[0] || {}).text : element.value;
    const text = chosen ? (kind === "password" ? "" : chosen) : element.placeholder || "";
    if (!text.trim()) return;
    const style = getComputedStyle(element);
    const shown = chosen ? style : getComputedStyle(element, "::placeholder");
    const box = element.getBoundingClientRect();
    const side = (name) => parseFloat(style[name]) || 0;
    canvas.font = style.font || `${style.fontSize} ${style.fontFamily}`;
    const line = parseFloat(style.lineHeight) || 1.2 * parseFloat(style.fontSize);
    const from = box.left + side("paddingLeft") + side("borderLeftWidth");
    const to = box.right - side("paddingRight") - side("borderRightWidth");
    const rows = element.tagName === "TEXTAREA" ? text.split("\n") : [text];
    const free = box.top + side("paddingTop") + side("borderTopWidth");
    const first = element.tagName === "TEXTAREA" ? free : (box.top + box.bottom - line) / 2;
    const centred = ["submit", "button", "reset"].includes(kind) || style.textAlign === "center";
    rows.forEach((row, index) => {
      const width = Math.min(canvas.measureText(row).width, to - from);
      const left = centred ? (from + to - width) / 2 : style.direction === "rtl" ? to - width : from;
      const top = first + index * line;
      const area = { left, top, right: left + width, bottom: top + line };
      if (row.trim()) add(element, clipOf(parentOf(element)), row, area, isSolid(element) ? colourOf(shown.color) : null, shown);
    });
  }

  const skipped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "OPTION", "IFRAME", "OBJECT", "VIDEO", "AUDIO"]);
  const stack = [document.body || document.documentElement];
  let seen = 0;
  while (stack.length) {
    const node = stack.pop();
    seen += 1;
    if (total >= limit || (seen % 256 === 0 && performance.now() - started > most)) {
      cut = true;
      break;
    }
    if (node.nodeType === Node.TEXT_NODE) readText(node);
    else if (node.nodeType === Node.ELEMENT_NODE && !skipped.has(node.tagName)) {
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName)) readControl(node);
      else {
        for (let child = node.lastChild; child; child = child.previousSibling) stack.push(child);
        if (node.shadowRoot) {
          for (let child = node.shadowRoot.lastChild; child; child = child.previousSibling) stack.push(child);
        }
      }
    }
  }

  const page = document.scrollingElement || document.documentElement;
  const texts = [];
  for (const lines of containers.values()) {
    for (const line of lines) {
      const text = line.text.replace(/\s+/g, " ").trim();
      const place = [line.left + scrollX, line.top + scrollY, line.right - line.left, line.bottom - line.top];
      if (text) texts.push([text, ...place, line.colour, line.bold / line.wide, line.italic / line.wide]);
    }
  }
  return { title: document.title, width: page.scrollWidth, height: page.scrollHeight, texts, cut };
}
