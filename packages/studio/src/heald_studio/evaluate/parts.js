// Lists what can be pressed, filled in or seen on a page, with its box: links, controls and their state, icons, photographs.
() => {
  const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const box = (e) => {
    const r = e.getBoundingClientRect();
    return [r.left + scrollX, r.top + scrollY, r.width, r.height].map((v) => Math.round(v * 10) / 10);
  };
  const pressed = ["submit", "button", "reset", "image"];
  const kindOf = (e) => {
    if (e.tagName === "A") return "link";
    if (e.tagName === "SELECT") return "select";
    if (e.tagName === "TEXTAREA") return "field";
    if (e.tagName === "INPUT" && ["checkbox", "radio", "range"].includes(e.type)) return e.type;
    if (e.tagName === "INPUT" && !pressed.includes(e.type)) return "field";
    return "button";
  };
  const parts = [];
  const add = (e, kind, more) => {
    const place = box(e);
    if (place[2] > 1 && place[3] > 1) parts.push({ kind, box: place, ...more });
  };
  const kinds = "a[href], button, input:not([type=hidden]), select, textarea, [role=button], summary";
  for (const e of document.querySelectorAll(kinds)) if (shown(e)) add(e, kindOf(e), { on: Boolean(e.checked) });
  for (const e of document.querySelectorAll("svg, img")) {
    if (!shown(e) || e.parentElement.closest("svg")) continue;
    const drawn = e.tagName === "IMG" ? /\.svg($|[?#])|^data:image\/svg/.test(e.currentSrc || e.src) : true;
    const { width, height } = e.getBoundingClientRect();
    const small = height <= 64 && Math.min(width, height) >= 6 && width <= (drawn ? 200 : 64);
    if (small) add(e, "icon", { drawn });
    if (e.tagName === "IMG" && Math.min(width, height) >= 40) add(e, "photo", { named: Boolean((e.alt || "").trim()) });
  }
  return { parts };
}
