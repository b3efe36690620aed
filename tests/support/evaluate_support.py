"""Two tiny pages, their pictures, and what makes pages out of pictures for tests."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import msgspec
from PIL import Image

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Rendering, Viewport, serve_files
from heald_studio.evaluate.page_parts import PARTS_PROBE
from heald_studio.evaluate.quality import Quality
from heald_studio.evaluate.row import Row
from heald_studio.score.score import Score
from heald_studio.stacks.stack import Stack

PAGES = {
    "hello": """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Hello</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{margin:0;font:18px/1.5 sans-serif;background:#fff;color:#123}header{background:#036;color:#fff;padding:24px}
main{padding:24px}p{max-width:30em}</style></head>
<body><header><h1>Hello there</h1></header><main><p>A page that says very little, but says it twice.</p>
<h2>Again</h2><p>It has two headings and two paragraphs.</p></main></body></html>
""",
    "form": """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Form</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{margin:40px;font:16px/1.5 sans-serif;background:#eef}label{display:block;margin:12px 0 4px}
input{display:block}button{margin-top:16px}</style></head>
<body><main><h1>Write to us</h1><form><label for="a">Your name</label><input id="a"><label for="b">Your town</label>
<input id="b"><button>Send the letter</button></form></main></body></html>
""",
}


_drawn: dict[str, Rendering] = {}
"""The pages as they were drawn for the first test of a process."""


async def draw_targets(browser: Browser, folder: Path) -> dict[bytes, str]:
    """The pages as targets with their text: `hello` in the group one, `form` in two. Gives each picture its page."""
    drawn: dict[bytes, str] = {}
    for name, group in (("hello", "one"), ("form", "two")):
        if name not in _drawn:
            serve = serve_files({"index.html": PAGES[name]})
            _drawn[name] = await browser.render(serve, viewport=Viewport(800, 600), probe=PARTS_PROBE)
        seen = _drawn[name]
        (folder / group).mkdir(parents=True)
        (folder / group / f"{name}.png").write_bytes(seen.picture)
        (folder / group / f"{name}.json").write_bytes(msgspec.json.encode({"texts": seen.texts, **seen.probed}))
        drawn[seen.picture] = PAGES[name]
    return drawn


class Original:
    """Gives back the page that the picture was taken of."""

    def __init__(self, pages: Mapping[bytes, str]) -> None:
        self.pages = pages

    async def __call__(self, target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        return {stack.entry: self.pages[target]}


class Damaged(Original):
    """The same, with its text moved, its colours changed and a word lost."""

    async def __call__(self, target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        page = self.pages[target].replace("</style>", "main{position:absolute;left:90px;top:180px;color:#a00}</style>")
        return {stack.entry: page.replace("Again", "").replace("Your town", "")}


def png(width: int = 8, height: int = 6, colour: str = "#345") -> bytes:
    out = BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return out.getvalue()


def row(target: str = "page", value: float | None = 1.0, *, group: str = "", size: int = 100, error: str = "") -> Row:
    """A row whose five figures are all the same."""
    figures = None
    if value is not None and not error:
        figures = Score(block=value, text=value, position=value, colour=value, ssim=value)
    quality = Quality(
        elements=10, positioned=0.1, overflow=0, controls=1, unlabelled=0, headings_in_order=True, size=size
    )
    return Row(
        target=target,
        group=group,
        model="m",
        stack="html_css",
        score=figures,
        quality=None if error else quality,
        error=error,
    )
