"""Buttons that show an icon alone, segments, dates, typed values, trails of places, and code."""

import re
from dataclasses import replace

import pytest

from heald_local.arrange.code_blocks import mark_code
from heald_local.arrange.page import arrange
from heald_local.arrange.part import Part
from heald_local.page import Node, walk_nodes
from heald_local.write.stacks import STACKS, write_files
from heald_pictures.elements import Box, Detection, PictureElement, Shape, TextElement
from heald_pictures.rect import Rect, hull
from vision_pages import PNG, box, picture, seen, text

_PATH = "M21 21l-4.34-4.34" + "m0 0a8 8 0 1 0 1 1" * 4


def icon(x: float, y: float, name: str, side: float = 16) -> PictureElement:
    shapes = (Shape("path", (("d", f"{_PATH} {len(name)}"),)),)
    paint = (("fill", "none"), ("stroke", "currentColor"), ("stroke-width", "2"))
    drawn = PictureElement(Rect(x, y, side, side), "icon", f"icon-{x:g}-{y:g}", PNG, shapes=shapes, colour="#374151")
    return replace(drawn, icon=name, view="0 0 24 24", paint=paint)


def _find(detection: Detection, tag: str) -> list[Node]:
    return [node for node in walk_nodes(arrange(detection).body) if node.tag == tag]


def _code(x: float, y: float, words: str, colour: str = "#e2e8f0") -> TextElement:
    plain = text(x, y, words, 14, 400, colour)
    style = replace(plain.style, family="mono")
    line = replace(plain.lines[0], style=style)
    return replace(plain, lines=(line,), style=style)


def test_boxes_with_an_icon_alone_in_a_row_are_buttons_with_a_label() -> None:
    tools = [
        part
        for x, name in ((80, "search"), (130, "trash-2"), (180, ""), (230, "chevron-left"))
        for part in (box(x, 200, 36, 36, "#ffffff", border=True, radius=8), icon(x + 10, 210, name))
    ]
    buttons = _find(seen(text(80, 40, "Tools of a harbour", 30, 700), *tools), "button")
    assert [dict(node.attributes)["aria-label"] for node in buttons] == ["Search", "Delete", "Action", "Previous"]


def test_the_plate_of_an_icon_above_a_title_is_no_button() -> None:
    cards = [
        part
        for x in (80, 480)
        for part in (
            box(x, 200, 48, 48, "#e0e7ff", radius=10),
            icon(x + 14, 214, "truck", 20),
            text(x, 270, f"Fast delivery {x}", 20, 700),
            text(x, 310, "We check every delivery twice before it leaves the house.", 14),
        )
    ]
    assert not _find(seen(text(80, 40, "Why it is good", 34, 700), *cards), "button")


def test_words_beside_the_chosen_one_in_a_box_are_buttons() -> None:
    parts = [box(80, 200, 250, 38, "#e5e7eb", radius=8), box(83, 203, 70, 32, "#ffffff", radius=6)]
    parts += [text(106, 211, "Day", 14), text(175, 211, "Week", 14), text(250, 211, "Month", 14)]
    buttons = _find(seen(text(80, 40, "Calendar of a choir", 30, 700), *parts), "button")
    assert len(buttons) == 3


def test_what_was_typed_is_a_value_and_what_is_pale_a_placeholder() -> None:
    fields = [box(80, y, 400, 44, "#ffffff", border=True, radius=6) for y in (120, 200, 280)]
    words = [
        text(94, 134, "Marta", 15),
        text(94, 214, "Your name", 15, 400, "#757575"),
        text(94, 294, "05/14/2026", 15),
    ]
    inputs = [dict(node.attributes) for node in _find(seen(*fields, *words, picture(450, 294, 14, 14)), "input")]
    assert [attributes.get("value", "") for attributes in inputs] == ["Marta", "", "2026-05-14"]
    assert inputs[1]["placeholder"] == "Your name"
    assert [attributes["type"] for attributes in inputs] == ["text", "text", "date"]


def test_places_with_arrows_between_them_are_a_trail() -> None:
    parts = [text(80, 100, "Home", 13), icon(124, 101, "chevron-right", 12), text(146, 100, "Boards", 13)]
    parts += [icon(200, 101, "chevron-right", 12), text(222, 100, "Harbour works", 13)]
    page = seen(text(80, 20, "Tidewell", 20, 700), *parts, text(80, 160, "Harbour works of the north", 34, 700))
    [trail] = [node for node in _find(page, "nav") if ("aria-label", "Breadcrumb") in node.attributes]
    assert [node.lines for node in walk_nodes((trail,)) if node.tag == "a"] == [("Home",), ("Boards",)]


def test_lines_of_code_in_a_box_are_preformatted() -> None:
    parts = [box(80, 120, 600, 140, "#0f172a", radius=8), _code(98, 138, "def greet():"), _code(98, 206, "greet()")]
    wide = _code(0, 0, "0").rect.w
    parts += [_code(98 + 4 * wide, 160.6, "return"), _code(98 + 11 * wide, 160.6, "1", "#f59e0b")]
    page = arrange(seen(text(80, 40, "How it is called", 30, 700), *parts))
    for stack in STACKS:
        if stack == "svg":
            continue
        written = "\n".join(str(content) for content in write_files(page, stack).values() if isinstance(content, str))
        assert "<pre" in written
        plain = written.replace('{"', "").replace('"}', "").replace("\\n", "\n")
        assert "def greet():\n    return" in plain, stack
        assert "\n\ngreet()" in plain, stack


def test_lines_of_code_that_are_too_long_do_not_widen_the_page() -> None:
    rows = [_code(98, 138, "def greet():"), _code(98, 160.6, "    return 1"), _code(98, 183.2, "greet()")]
    page = arrange(seen(text(80, 40, "How it is called", 30, 700), box(80, 120, 600, 140, "#0f172a", radius=8), *rows))
    assert "pre { overflow-x: auto; }" in str(write_files(page)["index.html"])
    tailwind = str(write_files(page, "html_tailwind")["index.html"])
    assert all("overflow-x-auto" in opened for opened in re.findall(r"<pre[^>]*>", tailwind))


def test_slanted_words_in_code_are_the_only_slanted_ones() -> None:
    slanted = _code(98, 160.6, "# a remark")
    slanted = replace(slanted, style=replace(slanted.style, italic=True))
    slanted = replace(slanted, lines=(replace(slanted.lines[0], style=slanted.style),))
    rows = [_code(98, 138, "def greet():"), slanted, _code(98, 183.2, "greet()")]
    page = arrange(seen(text(80, 40, "How it is called", 30, 700), box(80, 120, 600, 140, "#0f172a", radius=8), *rows))
    html = str(write_files(page)["index.html"])
    [name] = re.findall(r'<span class="([^"]+)"># a remark</span>', html)
    assert re.search(rf"\.{name} {{[^}}]*font-style: italic", html)
    assert "italic" not in "".join(re.findall(r"<pre[^>]*>", html))


def test_lines_of_code_that_reach_over_each_other_are_preformatted() -> None:
    rows = [_code(98, 138, "def greet():"), _code(98, 152, "return 1"), _code(98, 166, "greet()")]
    first, second, third = (Part("text", row.rect, text=row) for row in rows)
    layers = Part("layers", hull((first.rect, second.rect)), (first, second))
    around = box(80, 120, 600, 140, "#0f172a")
    block = mark_code(Part("stack", around.rect, (layers, third), box=around))
    assert [child.tag for child in block.children] == ["pre"]


def test_icons_are_written_by_their_name_in_react_and_vue() -> None:
    marks = [icon(80 + 60 * at, 300, name, 20) for at, name in enumerate(("bell", "bell", "heart"))]
    page = arrange(seen(text(80, 40, "Signs of a harbour", 30, 700), *marks))
    react, vue = (str(write_files(page, stack)["index.html"]) for stack in ("react_tailwind", "vue_tailwind"))
    assert len(re.findall('<Icon [^>]*name="bell"', react)) == 2
    assert len(re.findall('<app-icon [^>]*name="bell"', vue)) == 2
    for html in (react, vue):
        assert html.count(_PATH) == 2
    files = write_files(page, "react_vite")
    assert "export const ICONS" in str(files["src/data/icons.js"])
    assert "/Icon.jsx" in str(files["src/App.jsx"]) + "".join(str(text) for text in files.values())


def _labels(detection: Detection) -> list[str]:
    return [dict(node.attributes).get("aria-label", "") for node in _find(detection, "button")]


def test_icons_for_something_to_do_are_buttons_where_no_words_are_near() -> None:
    head = text(80, 40, "Spring release of the harbour", 30, 700)
    column = [text(80, 200, "Doing now", 16, 700), icon(400, 200, "ellipsis", 18)]
    assert _labels(seen(head, *column)) == ["More"]
    player = [
        icon(80 + 60 * number, 300, name, 24) for number, name in enumerate(("shuffle", "skip-back", "", "pause"))
    ]
    assert _labels(seen(head, *player)) == ["Shuffle", "Skip back", "Action", "Pause"]


def test_icons_beside_their_words_and_pictures_of_things_are_no_buttons() -> None:
    head = text(80, 40, "Spring release of the harbour", 30, 700)
    labelled = [
        icon(80, 200, "phone"),
        text(104, 200, "+45 33 12 00 00"),
        icon(300, 200, "bell"),
        text(324, 200, "Daily"),
    ]
    assert _labels(seen(head, *labelled)) == []
    things = [icon(80 + 200 * number, 300, name, 24) for number, name in enumerate(("truck", "sailboat", "tent"))]
    assert _labels(seen(head, *things)) == []


def test_a_narrow_column_of_icons_is_buttons() -> None:
    rail = [icon(21, 30 + 52 * number, name, 22) for number, name in enumerate(("house", "calendar", "map"))]
    beside = [text(200, 40, "Good morning to everybody", 30, 700), text(200, 100, "Nothing is new since last night.")]
    assert _labels(seen(*rail, *beside)) == ["Home", "Calendar", "Map"]


def test_initials_on_a_disc_and_sentences_in_a_box_are_no_buttons() -> None:
    head = text(80, 40, "Messages of the crew", 30, 700)
    person = [box(80, 200, 40, 40, "#db2777", radius=20), text(88, 211, "ML", 14, 700, "#ffffff")]
    message = [
        box(80, 300, 262, 44, "#4338ca", radius=16),
        text(96, 312, "Do we still meet there today?", 15, 400, "#ffffff"),
    ]
    assert _labels(seen(head, *person, *message)) == []
    command = [box(80, 300, 162, 44, "#4338ca", radius=16), text(112, 312, "Send message", 15, 400, "#ffffff")]
    assert len(_labels(seen(head, *person, *command))) == 1


def test_a_magnifier_before_words_in_a_wide_box_is_a_search_field() -> None:
    head = text(80, 40, "Trails of the coast", 30, 700)
    parts = [box(80, 200, 340, 44, "#e2e8f0", radius=12), icon(94, 214, "search"), text(122, 212, "Lakes and huts", 15)]
    [field] = _find(seen(head, *parts), "input")
    assert dict(field.attributes)["type"] == "search"


def test_words_that_ask_for_input_at_the_left_of_a_box_without_a_frame_are_a_field() -> None:
    head = text(80, 40, "Tools of a harbour", 30, 700)
    bar = [box(0, 100, 1280, 60, "#7b2d8e"), box(900, 112, 240, 34, "#ffffff")]
    asked = seen(head, *bar, text(912, 120, "Search the harbour", 14, colour="#777777"))
    (field,) = _find(asked, "input")
    assert dict(field.attributes)["placeholder"] == "Search the harbour"
    assert not _find(seen(head, *bar, text(912, 120, "Case studies", 14)), "input")


@pytest.mark.parametrize(("weight", "expected"), [(700, 0), (400, 1)])
def test_bold_words_at_the_left_of_a_frame_are_not_in_a_field(weight: int, expected: int) -> None:
    frame = box(105, 334, 315, 56, "#f9f9f9", border=True)
    label, below = text(105, 308, "Name of the list", 16), text(80, 600, "Words below the box.", 16)
    page = seen(label, frame, text(122, 352, "Add to Cart", 18, weight), below, height=700)
    assert len(_find(page, "input")) == expected


@pytest.mark.parametrize(("others", "expected"), [((), ["2"]), (("3", "4"), [])])
def test_the_only_framed_number_beside_a_button_is_a_quantity(others: tuple[str, ...], expected: list[str]) -> None:
    frames = [box(100 + 60 * at, 300, 48, 40, "#ffffff", border=True) for at in range(1 + len(others))]
    numbers = [text(112 + 60 * at, 311, number, 15) for at, number in enumerate(("2", *others))]
    button = [box(300, 300, 160, 40, "#1d4ed8"), text(340, 311, "Add to cart", 15, 600, "#ffffff")]
    page = seen(text(80, 40, "Ropes and knots", 30, 700), *frames, *numbers, *button, height=640)
    assert [dict(field.attributes)["value"] for field in _find(page, "input")] == expected


def test_a_long_box_with_grey_words_is_a_field_though_it_has_no_frame() -> None:
    parts = [part for y, name in ((200, "Boat"), (290, "Berth"), (380, "Notes")) for part in _labelled(y, name)]
    page = seen(text(80, 40, "Book a berth", 30, 700), *parts, box(80, 560, 160, 44, "#1d4ed8"))
    fields = [dict(node.attributes) for node in _find(page, "input")]
    assert [field["placeholder"] for field in fields] == ["Name of the boat"] * 3


def _labelled(y: float, name: str) -> list[TextElement | Box]:
    words = text(96, y + 36, "Name of the boat", 14, colour="#757575")
    return [text(80, y, name, 14), box(80, y + 24, 560, 42, "#f5f7fa"), words]


def test_bars_of_one_shape_are_titles_though_the_words_of_one_ask_for_something() -> None:
    bars: list[TextElement | Box] = []
    for at, words in enumerate(("Related pages", "This page", "Search the site")):
        bars += [box(80, 200 + 120 * at, 300, 30, "#dfe7ea", border=True), text(90, 206 + 120 * at, words, 15)]
        bars.append(text(80, 250 + 120 * at, "Tides of the northern harbour are listed here.", 15))
    assert not _find(seen(text(80, 40, "Harbours", 30, 700), *bars), "input")


def test_words_that_show_how_to_write_a_date_are_a_placeholder() -> None:
    frame = box(80, 200, 110, 28, "#f2f8fb", border=True)
    (field,) = _find(seen(text(80, 40, "Stay with us", 30, 700), frame, text(87, 206, "MM/DD/YYYY", 13)), "input")
    assert "MM/DD/YYYY" in dict(field.attributes).values()


def test_words_that_ask_in_other_words_and_languages_are_a_placeholder() -> None:
    title, frame = text(80, 40, "Stay with us", 30, 700), box(80, 200, 300, 34, "#f2f8fb", border=True)
    for words in ("What are you looking for?", "Looking for a mooring…", "Passwort", "Correo electrónico *"):
        (field,) = _find(seen(title, frame, text(92, 209, words, 14, colour="#555555")), "input")
        assert words in dict(field.attributes).values()


def test_an_empty_white_box_with_round_ends_is_a_field_also_without_a_frame() -> None:
    title, band = text(80, 40, "Stay with us", 30, 700), box(0, 90, 1280, 180, "#f7edc5")
    for radius, fill, expected in ((25, "#ffffff", 1), (0, "#ffffff", 0), (25, "#cc3344", 0)):
        pill = box(366, 150, 609, 53, fill, radius=radius)
        assert len(_find(seen(title, band, pill), "input")) == expected
