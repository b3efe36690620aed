// The texts and painted boxes of a page: their places and styles, and selectors with the texts or boxes that each selects.
() => {
  const box = (r) => [r.left + scrollX, r.top + scrollY, r.width, r.height];
  const CONTAINER_SELECTORS = 8;
  const probe = document.createElement("canvas").getContext("2d");
  const colourOf = (value) => ((probe.fillStyle = value), probe.fillStyle);
  const nodes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || /^(SCRIPT|STYLE|OPTION|TITLE|TEXTAREA|NOSCRIPT)$/.test(element.tagName)) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()].filter((r) => r.width > 1 && r.height > 1);
    if (lines.length > 0) nodes.push({ node, element, range, lines });
  }
  const holders = new Map();
  nodes.forEach(({ element }, at) => holders.set(element, [...(holders.get(element) ?? []), at]));
  const matchesIn = (members) => {
    const selected = new Map();
    return (selector) => {
      if (!selected.has(selector)) {
        const elements = [...document.querySelectorAll(selector)];
        selected.set(selector, elements.every((element) => members.has(element)) ? elements.flatMap((element) => members.get(element)) : []);
      }
      return selected.get(selector);
    };
  };
  const candidates = (element, matchesOf) => {
    const tag = element.tagName.toLowerCase();
    const names = (candidate) => [...candidate.classList].map((name) => `.${CSS.escape(name)}`);
    const place = (candidate) => `:nth-child(${[...candidate.parentElement.children].indexOf(candidate) + 1})`;
    const list = [tag, ...names(element), ...names(element).map((name) => tag + name)];
    let step = "";
    for (let here = element; here !== document.body && here.parentElement; here = here.parentElement) {
      step = `>${here === element ? tag : ""}${place(here)}${step}`;
      for (const name of [here.parentElement.tagName.toLowerCase(), ...names(here.parentElement)]) {
        if (here === element) list.push(`${name} ${tag}`, `${name}>${tag}`);
        list.push(name + step);
      }
    }
    return list.map((selector) => [selector, matchesOf(selector)]).filter(([, matches]) => matches.length > 0);
  };
  const textsOf = matchesIn(holders);
  const containers = new Map();
  nodes.forEach(({ element }, at) => {
    for (let here = element.parentElement; here && here !== document.body; here = here.parentElement) containers.set(here, [...(containers.get(here) ?? []), at]);
  });
  const textsIn = matchesIn(containers);
  const containersOf = (element) => {
    const list = [];
    for (let here = element.parentElement; here && here !== document.body; here = here.parentElement) list.push(...candidates(here, textsIn).slice(0, CONTAINER_SELECTORS));
    return list;
  };
  const texts = nodes.map(({ node, element, range, lines }) => {
    const style = getComputedStyle(element);
    return {
      text: node.data.replace(/\s+/g, " ").trim(),
      box: box(range.getBoundingClientRect()),
      line: box(lines[0]),
      lines: new Set(lines.map((line) => Math.round(line.top / 4))).size,
      colour: colourOf(style.color),
      size: parseFloat(style.fontSize),
      weight: Number(style.fontWeight),
      slant: style.fontStyle,
      family: style.fontFamily,
      isAlone: element.childNodes.length === 1,
      isInline: style.display === "inline",
      selectors: candidates(element, textsOf),
      containers: containersOf(element),
    };
  });
  const SIDES = ["top", "right", "bottom", "left"];
  const isClear = (colour) => /^(rgba\(.*, 0\)|transparent)$/.test(colour);
  const painted = [];
  for (const element of document.body.querySelectorAll("*")) {
    if (/^(IMG|SVG|CANVAS|VIDEO|SCRIPT|STYLE|BR|OPTION)$/i.test(element.tagName) || element instanceof SVGElement || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const borders = SIDES.map((side) => {
      const width = parseFloat(style.getPropertyValue(`border-${side}-width`));
      const kind = style.getPropertyValue(`border-${side}-style`);
      return width > 0 && kind !== "none" ? `${width}px ${kind} ${colourOf(style.getPropertyValue(`border-${side}-color`))}` : "0";
    });
    const colour = isClear(style.backgroundColor) ? "" : colourOf(style.backgroundColor);
    const picture = style.backgroundImage === "none" || style.backgroundImage.includes("url(") ? "" : style.backgroundImage;
    const shadow = style.boxShadow === "none" ? "" : style.boxShadow;
    const place = element.getBoundingClientRect();
    if (place.width < 1 || place.height < 1 || (colour === "" && picture === "" && shadow === "" && borders.every((border) => border === "0"))) continue;
    painted.push({ element, box: box(place), background: picture || colour, borders, radius: style.borderRadius, shadow, isInline: style.display === "inline" });
  }
  const owners = new Map(painted.map(({ element }, at) => [element, [at]]));
  const boxesOf = matchesIn(owners);
  const boxes = painted.map(({ element, ...values }) => ({ ...values, selectors: candidates(element, boxesOf) }));
  const drawings = [...document.querySelectorAll("img, svg, canvas, [role=img]")].filter((element) => element.checkVisibility()).map((element) => box(element.getBoundingClientRect()));
  return { texts, boxes, drawings };
}
