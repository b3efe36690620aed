// Takes back what align.js changed.
() => {
  const root = document.documentElement;
  if (heald.rootStyle === null) root.removeAttribute("style");
  else root.setAttribute("style", heald.rootStyle);
  if (heald.restore) heald.restore[0].replaceChildren(...heald.restore[1]);
  heald.restore = null;
}
