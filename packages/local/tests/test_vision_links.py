"""Links and cards as a reader knows them: by their place on the page and by what is around them."""

import re
from dataclasses import replace
from itertools import product

from heald_local.arrange.page import arrange
from heald_local.page import Node, walk_nodes
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, Detection, PictureElement, TextElement
from vision_pages import box, picture, seen, text

Seen = TextElement | Box | PictureElement
LONG = "A long line of prose, number {}, that explains what to do now."
WORDS = ("Overview", "Moorings", "Invoices", "Changelog")


def _nodes(page: Detection) -> list[Node]:
    return walk_nodes(arrange(page).body)


def _links(page: Detection) -> set[str]:
    return {" ".join(node.lines) for node in _nodes(page) if node.tag == "a"}


def _top() -> list[Seen]:
    links = [text(300 + 110 * at, 22, name, 15) for at, name in enumerate(("Shop", "Journal", "About"))]
    return [text(80, 20, "Harbour", 20, 700), *links, text(80, 120, "Everything that floats", 44, 700)]


def _footer(top: float) -> list[Seen]:
    parts: list[Seen] = [box(0, top, 1280, 200)]
    for column, head in enumerate(("Product", "Company", "Help")):
        left = 80 + 240 * column
        parts.append(text(left, top + 30, head, 14, 700))
        parts += [text(left, top + 60 + 30 * at, f"{word} {head}", 14) for at, word in enumerate(WORDS[:3])]
    return parts


def test_the_footer_is_above_a_bar_about_cookies() -> None:
    bar = [box(0, 1000, 1280, 80, "#111827"), box(1080, 1018, 120, 44, "#1d4ed8", radius=8)]
    words = [text(80, 1032, "We use cookies to keep you signed in.", 14, colour="#ffffff")]
    words.append(text(1112, 1031, "Accept", 15, 700, "#ffffff"))
    page = seen(*_top(), *_footer(800), *bar, *words, height=1080)
    assert {"Overview Product", "Moorings Company", "Invoices Help"} <= _links(page)
    assert not {"Product", "Company", "Help"} & _links(page)
    assert [node.tag for node in arrange(page).body] == ["header", "main", "footer", "aside"]


def test_a_table_at_the_end_of_a_page_is_no_footer() -> None:
    rows: list[Seen] = []
    for row, column in product(range(5), range(4)):
        rows.append(
            text(80 + 280 * column, 420 + 45 * row, f"Cell {row} {'abcd'[column]}", 14, 700 if not row else 400)
        )
        if not column and row < 4:
            rows.append(box(80, 452 + 45 * row, 1120, 1, "#d1d5db"))
    assert "footer" not in {node.tag for node in _nodes(seen(*_top(), *rows, height=680))}


def _documentation() -> Detection:
    side = [text(24, 120 + 34 * at, word, 14) for at, word in enumerate((*WORDS, "Backups", "Errors"))]
    prose = [text(320, 200 + 60 * at, LONG.format(at)) for at in range(9)]
    return seen(*_top()[:4], *side, box(260, 80, 1, 700, "#d1d5db"), text(320, 120, "Moorings", 36, 700), *prose)


def test_the_lines_of_a_side_column_are_links() -> None:
    assert {*WORDS, "Backups", "Errors"} <= _links(_documentation())
    assert not any(words.startswith("A long line") for words in _links(_documentation()))


def test_names_with_values_beside_them_are_no_links() -> None:
    names = ("Subtotal", "Delivery", "Taxes", "Total")
    sums = [text(960, 200 + 40 * at, word, 14) for at, word in enumerate(names)]
    sums += [text(1100, 200 + 40 * at, f"£{at}4.00", 14) for at in range(4)]
    prose = [text(80, 190 + 52 * at, LONG.format(at)) for at in range(9)]
    line = box(900, 180, 1, 480, "#d1d5db")
    assert not set(names) & _links(seen(*_top()[:4], *prose, line, *sums))
    assert set(names) <= _links(seen(*_top()[:4], *prose, line, *sums[:4]))


def test_all_but_the_last_place_of_a_breadcrumb_are_links() -> None:
    page = seen(*_top()[:4], text(80, 100, "Home / Deck / Ropes", 13), text(80, 140, "Mooring lines", 36, 700))
    assert {"Home", "Deck"} <= _links(page)
    assert "Ropes" not in _links(page)
    html = str(write_files(arrange(page))["index.html"])
    assert 'aria-label="Breadcrumb"' in html
    assert "nine / month" not in _links(seen(*_top(), text(80, 240, "nine / month", 13)))


def test_the_places_of_a_breadcrumb_may_have_triangles_between_them() -> None:
    line = text(80, 100, "Home ▶ Deck ▶ Ropes", 13)
    assert {"Home", "Deck"} <= _links(seen(*_top()[:4], line, text(80, 140, "Mooring lines", 36, 700)))
    words = [text(80, 100, "Home", 13), text(130, 100, "▶", 13), text(160, 100, "Deck", 13)]
    found = _links(seen(*_top()[:4], *words, text(80, 140, "Mooring lines", 36, 700)))
    assert "Home" in found
    assert "Deck" not in found


def test_a_menu_above_a_title_is_no_name_of_its_category() -> None:
    line = text(80, 100, "Blinds | Shutters | Sails", 14)
    page = seen(*_top()[:1], line, text(80, 130, "Mooring lines", 36, 700), text(80, 200, LONG.format(1)))
    assert {"Blinds", "Shutters", "Sails"} <= _links(page)


def test_the_last_place_after_home_may_have_any_title() -> None:
    words = "Home > Ropes and knots of the northern harbours, with splices: 1820-1890"
    assert "Home" in _links(seen(*_top()[:4], text(80, 100, words, 13), text(80, 140, "Mooring lines", 36, 700)))
    other = words.replace("Home", "Sailing")
    assert "Sailing" not in _links(seen(*_top()[:4], text(80, 100, other, 13), text(80, 140, "Mooring lines", 36, 700)))


def test_some_places_of_a_long_menu_may_have_figures_or_many_words() -> None:
    words = ["Blinds", "Shutters 24", "Sails", "Ropes", "Everything that harbours need in winter"]
    assert set(words) <= _links(seen(*_top(), text(80, 700, " | ".join(words), 13)))
    news = ["Blinds", "12 March", "Sails", "4 boats", "9 ropes"]
    assert not set(news) & _links(seen(*_top(), text(80, 700, " | ".join(news), 13)))


def test_a_copyright_in_words_begins_a_menu() -> None:
    words = "Copyright Northwind Ropes 2011 | Blinds | Shutters | Sails"
    found = _links(seen(*_top(), text(80, 700, words, 13)))
    assert {"Blinds", "Shutters", "Sails"} <= found
    assert "Copyright Northwind Ropes 2011" not in found


def _cards() -> Detection:
    """Two rows of three photographs, each with a name and a price below it."""
    parts: list[Seen] = []
    for row, column in product(range(2), range(3)):
        left, top, number = 80 + 380 * column, 240 + 340 * row, 3 * row + column
        parts.append(picture(left, top, 360, 220, number))
        parts += [
            text(left, top + 232, f"Rope {'abcdef'[number]}", 16, 700),
            text(left, top + 258, f"£{number}4.00", 14),
        ]
    return seen(*_top(), *parts, height=960)


def test_names_below_photographs_are_links_and_cards_are_one_grid() -> None:
    assert {f"Rope {letter}" for letter in "abcdef"} <= _links(_cards())
    grids = [node for node in _nodes(_cards()) if "grid-template-columns" in dict(node.style)]
    assert all(sum(node.tag == "img" for node in walk_nodes(grid.children)) % 3 == 0 for grid in grids)
    assert grids


def test_the_empty_boxes_of_a_gallery_are_links_also_where_a_row_is_taller() -> None:
    boxes = [box(80 + 200 * at, 240 + 300 * row, 190, 280 + 20 * row, "#eeeeee") for row in (0, 1) for at in range(4)]
    page = seen(*_top(), *boxes, height=960)
    labels = {dict(node.attributes).get("aria-label") for node in _nodes(page) if node.tag == "a"}
    assert {f"Picture {number}" for number in range(1, 9)} <= labels


def test_a_box_around_a_link_is_the_link_itself() -> None:
    pill = [box(80, 240, 70, 24, "#dbeafe", radius=12), text(92, 244, "Design", 12, colour="#1d4ed8")]
    (link,) = [
        node for node in _nodes(seen(*_top(), *pill, text(80, 300, LONG.format(1)))) if node.lines == ("Design",)
    ]
    assert link.tag == "a"
    assert ("background", "#dbeafe") in link.style


def test_questions_that_unfold_are_buttons() -> None:
    parts: list[Seen] = []
    for at, words in enumerate(("How big may a parcel be?", "Who pays for it?", "Where is my receipt?")):
        parts += [text(200, 240 + 60 * at, words, 17, 700), text(1060, 240 + 60 * at, "+", 17)]
        parts.append(box(200, 280 + 60 * at, 880, 1, "#d1d5db"))
    buttons = [node for node in _nodes(seen(*_top(), *parts)) if node.tag == "button"]
    assert [dict(node.attributes).get("aria-expanded") for node in buttons] == ["false"] * 3


def test_the_column_of_a_page_stays_in_the_middle_of_wider_screens() -> None:
    main = next(node for node in _nodes(_cards()) if node.tag == "main")
    assert dict(main.style)["width"] == "min(100% - 40px, 1120px)"
    assert dict(main.style)["margin-inline"] == "auto"
    heading = next(node for node in _nodes(_cards()) if node.lines == ("Everything that floats",))
    assert "margin-left" not in dict(heading.style)


def test_a_line_of_words_with_bars_between_them_is_a_menu() -> None:
    page = seen(*_top(), text(80, 300, "Tides | Harbour news | Contact", 15), text(80, 360, LONG.format(1), 16))
    assert {"Tides", "Harbour news", "Contact"} <= _links(page)
    assert re.search(r">Tides</a> \| <a[^>]*>Harbour news</a> \| <a", str(write_files(arrange(page))["index.html"]))
    address = seen(*_top(), text(80, 300, "4 Quay | Tel 555 010 | Open", 15), text(80, 360, LONG.format(1), 16))
    assert not {"4 Quay", "Open"} & _links(address)


def test_short_texts_of_one_vivid_colour_are_links() -> None:
    prose = [text(80, 240 + 40 * at, LONG.format(at), 16) for at in range(6)]
    red = [text(80, 560 + 40 * at, name, 16, colour="#b91c1c") for at, name in enumerate(WORDS)]
    assert set(WORDS) <= _links(seen(*_top(), *prose, *red, height=900))
    assert not any(words.startswith("A long line") for words in _links(seen(*_top(), *prose, *red, height=900)))


def test_a_long_title_in_the_blue_of_links_is_a_link() -> None:
    title = "Back to the index of all harbours between the cape and the northern light"
    prose = [text(80, 240 + 40 * at, LONG.format(at), 16) for at in range(4)]
    assert title in _links(seen(*_top(), *prose, text(80, 420, title, 16, colour="#2563eb")))


def test_the_maker_of_a_site_is_a_link_in_the_line_that_names_it() -> None:
    page = seen(*_top(), text(80, 300, LONG.format(1), 16), text(80, 700, "Harbour Trust. Powered by Tidewater.", 13))
    assert "Tidewater" in _links(page)
    assert not any("Powered" in words for words in _links(page))


def test_the_name_before_a_stop_that_stands_apart_is_a_link_in_a_copyright() -> None:
    apart = "© 2023 Northwind Ropes . Powered by Splice"
    assert {"Northwind Ropes", "Splice"} <= _links(seen(*_top(), text(80, 700, apart, 13)))
    joined = "© 2023 Northwind Ropes. All rights reserved."
    assert not {"Northwind Ropes", joined} & _links(seen(*_top(), text(80, 700, joined, 13)))


def test_a_line_of_words_with_dashes_between_them_is_a_menu() -> None:
    assert {"Blinds", "Shutters", "Sails"} <= _links(seen(*_top(), text(80, 700, "Blinds — Shutters — Sails", 13)))
    assert "Blinds" not in _links(seen(*_top(), text(80, 700, "Blinds — 12 boats — Sails", 13)))
    mixed = "© 2003 – 2023 Northwind • Blinds • Shutters"
    assert {"Blinds", "Shutters"} <= _links(seen(*_top(), text(80, 700, mixed, 13)))


def test_a_menu_in_a_fixed_width_font_stands_at_the_top() -> None:
    def in_code(y: float) -> TextElement:
        line = text(80, y, "blinds | sort | sails", 13)
        return replace(line, style=replace(line.style, family="code"))

    title = text(80, 140, "Everything that floats", 44, 700)
    assert {"blinds", "sort", "sails"} <= _links(seen(in_code(100), title, text(80, 300, LONG.format(1))))
    assert "blinds" not in _links(seen(*_top(), in_code(700)))


def _named_boxes(page: Detection) -> list[str]:
    attributes = [dict(node.attributes) for node in _nodes(page) if node.tag == "a" and not node.lines]
    return [values["aria-label"] for values in attributes if "aria-label" in values]


def test_boxes_that_frame_an_empty_picture_are_links_in_a_row() -> None:
    frames = [box(80 + 72 * at, 240, 66, 66, "#ebebeb", radius=3) for at in range(3)]
    pictures = [box(84 + 72 * at, 244, 58, 58, "#eeeeee") for at in range(3)]
    page = seen(*_top(), *frames, *pictures, text(80, 400, LONG.format(1)), height=640)
    assert _named_boxes(page) == ["Picture 1", "Picture 2", "Picture 3"]


def test_empty_boxes_of_one_height_in_a_row_are_a_strip_of_pictures() -> None:
    places = [(80, 220), (305, 140), (450, 140), (595, 120)]
    strip = [box(left, 240, wide, 128, "#eeeeee") for left, wide in places]
    page = seen(*_top(), *strip, text(80, 500, LONG.format(1)), height=640)
    assert _named_boxes(page) == [f"Picture {number}" for number in range(1, 5)]
    assert _named_boxes(seen(*_top(), *strip[:2], text(80, 500, LONG.format(1)), height=640)) == []


def test_the_empty_box_in_a_bar_at_the_top_is_the_logo_also_without_links_beside_it() -> None:
    bar, logo = box(0, 0, 1280, 59, "#212529"), box(10, 13, 68, 38, "#eeeeee")
    prose = [text(80, 300 + 40 * at, LONG.format(at)) for at in range(4)]
    assert _named_boxes(seen(bar, logo, *prose, height=640)) == ["Home"]
    assert _named_boxes(seen(logo, *prose, height=640)) == []


def test_a_wide_empty_box_is_the_logo_if_it_begins_at_the_top() -> None:
    menu = [text(700 + 110 * at, 62, name, 15) for at, name in enumerate(("Shop", "Journal", "About"))]
    prose = [text(80, 500 + 40 * at, LONG.format(at)) for at in range(4)]
    for top, expected in ((14, ["Home"]), (140, [])):
        assert _named_boxes(seen(box(180, top, 362, 203, "#eeeeee"), *menu, *prose, height=760)) == expected


def test_a_line_below_an_empty_box_is_no_content_of_it() -> None:
    logo = [box(160, 24, 62, 34, "#eeeeee"), box(160, 58, 62, 1, "#deeaee")]
    assert "Home" in _named_boxes(seen(*logo, *_top()[1:], text(80, 300, LONG.format(1)), height=640))
