// Reads the values that a page uses: colours, font families, font sizes, spacing and radii, each with its places.
// Runs in a world of its own. `tokens` are values of CSS by kind; they are returned as the page computes them.
(tokens, most) => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const colours = new Map();
  const colourOf = (value) => {
    if (colours.has(value)) return colours.get(value);
    let colour = null;
    if (CSS.supports("color", value)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = "#000";
      context.fillStyle = value;
      context.fillRect(0, 0, 1, 1);
      colour = [...context.getImageData(0, 0, 1, 1).data];
      // Colours with little opacity lose precision on a canvas, so their parts are read from the text where possible.
      const parts = /^rgba?\(\s*([\d.]+)[ ,]+([\d.]+)[ ,]+([\d.]+)(?:\s*[,/]\s*([\d.]+))?\s*\)$/.exec(value);
      if (parts) colour = [...parts.slice(1, 4).map((part) => Math.round(Number(part))), Math.round(255 * Number(parts[4] ?? 1))];
    }
    colours.set(value, colour);
    return colour;
  };
  const ruler = document.createElement("div");
  ruler.style.cssText = "position:absolute;visibility:hidden;padding:0;border:0;height:0;box-sizing:content-box;max-width:none;min-width:0";
  (document.body ?? document.documentElement).append(ruler);
  const pixelsOf = (value) => {
    ruler.style.width = "";
    ruler.style.width = value.endsWith("%") ? "" : value;
    const width = ruler.style.width === "" ? NaN : Number.parseFloat(getComputedStyle(ruler).width);
    return Number.isFinite(width) ? width : null;
  };
  const computed = tokens.map(([kind, value]) => (kind === "color" ? colourOf(value) : kind === "font" ? value : value.endsWith("%") ? value : pixelsOf(value)));
  ruler.remove();

  const pathOf = (element) => {
    const parts = [];
    for (let here = element; here && here !== document.documentElement; here = here.parentElement) {
      const alike = here.parentElement ? [...here.parentElement.children].filter((other) => other.tagName === here.tagName) : [here];
      const name = here.tagName.toLowerCase();
      parts.unshift(alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(here) + 1})` : name);
    }
    return parts.join(" > ");
  };
  const uses = new Map();
  const add = (kind, property, value, element) => {
    const key = JSON.stringify([kind, value]);
    const use = uses.get(key);
    if (use) use.count += 1;
    else uses.set(key, { kind, property, value, count: 1, element });
  };
  const addColour = (property, value, element) => {
    const colour = colourOf(value);
    if (colour && colour[3] > 0) add("color", property, colour, element);
  };
  const addLength = (kind, property, value, element) => {
    const pixels = /^(-?[\d.]+)px$/.exec(value);
    if (pixels && Number(pixels[1]) !== 0) add(kind, property, Math.abs(Number(pixels[1])), element);
    else if (/^[\d.]+%$/.test(value) && Number.parseFloat(value) !== 0) add(kind, property, value, element);
  };
  const SIDES = ["top", "right", "bottom", "left"];
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const isField = (element) => /^(INPUT|TEXTAREA|SELECT|BUTTON)$/.test(element.tagName);
  const elements = [...document.querySelectorAll("html, body, body *")].slice(0, most);
  for (const element of elements) {
    if (/^(SCRIPT|STYLE|TEMPLATE|NOSCRIPT|LINK|META|BR|OPTION)$/i.test(element.tagName)) continue;
    const isInSvg = element instanceof SVGElement;
    if (isInSvg && element.ownerSVGElement !== null && !/^(path|circle|rect|ellipse|polygon|polyline|line|text)$/i.test(element.tagName)) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const style = getComputedStyle(element);
    if (isInSvg) {
      if (element.ownerSVGElement !== null) {
        if (style.fill.startsWith("rgb")) addColour("fill", style.fill, element);
        if (style.stroke.startsWith("rgb")) addColour("stroke", style.stroke, element);
      }
      continue;
    }
    if (hasText(element) || isField(element)) {
      addColour("color", style.color, element);
      add("font", "font-family", style.fontFamily, element);
      addLength("size", "font-size", style.fontSize, element);
    }
    addColour("background-color", style.backgroundColor, element);
    for (const side of SIDES) {
      if (style.getPropertyValue(`border-${side}-style`) !== "none" && Number.parseFloat(style.getPropertyValue(`border-${side}-width`)) > 0) {
        addColour(`border-${side}-color`, style.getPropertyValue(`border-${side}-color`), element);
      }
    }
    const map = element.computedStyleMap(); // unlike the computed style it says auto where a margin is auto
    for (const side of SIDES) {
      for (const property of [`padding-${side}`, `margin-${side}`]) addLength("space", property, String(map.get(property)), element);
    }
    if (/flex|grid/.test(style.display)) for (const property of ["row-gap", "column-gap"]) addLength("space", property, String(map.get(property)), element);
    const corners = new Set(["top-left", "top-right", "bottom-right", "bottom-left"].map((corner) => style.getPropertyValue(`border-${corner}-radius`).split(" ")[0]));
    for (const corner of corners) addLength("radius", "border-radius", corner, element);
  }
  const listed = [...uses.values()].map(({ element, ...use }) => ({ ...use, path: pathOf(element), text: (element.textContent ?? "").trim().replace(/\s+/g, " ").slice(0, 60) }));
  return { tokens: computed, uses: listed, is_cut: elements.length === most };
}
