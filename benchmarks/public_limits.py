"""What the measure of Design2Code gives to documents that are rebuilt without a fault, but from their pictures alone.

    python -m benchmarks.public_limits build/public-pages/drawn/measured --output benchmarks/results/public_limits.json

The measure takes all texts of one element as one block, such as paragraphs that stand in a `<div>` with line breaks
between them. No picture shows that. So each document is compared with itself when every text of it has an element of
its own: the same words at the same places in the same colours.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.report import commit_name, machine
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import PageResponse, Serve, Viewport, project_path
from heald_studio.evaluate.design2code import Design2Code, score_design2code
from heald_studio.evaluate.document_blocks import TextArea, read_text_areas
from heald_studio.evaluate.page_document import serve_folder
from heald_studio.score.page_image import decode_pixels

_APART = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walk.nextNode()) texts.push(walk.currentNode);
  for (const text of texts) {
    if (!text.data.trim() || text.parentElement.closest("script, style, textarea, select")) continue;
    const span = document.createElement("span");
    text.replaceWith(span);
    span.append(text);
  }
  return document.documentElement.outerHTML;
}"""
_SCORES = tuple(Design2Code.__struct_fields__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="documents NAME.html with their pictures NAME.png")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures of each page")
    options = parser.parse_args()
    rows = asyncio.run(_measure(sorted(options.folder.glob("*.html"))))
    print("mean " + ", ".join(f"{score} {fmean(row[score] for row in rows.values()):.3f}" for score in _SCORES))
    print("worst blocks " + ", ".join(f"{block:.3f}" for block in sorted(row["block"] for row in rows.values())[:5]))
    if options.output is not None:
        command = f"python -m benchmarks.public_limits {options.folder}"
        facts = {"command": command, "commit": commit_name(), "machine": machine(), "rows": rows}
        options.output.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")


async def _measure(paths: Sequence[Path]) -> dict[str, dict[str, float]]:
    browser = Browser()
    try:
        rows: dict[str, dict[str, float]] = {}
        for path in paths:
            score = await _score_apart(browser, path)
            rows[path.stem] = {name: round(getattr(score, name), 4) for name in _SCORES}
            print(path.stem, rows[path.stem], flush=True)
        return rows
    finally:
        browser.close()


async def _score_apart(browser: Browser, path: Path) -> Design2Code:
    """Compare a document whose texts have an element each with the document as it is."""
    height, width = decode_pixels(path.with_suffix(".png").read_bytes()).shape[:2]
    viewport = Viewport(width, height)
    serve = serve_folder(path.parent)
    rendering = await browser.render(serve, path.name, viewport, probe=_APART)
    apart = PageResponse(200, "text/html; charset=utf-8", f"<!DOCTYPE html>\n{rendering.probed}".encode())
    copy = await _read_areas(
        browser, lambda url: apart if project_path(url) == path.name else serve(url), path.name, viewport
    )
    return score_design2code(copy, await _read_areas(browser, serve, path.name, viewport))


async def _read_areas(browser: Browser, serve: Serve, name: str, viewport: Viewport) -> tuple[TextArea, ...]:
    rendering = await browser.render(serve, name, viewport)
    return await read_text_areas(browser, serve, name, viewport, rendering.picture)


if __name__ == "__main__":
    main()
