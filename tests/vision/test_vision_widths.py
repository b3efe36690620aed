"""Pages at every width: nothing scrolls sideways, no word is broken, no text lies on another."""

from collections.abc import Callable, Iterator

import pytest
from vision_pages import box, picture, seen, text

from weft.studio.browser.browser import Browser
from weft.studio.browser.chromium import find_chromium
from weft.studio.browser.page import BrowserError, Viewport, serve_files
from weft.studio.evaluate.quality import WIDTHS
from weft.vision.arrange.page import arrange
from weft.vision.elements import Box, Detection, PictureElement, TextElement
from weft.vision.write.stacks import write_files

PROBE = r"""() => {
  const faults = [], boxes = [], range = document.createRange();
  for (const element of document.body.querySelectorAll("*")) {
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE) continue;
      for (const word of node.textContent.matchAll(/\S+/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const parts = [...range.getClientRects()].filter((part) => part.width > 0.5);
        if (new Set(parts.map((part) => Math.round(part.top))).size > 1) faults.push(`broken: ${word[0]}`);
        boxes.push(...parts.map((part) => [element, word[0], part]));
      }
    }
  }
  boxes.forEach(([one, word, a], at) => boxes.slice(at + 1).forEach(([two, other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (one !== two && wide > 3 && high > 0.4 * Math.min(a.height, b.height)) faults.push(`overlap: ${word}, ${other}`);
  }));
  return faults;
}"""

Seen = TextElement | Box | PictureElement


def _chromium_is_missing() -> bool:
    try:
        find_chromium()
    except BrowserError:
        return True
    return False


pytestmark = pytest.mark.skipif(_chromium_is_missing(), reason="Chromium is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser(pages=1, seconds=60)
    yield browser
    browser.close()


def _header(width: int) -> list[Seen]:
    names = ("Products", "Customers", "Pricing", "Documentation", "Company")
    parts: list[Seen] = [text(96, 24, "Harbour Works", 20, 700)]
    parts += [text(300 + 130 * at, 26, name, 15) for at, name in enumerate(names)]
    return [*parts, box(width - 216, 14, 120, 40, "#1d4ed8", radius=8), text(width - 190, 25, "Sign up", 15, 700)]


def _landing() -> Detection:
    """A picture of 1440 pixels: two columns, four cards, a text that begins far from the left."""
    parts: list[Seen] = [*_header(1440)]
    parts += [text(96, 160, "Everything that floats, in one place", 52, 700), text(96, 240, "Ropes and anchors", 19)]
    parts += [picture(900, 130, 444, 300), text(1107, 470, "A photograph", 15)]
    for at in range(4):
        left = 96 + 316 * at
        parts += [box(left, 540, 292, 170, "#eef2ff", radius=12), text(left + 24, 570, f"Number {at}", 20, 700)]
        parts.append(text(left + 24, 610, "Words about something", 15))
    parts += [box(0, 800, 1440, 90, "#111827"), text(96, 836, "© Harbour Works", 14, colour="#f9fafb")]
    return seen(*parts, width=1440, height=890)


def _documentation() -> Detection:
    """A side column, a text column, and a table of five columns."""
    parts: list[Seen] = [box(0, 0, 260, 900, "#f3f4f6")]
    parts += [text(24, 40 + 34 * at, name, 15) for at, name in enumerate(("Start", "Installing", "Reading", "Errors"))]
    parts += [text(320, 40, "Reading a sensor", 36, 700), text(320, 110, "A sensor sends a value each second.", 16)]
    for row in range(5):
        top = 180 + 44 * row
        words = ("Temperature", "Greenhouse", "Thermometer", "Seconds", "Responsible")
        parts += [text(320 + 190 * at, top + 14, f"{word} {row}", 14) for at, word in enumerate(words)]
        parts.append(box(320, top + 43, 930, 1, "#dddddd"))
    return seen(*parts, width=1280, height=900)


def _form() -> Detection:
    parts: list[Seen] = [text(440, 60, "Create an account", 30, 700)]
    for at, name in enumerate(("Name", "Address", "Town")):
        top = 130 + 90 * at
        parts += [text(440, top, name, 15, 700), box(440, top + 24, 400, 44, "#ffffff", border=True, radius=6)]
        parts.append(text(456, top + 36, f"Your {name.lower()}", 15))
    parts += [box(440, 420, 400, 46, "#1d4ed8", radius=6), text(590, 433, "Continue", 16, 700, "#ffffff")]
    parts += [box(1000, 60, 92, 26, "#dcfce7", radius=13), text(1016, 65, "Refunded", 14)]
    return seen(*parts)


@pytest.mark.parametrize("page", [_landing, _documentation, _form], ids=lambda each: each.__name__[1:])
async def test_a_page_fits_every_width(browser: Browser, page: Callable[[], Detection]) -> None:
    files = write_files(arrange(page()))
    for width in WIDTHS:
        found = await browser.render(
            serve_files(files), viewport=Viewport(width, 800), mobile=width < 600, full_page=False, probe=PROBE
        )
        assert (width, found.overflow, found.probed) == (width, 0, [])


def test_no_distance_is_fixed_that_a_narrower_screen_has_no_room_for() -> None:
    html = str(write_files(arrange(_landing()))["index.html"])
    css = html.partition("<style>")[2].partition("</style>")[0]
    assert "margin-left: 1" not in css
    assert "vw)" in css
    assert "auto-fit" in css
