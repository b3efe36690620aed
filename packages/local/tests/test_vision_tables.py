"""Tables are tables: rows in columns with lines, bands or frames between them, or figures; others are not."""

from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald_local.arrange.page import arrange
from heald_local.page import Node, Page, walk_nodes
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, TextElement
from vision_pages import box, seen, text

HEAD = ("Sensor", "Place", "Value")
ROWS = (("TH-204", "North bay", "21.9"), ("TH-118", "Valley floor", "27.3"), ("FL-007", "Pump house", "0.4"))
LEFTS = (104, 340, 700)


def _find(page: Page, tag: str) -> list[Node]:
    return [node for node in walk_nodes(page.body) if node.tag == tag]


def _ruled(rows: int = 3, lines: bool = True) -> list[TextElement | Box]:
    parts: list[TextElement | Box] = [
        text(x, 112, words, 12, 700, "#6b7280") for x, words in zip(LEFTS, HEAD, strict=True)
    ]
    for number in range(rows):
        top = 140 + 48 * number
        cells = ROWS[number % len(ROWS)]
        parts += [text(x, top + 16, f"{words} {number}") for x, words in zip(LEFTS, cells, strict=True)]
        if lines:
            parts.append(box(80, top - 1, 1000, 1, "#e5e7eb"))
    return parts


def _framed(rows: int, columns: int) -> list[TextElement | Box]:
    parts: list[TextElement | Box] = []
    for y in range(rows):
        for x in range(columns):
            fill = "#f6f8fa" if y == 0 else "#ffffff"
            parts.append(box(80 + 199 * x, 100 + 40 * y, 200, 41, fill, border=True))
            parts.append(text(96 + 199 * x, 112 + 40 * y, f"Cell {x} {y}", 14, 700 if y == 0 else 400))
    return parts


def test_rows_with_lines_between_them_are_a_table_with_a_head() -> None:
    page = arrange(seen(text(80, 40, "Readings", 28, 700), *_ruled()))
    assert len(_find(page, "table")) == 1
    assert [node.lines[0] for node in _find(page, "th")] == list(HEAD)
    assert all(("scope", "col") in node.attributes for node in _find(page, "th"))
    assert len(_find(page, "tr")) == 4
    assert len(_find(page, "td")) == 9


@settings(max_examples=scaled(60), deadline=None)
@given(st.integers(3, 9), st.integers(2, 6))
def test_cells_with_frames_that_touch_are_a_table(rows: int, columns: int) -> None:
    page = arrange(seen(*_framed(rows, columns)))
    assert len(_find(page, "tr")) == rows
    assert len(_find(page, "th")) == columns
    assert len(_find(page, "td")) == columns * (rows - 1)
    assert not _find(page, "input")
    assert not _find(page, "button")


NOTE = "Times are those of the clock on the tower, and they are not corrected in summer, as the tables of tides are."


def _plain(*rows: tuple[str, ...], colour: str = "#1f2937") -> Page:
    words = [
        text(80 + 190 * column, 100 + 33 * number, cell, 15, colour=colour if column == 0 else "#1f2937")
        for number, row in enumerate(rows)
        for column, cell in enumerate(row)
    ]
    return arrange(seen(text(80, 30, "The office of a harbour", 30, 700), *words, text(80, 500, NOTE, 15)))


def test_columns_of_words_without_lines_are_no_table() -> None:
    words = (("Boats", "Crew", "Quay"), ("Sails", "Oars", "Ropes"), ("Wind", "Tide", "Storm"), ("Home", "News", "Post"))
    assert not _find(_plain(*words), "table")


def test_rows_with_figures_are_a_table_without_lines() -> None:
    prices = (("Length", "Night", "Week"), ("8 m", "120", "700"), ("12 m", "180", "1,050"), ("15 m", "240", "1,400"))
    assert len(_find(_plain(*prices), "tr")) == 4
    hours = tuple((day, "9:00 – 17:00") for day in ("Monday", "Tuesday", "Wednesday", "Friday"))
    assert len(_find(_plain(*hours), "td")) == 8
    assert not _find(_plain(*hours[:3]), "table")
    assert not _find(_plain(*hours, colour="#1d4ed8"), "table")  # titles of entries with their dates


def test_rows_after_labels_are_a_table_without_lines() -> None:
    names = ("Address", "Telephone", "Radio", "Fuel")
    rows = tuple((f"{name}:", words) for name, words in zip(names, ("Quay", "None", "Channel", "Diesel"), strict=True))
    assert len(_find(_plain(*rows), "td")) == 8


def test_a_table_is_no_wider_than_it_is() -> None:
    page = _plain(*((day, "9:00", "17:00") for day in ("Monday", "Tuesday", "Friday")))
    widths = [float(dict(node.style)["max-width"][:-2]) for node in walk_nodes(page.body) if node.name == "scroll"]
    assert all(width <= 425 for width in widths)
    assert widths


def test_cards_are_no_table() -> None:
    cards = [
        part
        for x in (80, 420, 760)
        for y in (100, 300, 500)
        for part in (box(x, y, 300, 160), text(x + 20, y + 20, "A"))
    ]
    assert not _find(arrange(seen(*cards)), "table")


def test_two_rows_are_no_table() -> None:
    assert not _find(arrange(seen(*_framed(2, 4))), "table")


def test_a_table_scrolls_by_itself_on_a_narrow_screen_and_can_be_reached() -> None:
    html = str(write_files(arrange(seen(*_ruled())))["index.html"])
    (region,) = [node for node in walk_nodes(arrange(seen(*_ruled())).body) if node.name == "scroll"]
    assert dict(region.attributes)["tabindex"] == "0"
    assert dict(region.attributes)["aria-label"].startswith("Table: Sensor")
    assert ("overflow-x", "auto") in region.style
    assert html.index("<thead>") < html.index("<tbody>")


def test_right_aligned_figures_stay_at_the_right() -> None:
    parts: list[TextElement | Box] = []
    for number, figure in enumerate(("9", "1,204", "88", "40,000")):
        top = 100 + 44 * number
        measured = text(0, top + 14, figure)
        parts += [text(80, top + 14, f"Row {number} is here"), text(420, top + 14, f"Middle {number}")]
        parts.append(text(1000 - measured.rect.w, top + 14, figure))
        parts.append(box(80, top + 43, 920, 1, "#dddddd"))
    page = arrange(seen(*parts))
    last = [row.children[-1] for row in _find(page, "tr")]
    assert len(last) == 4
    assert all(("text-align", "right") in cell.style for cell in last)


def _striped(*fills: str) -> Page:
    parts: list[TextElement | Box] = []
    for number, fill in enumerate(fills):
        top = 140 + 32 * number
        parts += [text(88, top + 6, f"19{number}4"), text(400, top + 6, f"£{number}6.20")]
        parts += [box(80, top, 560, 32, fill)] if fill else []
    return arrange(seen(*parts, height=400))


def test_two_columns_are_a_table_where_every_second_row_is_painted() -> None:
    (table,) = _find(_striped("#e5e7eb", "", "#e5e7eb", ""), "table")
    assert len(_find(_striped("#e5e7eb", "", "#e5e7eb", ""), "tr")) == 4
    assert table.children
    assert not _find(_striped("#e5e7eb", "", "#fecaca", ""), "table")
    assert not _find(_striped("#e5e7eb", "", "", "#e5e7eb"), "table")
