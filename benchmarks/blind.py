"""Whether the score sees what is not text: removes one kind of element from pages, and compares the fall with the area.

`python -m benchmarks.blind FOLDER [--count N]` renders the pages NAME.html of a folder as they are and without each
kind of element, and prints the share of the pixels that changed beside the fall of the score. It fails if a score falls
by less than that share, or if a page with a change reads 100 %.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.render import serve_folder
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import PageResponse, Rendering, Serve, Viewport, project_path
from heald_studio.score.figure_text import format_percent, format_whole_percent
from heald_studio.score.page_image import PageImage, decode_pixels
from heald_studio.score.score import score

WINDOW = Viewport(1280, 800)
VISIBLE = 8
"""Levels of 255 from which a pixel counts as changed."""

_SIZES = "const size = (e) => e.getBoundingClientRect(), area = (e) => size(e).width * size(e).height;"
_PLAIN = "e.style.background = 'none', e.style.borderColor = 'transparent', e.style.boxShadow = 'none'"
_INSIDE = "[...document.body.querySelectorAll('*')]"
_LEAVES = (
    f"{_INSIDE}.filter((e) => !e.children.length && e.textContent.trim() && !/^(SCRIPT|STYLE|OPTION)$/.test(e.tagName))"
)
KINDS = {
    "cards": f"for (const e of {_INSIDE}) if (size(e).height > 48 && size(e).width < innerWidth) {_PLAIN};",
    "badges": f"for (const e of {_INSIDE}) if (size(e).height <= 48 && size(e).width < 240) {_PLAIN};",
    "table borders": (
        "for (const e of document.querySelectorAll('table, tr, td, th, hr')) e.style.borderColor = 'transparent';"
    ),
    "hero picture": (
        "const e = [...document.images].sort((a, b) => area(b) - area(a))[0]; if (e) e.style.visibility = 'hidden';"
    ),
    "background": (
        f"for (const e of [document.documentElement, document.body, ...{_INSIDE}])"
        " if (size(e).width >= innerWidth - 20) e.style.background = 'white';"
    ),
    "icons": (
        "for (const e of document.querySelectorAll('svg, img, i'))"
        " if (size(e).width <= 64) e.style.visibility = 'hidden';"
    ),
    "line of text": (
        f"const e = {_LEAVES}.sort((a, b) => b.textContent.length - a.textContent.length)[0];"
        " if (e) e.style.visibility = 'hidden';"
    ),
    "bold": f"for (const e of {_INSIDE}) if (getComputedStyle(e).fontWeight >= 600) e.style.fontWeight = 400;",
}
"""For each kind of element a script that removes it and leaves the rest where it is."""


class Blinding(msgspec.Struct, frozen=True):
    """A page without one kind of element, compared with the whole page."""

    page: str
    kind: str
    changed: float
    """The share of the pixels that changed."""
    overall: float

    @property
    def fall(self) -> float:
        return 1 - self.overall

    @property
    def is_seen(self) -> bool:
        return self.fall >= self.changed and format_whole_percent(self.overall) != "100 %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=10, help="pages of the folder (%(default)s)")
    options = parser.parse_args()
    pages = sorted(path.name for path in options.folder.glob("*.html"))[: options.count]
    if not pages:
        sys.exit(f"There is no NAME.html in {options.folder}; name a folder that holds pages.")
    blindings = asyncio.run(_blind_pages(options.folder, pages))
    overlooked = [blinding for blinding in blindings if not blinding.is_seen]
    print(f"changes: {len(blindings)}, pages: {len(pages)}, overlooked: {len(overlooked)}")
    sys.exit(1 if overlooked else 0)


async def _blind_pages(folder: Path, pages: list[str]) -> list[Blinding]:
    blindings: list[Blinding] = []
    browser = Browser()
    try:
        for page in pages:
            whole = await browser.render(_serve_changed(folder, page, ""), page, WINDOW)
            for kind, script in KINDS.items():
                blind = await browser.render(_serve_changed(folder, page, script), page, WINDOW)
                blinding = await asyncio.to_thread(_compare, page, kind, whole, blind)
                if blinding is not None:
                    blindings.append(blinding)
    finally:
        browser.close()
    return blindings


def _serve_changed(folder: Path, page: str, script: str) -> Serve:
    """Serve a folder with a page that removes elements of its own once it has loaded."""
    serve = serve_folder(folder)
    tail = f"<script>addEventListener('load', () => {{ {_SIZES} {script} }});</script>".encode()

    def serve_changed(url: str) -> PageResponse | Awaitable[PageResponse | None] | None:
        response = serve(url)
        if not isinstance(response, PageResponse) or project_path(url) != page:
            return response
        return msgspec.structs.replace(response, body=response.body + tail)

    return serve_changed


def _compare(page: str, kind: str, whole: Rendering, blind: Rendering) -> Blinding | None:
    """Compare a page with and without a kind of element; None if it has no such element."""
    changed = changed_share(whole.picture, blind.picture)
    if not changed:
        return None
    blinding = Blinding(page, kind, changed, score(PageImage.of(whole), PageImage.of(blind)).overall)
    share, fall = (format_percent(value) for value in (blinding.changed, blinding.fall))
    print(f"{page:24} {kind:14} changed {share:>7}, fall {fall:>7}{'' if blinding.is_seen else '  OVERLOOKED'}")
    return blinding


def changed_share(picture: bytes, other: bytes) -> float:
    """Return the share of the pixels of a picture that are visibly other ones."""
    first, second = decode_pixels(picture).astype(np.int16), decode_pixels(other).astype(np.int16)
    height = min(len(first), len(second))
    unequal = np.abs(first[:height] - second[:height]).max(axis=2) >= VISIBLE
    lost = (max(len(first), len(second)) - height) * first.shape[1]
    return (int(np.count_nonzero(unequal)) + lost) / (max(len(first), len(second)) * first.shape[1])


if __name__ == "__main__":
    main()
