"""Pages at every width: nothing scrolls sideways, no word is broken, no text lies on another."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Browser

from heald_local.arrange.page import arrange
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, Detection, PictureElement, TextElement
from vision_pages import box, picture, seen, text

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
WIDTHS = (360, 390, 480, 600, 768, 900, 1024, 1280, 1440, 1920, 2560)  # CSS pixels


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


def _orders() -> Detection:
    """A table between a bar of controls and a bar of page numbers, with lines at its sides."""
    parts: list[Seen] = [text(24, 90, "Orders", 24, 700), box(24, 134, 280, 36, "#ffffff", border=True, radius=6)]
    parts += [text(37, 145, "Order, name or city", 14), box(24, 184, 1232, 44, "#f0f2f7", border=True)]
    heads = (("Order", 128), ("Customer", 265), ("City", 476), ("Placed", 609), ("Items", 822), ("Total", 1200))
    parts += [text(at, 198, name, 12, 700, "#4b5468") for name, at in heads]
    for row in range(5):
        top = 229 + 45 * row
        parts += [box(25, top, 1230, 44, "#ffffff"), box(24, top, 1, 44, "#e3e6ee"), box(1255, top, 1, 44, "#e3e6ee")]
        words = (f"#2041{row}", "Agnes Moor", "Aarhus", "14 May, 09:22", "3")
        parts += [text(at, top + 14, word, 14) for word, (_, at) in zip(words, heads, strict=False)]
        total = text(0, top + 14, f"€1{'84' * (row % 2)}.20", 14)
        parts += [text(1241 - total.rect.w, top + 14, total.text, 14), box(24, top + 44, 1232, 1, "#edeff4")]
    parts += [text(26, 480, "Rows 1 to 5 of 284", 14), text(1100, 480, "Next page", 14), text(1200, 480, "Last", 14)]
    return seen(*parts, height=560)


def _arabic() -> Detection:
    """A page from right to left: links, a photograph beside a heading and a button, three cards."""

    def right(edge: float, y: float, words: str, size: float = 16, weight: int = 400, colour: str = "#1f2937") -> Seen:
        return text(edge - text(0, y, words, size, weight).rect.w, y, words, size, weight, colour)

    names = ("الرئيسية", "المنتجات", "الأخبار", "الأسعار", "المساعدة", "من نحن")
    parts: list[Seen] = [right(1248, 24, "بيان", 20, 700)]
    parts += [right(1190 - 90 * at, 26, name, 15) for at, name in enumerate(names)]
    parts += [picture(32, 20, 20, 20), picture(92, 108, 536, 300, 2), right(1188, 170, "خط جديد في الربيع", 40, 700)]
    parts += [right(1188, 240, "نفحص كل طلب مرتين ونجيب على الرسائل في اليوم نفسه", 17)]
    parts += [box(1072, 300, 109, 45, "#be123c", radius=6), right(1160, 312, "اقرأ المزيد", 15, 700, "#ffffff")]
    for at in range(3):
        edge = 1188 - 372 * at
        parts += [box(edge - 348, 460, 348, 150, "#eef2ff", radius=8), right(edge - 24, 484, "تقرير جديد", 18, 700)]
        parts += [picture(edge - 68, 530, 44, 44, 3 + at), right(edge - 80, 540, "يفتح الخط في الربيع", 15)]
    return seen(*parts, height=700)


def _search_bar() -> Detection:
    """A bar with links of uneven places at the left, and a field and two icons far at the right."""
    parts: list[Seen] = [box(0, 38, 1280, 75, "#0b2545"), text(32, 63, "Oakline", 22, colour="#ffffff")]
    parts += [text(123, 67, "Home", 16, colour="#ffffff"), text(184, 66, "Products", 14, colour="#ffffff")]
    parts += [text(266, 67, "Journal", 15, colour="#ffffff"), text(337, 65, "Pricing", 14.5, colour="#ffffff")]
    parts += [box(948, 54, 220, 43, "#eef6f5", border=True, radius=7), text(961, 65, "A calmer place", 15)]
    parts += [picture(1188, 68, 20, 17), picture(1231, 67, 14, 18, 2), text(92, 156, "Built for small teams", 28, 700)]
    return seen(*parts, height=400)


def _plain_bar() -> Detection:
    """The same on the ground of the page."""
    names = ("Start", "Angebote", "Über uns", "Preise", "Hilfe")
    parts: list[Seen] = [text(32, 24, "Lindenhof", 20, 700)]
    parts += [text(153 + 78 * at, 27, name, 15) for at, name in enumerate(names)]
    parts += [box(948, 16, 220, 43, "#eef6f5", border=True, radius=7), text(961, 28, "Übernachten über dem F", 15)]
    parts += [picture(1188, 28, 18, 18), picture(1231, 28, 14, 18, 2), text(92, 156, "Alles auf einen Blick", 40, 700)]
    return seen(*parts, height=400)


def _logos() -> Detection:
    """A row of names at even distances that fills the column of the page."""
    names = [text(0, 400, name, 20, 700) for name in ("NORTHFOLD", "Mapleway", "OKTO & SONS", "brightkiln", "HALDEN")]
    gap = (1056 - sum(name.rect.w for name in names)) / (len(names) - 1)
    parts: list[Seen] = [*_header(1280), text(112, 160, "Everything that floats, in one place", 44, 700)]
    left = 112.0
    for name in names:
        parts.append(text(left, 400, name.text, 20, 700))
        left += name.rect.w + gap
    parts += [text(112 + 380 * at, 520, "Words about something, in one line", 16) for at in range(3)]
    return seen(*parts, height=700)


def _buttons() -> Detection:
    """A row of buttons that fills the page, and a long label."""
    names = ("Apples", "Apricots", "Cherries", "Hazelnuts", "Mulberries", "Peaches", "Plums", "Figs")
    labels = [text(0, 171, name, 15, 700) for name in names]
    padding = (1232 - 12 * 7 - sum(label.rect.w for label in labels)) / 16
    parts: list[Seen] = [text(24, 60, "What we grow in this valley", 40, 700)]
    left = 24.0
    for label in labels:
        wide = label.rect.w + 2 * padding
        parts += [box(left, 160, wide, 40, "#86efac", radius=6), text(left + padding, 171, label.text, 15, 700)]
        left += wide + 12
    label = text(36, 261, "Fruit of every kind from the farms in this valley", 18, 700)
    return seen(*parts, box(24, 250, label.rect.w + 24, 42, "#86efac", radius=6), label, height=340)


@pytest.mark.parametrize(
    "page",
    [_landing, _documentation, _form, _orders, _arabic, _search_bar, _plain_bar, _logos, _buttons],
    ids=lambda draw: draw.__name__[1:],
)
async def test_a_page_fits_every_width(chrome: Browser, page: Callable[[], Detection], tmp_path: Path) -> None:
    for name, content in write_files(arrange(page())).items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    for is_phone in (True, False):
        context = await chrome.new_context(is_mobile=is_phone, has_touch=is_phone)
        tab = await context.new_page()
        await tab.goto((tmp_path / "index.html").as_uri())
        for width in (width for width in WIDTHS if (width < 600) == is_phone):
            await tab.set_viewport_size({"width": width, "height": 800})
            wide = await tab.evaluate("document.documentElement.scrollWidth")
            assert (width, wide, await tab.evaluate(PROBE)) == (width, width, [])
        await context.close()


def test_no_distance_is_fixed_that_a_narrower_screen_has_no_room_for() -> None:
    html = str(write_files(arrange(_landing()))["index.html"])
    css = html.partition("<style>")[2].partition("</style>")[0]
    assert "margin-left: 1" not in css
    assert not re.search(r"margin[^;]*vw", css)
    assert "auto-fit" in css
