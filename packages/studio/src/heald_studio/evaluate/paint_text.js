// Gives every element that may hold text a colour of its own, and returns each text with the number of its colour.
(shift) => {
  const LEVELS = 16;
  const tags = "p,h1,h2,h3,h4,h5,h6,div,span,a,b,li,table,td,th,button,footer,header,figcaption";
  const elements = [...document.querySelectorAll(tags)];
  if (elements.length > LEVELS ** 3) return { texts: [], colours: [] };
  const dyed = new Set(
    [...document.querySelectorAll("[style]")].filter((e) =>
      e.getAttribute("style").split(";").some((part) => part.includes("color") && !part.includes("background-color"))),
  );
  for (const e of document.querySelectorAll("*")) {
    e.style.setProperty("background-color", "rgba(255, 255, 255, 0)", "important");
    e.style.setProperty("transition", "none", "important");
    e.style.setProperty("animation", "none", "important");
  }
  const level = (number) => (10 + 16 * number + shift) % 256;
  const numbers = new Map();
  const colours = elements.map((e, index) => {
    const number = LEVELS ** 3 - 1 - index;
    const colour = [number >> 8, (number >> 4) & 15, number & 15].map(level);
    e.style.setProperty("color", `rgb(${colour})`, "important");
    e.style.setProperty("opacity", "1", "important");
    numbers.set(e, index);
    return colour;
  });
  const texts = [];
  const walk = document.createTreeWalker(document.body || document.documentElement, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim();
    let e = walk.currentNode.parentElement;
    while (e && !numbers.has(e) && !dyed.has(e)) e = e.parentElement;
    if (text && e && numbers.has(e)) texts.push([text, numbers.get(e)]);
  }
  return { texts, colours };
}
