// Lists what a document consists of, with boxes: headings, lists, tables, charts, drawings, runs of text with their style.
() => {
  const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const place = (r) => [r.left + scrollX, r.top + scrollY, r.width, r.height].map((v) => Math.round(v * 10) / 10);
  const boxes = (selector) =>
    [...document.querySelectorAll(selector)]
      .filter(shown)
      .map((e) => place(e.getBoundingClientRect()))
      .filter((box) => box[2] > 1 && box[3] > 1);
  const named = (e) => [e.getAttribute("aria-label"), e.getAttribute("alt"), e.querySelector?.("title")?.textContent].join(" ");
  const drawings = [...document.querySelectorAll("svg, canvas, img, [role=img]")].filter(shown);
  const charts = drawings.filter((e) => e.tagName === "CANVAS" || /\bchart\b/i.test(named(e)));

  const runs = [];
  const range = document.createRange();
  const walk = document.createTreeWalker(document.body || document.documentElement, NodeFilter.SHOW_TEXT);
  while (walk.nextNode() && runs.length < 4000) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || /^(SCRIPT|STYLE|NOSCRIPT|TITLE|OPTION|TEXTAREA)$/.test(e.tagName)) continue;
    if (!shown(e) || e.closest("svg")) continue;
    range.selectNodeContents(walk.currentNode);
    const style = getComputedStyle(e);
    for (const rect of range.getClientRects()) {
      if (rect.width < 3 || rect.height < 4) continue;
      runs.push({
        box: place(rect),
        bold: Number(style.fontWeight) >= 600,
        italic: style.fontStyle !== "normal",
        size: parseFloat(style.fontSize),
      });
    }
  }

  const plain = "div, span, p, i, b, section, article, header, footer, li, ul, a, h1, h2, h3, h4, h5, h6";
  const hollow = [...document.body.querySelectorAll(plain)].filter((e) => !e.firstElementChild && !e.textContent.trim());
  return {
    links: boxes("a"), // published documents have lost their addresses
    headings: boxes("h1, h2, h3, h4, h5, h6, [role=heading]"),
    lists: boxes("ul, ol, dl"),
    tables: boxes("table, [role=table], [role=grid]").filter((box) => box[2] > 40 && box[3] > 20),
    charts: charts.map((e) => place(e.getBoundingClientRect())),
    drawings: boxes("svg, img"),
    hollow: hollow.length,
    runs,
  };
}
