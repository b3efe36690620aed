"""Rows of words low on a page are the columns that they are: with headings above, or lines between their words."""

from collections.abc import Sequence

from heald_local.arrange.footers import gather_columns
from heald_local.arrange.part import Part
from heald_pictures.rect import Rect, hull
from vision_pages import box, text

_LEFTS = (40, 340, 640)
_LONG = "Rules for everybody who sails at night"  # more letters than most links


def _row(top: float, *words: str, weight: int = 400, size: float = 14, lefts: Sequence[float] = _LEFTS) -> Part:
    texts = [text(left, top, word, size, weight) for left, word in zip(lefts, words, strict=False)]
    parts = tuple(Part("text", element.rect, text=element, tag="p") for element in texts)
    if len(parts) == 1:
        return parts[0]
    return Part("row", hull(part.rect for part in parts), parts)


def _line(top: float, left: float = 40, width: float = 250) -> Part:
    return Part("rule", Rect(left, top, width, 1), box=box(left, top, width, 1))


def _columns(*parts: Part) -> list[list[str]]:
    """Return the words of each column; none if the parts stay as they are."""
    (gathered, *rest) = gather_columns(Part("stack", Rect(0, 0, 1280, 800), parts), 0).children
    if rest:
        return []
    return [[cell.text.text for cell in column.children if cell.text is not None] for column in gathered.children]


def test_columns_may_have_long_links_and_end_before_others() -> None:
    rows = [_row(100, "Sea", "Shore", "Sky", weight=700), _row(130, "Tides", _LONG, "Winds"), _row(160, "Fish", "Sand")]
    assert _columns(*rows) == [["Sea", "Tides", "Fish"], ["Shore", _LONG, "Sand"], ["Sky", "Winds"]]
    assert _columns(*rows, _row(190, "Waves")) == [
        ["Sea", "Tides", "Fish", "Waves"],
        ["Shore", _LONG, "Sand"],
        ["Sky", "Winds"],
    ]


def test_a_line_of_another_size_or_at_another_distance_is_not_part_of_a_column() -> None:
    rows = [_row(100, "Sea", "Shore", weight=700), _row(130, "Tides", "Sand"), _row(160, "Fish", "Dunes")]
    for last in (_row(190, "Written by the crew", size=11), _row(210, "Written by the crew")):
        assert _columns(*rows, last) == []


def test_lines_of_single_columns_make_columns_and_lines_across_all_do_not() -> None:
    rows = [_row(100, "Sea", "Shore", "Sky"), _row(140, "Tides", "Sand", "Winds"), _row(180, "Fish", "Dunes", "Birds")]
    lines = [[_line(top, left) for left in _LEFTS] for top in (130, 170)]
    parted = (rows[0], *lines[0], rows[1], *lines[1], rows[2])
    assert _columns(*parted) == [["Sea", "Tides", "Fish"], ["Shore", "Sand", "Dunes"], ["Sky", "Winds", "Birds"]]
    assert _columns(rows[0], _line(130, 40, 700), rows[1], _line(170, 40, 700), rows[2]) == []
    assert _columns(*rows) == []


def test_what_is_no_row_of_words_stays() -> None:
    rows = [_row(100, "Sea", "Shore", weight=700), _row(130, "Tides", "Sand"), _row(160, "Fish", "Dunes")]
    panel = Part("stack", Rect(40, 190, 600, 80), box=box(40, 190, 600, 80))
    assert gather_columns(Part("stack", Rect(0, 0, 1280, 800), (*rows, panel)), 0).children[1:] == (panel,)
