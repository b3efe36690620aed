"""Links of headers, footers and side columns, and controls that a picture shows."""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heald_local.arrange.page import arrange
from heald_local.see.row_marks import find_row_marks
from heald_local.see.vectors import trace_icon
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, Control, Detection, PictureElement, TextElement
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels
from vision_pages import PNG, box, seen, text

Seen = TextElement | Box | PictureElement


def _body(*parts: Seen, height: int = 800) -> str:
    return _html(seen(*parts, height=height)).partition("<body>")[2]


def _html(detection: Detection) -> str:
    return str(write_files(arrange(detection))["index.html"])


def _links(body: str) -> list[str]:
    return re.findall(r"<a [^>]*>([^<]*)</a>", body)


def _content() -> list[Seen]:
    return [text(96, 200, "A calm place to work", 40, 700), text(96, 290, "Rooms that are quiet for all of the day.")]


def test_the_name_of_the_site_and_two_words_beside_it_are_links() -> None:
    header = [text(32, 24, "Oakline", 20, 700), text(140, 26, "Home", 15), text(220, 26, "Journal", 15)]
    assert _links(_body(*header, *_content())) == ["Oakline", "Home", "Journal"]


def test_the_name_behind_a_logo_is_a_link() -> None:
    logo = PictureElement(Rect(32, 20, 30, 30), "icon", "icon-1", PNG)
    body = _body(logo, text(72, 24, "Tidewater", 20, 700), text(600, 26, "Open from nine", 15), *_content())
    assert "Tidewater" in _links(body)


def test_a_footer_has_links_below_the_heads_of_its_columns() -> None:
    foot: list[Seen] = [box(0, 600, 1280, 200, "#f3f4f6")]
    for at, name in enumerate(("Products", "Company")):
        foot.append(text(96 + 240 * at, 620, name, 14, 700))
        foot += [text(96 + 240 * at, 650 + 30 * row, f"{name} page {'abc'[row]}", 14) for row in range(3)]
    foot.append(text(96, 770, "© Oakline", 13))
    body = _body(*_content(), *foot)
    words = [f"{name} page {letter}" for name in ("Products", "Company") for letter in "abc"]
    assert sorted(_links(body)) == sorted(words)


def test_a_checked_box_before_a_text_stays_checked_and_has_one_name() -> None:
    tick = replace(
        box(96, 402, 16, 16, "#1d4ed8", border=True, radius=3), control=Control("checkbox", True, 1, "#1d4ed8", "#fff")
    )
    body = _body(*_content(), tick, text(122, 400, "Send me letters", 15))
    (markup,) = re.findall(r"<input[^>]*>", body)
    assert 'checked="checked"' in markup
    assert markup.count("aria-label") == 1


def test_a_framed_text_before_a_small_flat_arrow_is_a_select() -> None:
    arrow = PictureElement(Rect(390, 397, 14, 10), "icon", "icon-1", PNG)
    body = _body(
        *_content(), box(314, 384, 103, 36, "#ffffff", border=True, radius=6), text(331, 393, "All", 14), arrow
    )
    assert re.search(r"<select[^>]*>\s*<option[^>]*>All</option>", body)


def test_a_tall_frame_below_a_label_is_a_text_area() -> None:
    frame = box(96, 400, 600, 110, "#ffffff", border=True, radius=6)
    body = _body(*_content(), text(96, 376, "Message", 14, 700), frame, text(110, 412, "What should we know?", 15))
    assert re.search(r'<label[^>]* for="field-1"[^>]*>Message</label>', body)
    assert re.search(r'<textarea[^>]* placeholder="What should we know\?"[^>]*></textarea>', body)


def _stars(count: int, step: int = 16) -> np.ndarray:
    """A line of filled marks, 12 pixels wide and high."""
    cover = np.zeros((14, 4 + step * count), np.float32)
    for at in range(count):
        for row in range(12):
            half = 6 - abs(row - 6) // 2
            cover[1 + row, 2 + step * at + 6 - half : 2 + step * at + 6 + half] = 1.0
    return cover


def _shown(cover: NDArray[np.float32]) -> tuple[Pixels, Pixels]:
    page = np.full((*cover.shape, 3), 255, np.uint8)
    return np.where(cover[..., None] > 0.5, np.array([217, 119, 6], np.uint8), page), page


def test_a_rating_is_a_row_of_marks_and_words_are_none() -> None:
    assert len(find_row_marks(*_shown(_stars(5)))) == 5
    assert not find_row_marks(*_shown(_stars(2)))
    uneven = _stars(5)
    uneven[:, 20:26] = 0
    assert not find_row_marks(*_shown(uneven))


def test_a_rating_that_was_not_read_is_drawn_as_paths() -> None:
    cover = _stars(5)
    page = np.full((*cover.shape, 3), 255, np.uint8)
    shot = np.where(cover[..., None] > 0.5, np.array([217, 119, 6], np.uint8), page)
    rect = Rect(0, 0, cover.shape[1], cover.shape[0])
    traced = trace_icon(PictureElement(rect, "unread", "unread-7", PNG), shot, page, 1)
    assert (traced.kind, traced.path) == ("icon", "assets/icon-7.svg")
    assert traced.vector.count("translate(") == 5
    assert len({dict(shape.attributes)["d"] for shape in traced.shapes}) == 1
