// Moves the page so that a locked part begins at `place`, or by default at a whole pixel, and returns its box. With
// `inner`, its content is replaced first: that shows its style with other words. Runs after observe.js, in its world.
(lock, candidate, kind, inner, place) => {
  const element = heald.candidates[lock][candidate];
  if (inner !== null) {
    heald.restore = [element, [...element.childNodes]];
    element.innerHTML = inner;
  }
  const root = document.documentElement;
  heald.rootStyle = root.getAttribute("style");
  let box = heald.boxOf(element, kind);
  const off = [box.left - (place?.[0] ?? Math.round(box.left)), box.top - (place?.[1] ?? Math.round(box.top))];
  if (Math.abs(off[0]) > 0.001 || Math.abs(off[1]) > 0.001) {
    root.style.setProperty("position", "relative", "important");
    root.style.setProperty("left", `${-off[0]}px`, "important");
    root.style.setProperty("top", `${-off[1]}px`, "important");
    box = heald.boxOf(element, kind);
  }
  return box;
}
