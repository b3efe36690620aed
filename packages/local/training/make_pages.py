"""Renders training pages with Chromium, and writes each as a picture with the truth of its DOM.

    python make_pages.py OUT --icons NODE_MODULES --photos FOLDER [--count 500] [--held 60]

OUT gets `train/N.webp`, `held/N.webp`, and `truth.json`: for each picture its parts (class, left, top, right, bottom)
and its masks (photographs, text, text on photographs). Icons come from the npm packages lucide-static, simple-icons
and heroicons; `photos.py` makes the photographs.
"""

import argparse
import io
import json
import re
from pathlib import Path
from random import Random
from typing import Any

from compose import compose_page
from PIL import Image
from playwright.sync_api import sync_playwright

TALLEST = 1800
PROBE = """() => {
  const box = (r) => [r.left, r.top + scrollY, r.right, r.bottom + scrollY].map((v) => Math.round(v * 10) / 10);
  const parts = [], text = [], over = [];
  for (const e of document.querySelectorAll("[data-part]")) {
    let r = e.getBoundingClientRect();
    if (e.dataset.part === "icon") {
      let [l, t, q, b] = [1e9, 1e9, -1e9, -1e9];
      for (const c of e.querySelectorAll("path,circle,rect,line,polyline,polygon,ellipse")) {
        const s = c.getBoundingClientRect();
        if (!s.width && !s.height) continue;
        l = Math.min(l, s.left); t = Math.min(t, s.top); q = Math.max(q, s.right); b = Math.max(b, s.bottom);
      }
      const m = r.width / 24;
      if (q > l) r = { left: Math.max(l - m, r.left), top: Math.max(t - m, r.top), right: Math.min(q + m, r.right), bottom: Math.min(b + m, r.bottom) };
    }
    parts.push([e.dataset.part, ...box(r)]);
    if (e.dataset.value !== undefined) {
      const at = getComputedStyle(e).direction === "rtl" ? 1 - e.dataset.value / 100 : e.dataset.value / 100;
      const x = r.left + at * (r.width - 16), y = (r.top + r.bottom) / 2;
      parts.push(["thumb", ...box({ left: x, right: x + 16, top: y - 8, bottom: y + 8 })]);
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.trim() || node.parentElement.closest("option,style")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const holder = node.parentElement.closest("[data-over],button");
    const list = holder && holder.dataset.over ? over : text;
    for (const r of range.getClientRects()) if (r.width > 2 && r.height > 4) list.push(box(r));
  }
  for (const e of document.querySelectorAll("input,select")) {
    if (!(e.value || e.placeholder) || ["checkbox", "radio", "range"].includes(e.type)) continue;
    const r = e.getBoundingClientRect(), size = parseFloat(getComputedStyle(e).fontSize), y = (r.top + r.bottom) / 2;
    const wide = Math.min((e.value || e.placeholder).length * size * 0.5, r.width - 20);
    text.push(box({ left: r.left + 12, right: r.left + 12 + wide, top: y - size * 0.6, bottom: y + size * 0.6 }));
  }
  return { parts, text, over, wide: document.documentElement.scrollWidth };
}"""


def read_icons(modules: Path) -> list[str]:
    """Return the icons of all sets as inline SVGs, in a fixed order."""
    found: list[str] = []
    for folder in (
        "lucide-static/icons",
        "simple-icons/icons",
        "heroicons/24/solid",
        "heroicons/24/outline",
        "heroicons/16/solid",
    ):
        for file in sorted((modules / folder).glob("*.svg")):
            text = re.sub(
                r"<!--.*?-->|<title>.*?</title>|<\?xml.*?\?>", "", file.read_text("utf-8"), flags=re.S
            ).strip()
            text = re.sub(r'\s(?:width|height|class|role)="[^"]*"', "", text[: text.find(">")]) + text[text.find(">") :]
            found.append(
                text
                if "fill=" in text[:300] or "stroke=" in text[:300]
                else text.replace("<svg", '<svg fill="currentColor"', 1)
            )
    return found


def encode(png: bytes) -> bytes:
    """Return a picture as WebP: exact where that is small, else with little loss."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    exact, close = io.BytesIO(), io.BytesIO()
    image.save(close, "WEBP", quality=82, method=2)
    if close.tell() < 110_000:
        image.save(exact, "WEBP", lossless=True, quality=20, method=1)
    return exact.getvalue() if 0 < exact.tell() < 1.5 * close.tell() else close.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--icons", type=Path, required=True)
    parser.add_argument("--photos", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--held", type=int, default=60)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    chosen = parser.parse_args()
    icons = read_icons(chosen.icons)
    Random(3).shuffle(icons)
    edge = len(icons) // 10
    truth: dict[str, Any] = {}
    page_file = chosen.out.resolve() / "page.html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen.browser, args=["--no-sandbox", "--disable-gpu"])
        for which, count in (("held", chosen.held), ("train", chosen.count)):
            (chosen.out / which).mkdir(parents=True, exist_ok=True)
            photos = [file.resolve().as_uri() for file in sorted((chosen.photos / which).glob("*.jpg"))]
            mine = icons[:edge] if which == "held" else icons[edge:]
            page = browser.new_page()
            for seed in range(count):
                html, wide = compose_page(seed, which == "held", mine, photos)
                page_file.write_text(html, "utf-8")
                page.set_viewport_size({"width": wide, "height": 900})
                page.goto(page_file.as_uri())
                seen = page.evaluate(PROBE)
                high = min(int(page.evaluate("document.documentElement.scrollHeight")), TALLEST)
                png = page.screenshot(clip={"x": 0, "y": 0, "width": wide, "height": high}, full_page=True)
                (chosen.out / which / f"{seed}.webp").write_bytes(encode(png))
                truth[f"{which}/{seed}"] = {key: seen[key] for key in ("parts", "text", "over")}
                if seed % 50 == 0:
                    (chosen.out / "truth.json").write_text(json.dumps(truth, separators=(",", ":")))
            page.close()
        browser.close()
    page_file.unlink()
    (chosen.out / "truth.json").write_text(json.dumps(truth, separators=(",", ":")))


if __name__ == "__main__":
    main()
