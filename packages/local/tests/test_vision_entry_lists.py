"""Entries of a link and something else that repeat below each other are lists."""

from collections.abc import Sequence

import pytest

from heald_local.arrange.entry_lists import gather_entries
from heald_local.arrange.part import Part
from heald_pictures.rect import Rect
from vision_pages import box, picture, text


def _entry(top: float, left: float = 40, tags: Sequence[str] = ("p", "a"), colour: str = "#1d4ed8") -> list[Part]:
    """Return a date, a link 20 pixels below it, and what else the tags say."""
    parts: list[Part] = []
    for number, tag in enumerate(tags):
        element = text(left, top + 20 * number, f"Part {number}", 14, colour=colour if tag == "a" else "#1f2937")
        line = Rect(left, top + 20 * number + 8, 200, 1)
        if tag == "rule":
            parts.append(Part("rule", line, box=box(line.x, line.y, line.w, line.h)))
        else:
            parts.append(Part("text", element.rect, text=element, tag=tag))
    return parts


def _entries(*tops: float, tags: Sequence[str] = ("p", "a")) -> list[Part]:
    return [part for top in tops for part in _entry(top, tags=tags)]


def _heading(top: float) -> Part:
    element = text(40, top, "News", 24, 700)
    return Part("text", element.rect, text=element, tag="h2")


@pytest.mark.parametrize("tags", [("p", "a"), ("a", "p"), ("p", "a", "rule")])
def test_entries_below_each_other_are_a_list(tags: tuple[str, ...]) -> None:
    heading, listed = gather_entries([_heading(40), *_entries(100, 180, 260, tags=tags)])
    assert heading.tag == "h2"
    assert (listed.tag, [item.tag for item in listed.children]) == ("ul", ["li"] * 3)
    kinds = ["rule" if tag == "rule" else "text" for tag in tags]
    assert [[part.kind for part in item.children] for item in listed.children] == [kinds] * 3


def test_a_low_picture_is_a_line_of_an_entry_and_a_higher_one_is_not() -> None:
    def listed(height: float) -> list[str]:
        parts: list[Part] = []
        for top in (100, 180, 260):
            shown = picture(40, top + 40, 200, height)
            parts += [*_entry(top), Part("picture", shown.rect, picture=shown, tag="img")]
        return [part.tag for part in gather_entries(parts)]

    assert listed(2) == ["ul"]
    assert "ul" not in listed(20)


def test_an_entry_begins_where_the_distance_is_wide() -> None:
    date, *rest = _entries(100, 180, 260, 340)
    kept, listed = gather_entries([*rest[:0], _entry(60)[1], date, *rest])
    assert kept.tag == "a"
    assert [[part.tag for part in item.children] for item in listed.children] == [["p", "a"]] * 4


def test_two_entries_headings_words_without_a_link_and_uneven_ones_are_no_list() -> None:
    others = [
        _entries(100, 180),
        _entries(100, 180, 260, tags=("h3", "a")),
        _entries(100, 180, 260, tags=("p", "p")),
        _entries(100, 180, 300),
        [*_entries(100, 180), *_entry(260, left=60)],
        [*_entries(100, 180), *_entry(260, colour="#b91c1c")],
        _entries(100, 300, 500),
    ]
    for parts in others:
        assert gather_entries(parts) == tuple(parts)
