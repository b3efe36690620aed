"""Controls in the default style of browsers, and boxes that only look like fields."""

from dataclasses import replace

from heald_local.arrange.page import arrange
from heald_local.page import Node, walk_nodes
from heald_local.see.native_ticks import mark_native_ticks
from heald_pictures.elements import Border, Box, Detection, PictureElement, TextElement
from heald_pictures.rect import Rect
from vision_pages import box, picture, seen, text

FRAME = Border((1.0, 1.0, 1.0, 1.0), "#767676")
TITLE = text(80, 20, "Orders of a harbour", 30, 700)


def _native(x: float, y: float, w: float, h: float, fill: str = "#ffffff") -> Box:
    return replace(box(x, y, w, h, fill), border=FRAME)


def _controls(detection: Detection) -> list[Node]:
    tags = ("input", "select", "textarea", "button")
    return [node for node in walk_nodes(arrange(detection).body) if node.tag in tags]


def _tags(*elements: TextElement | Box | PictureElement) -> list[str]:
    return [node.tag for node in _controls(seen(TITLE, *elements))]


def test_small_native_controls_are_found() -> None:
    field = _native(80, 100, 154, 19)
    select = [_native(80, 160, 300, 19), text(86, 162, "Large", 13), picture(364, 166, 10, 7)]
    button = [_native(80, 220, 84, 20, "#efefef"), text(90, 222, "Send it", 13)]
    assert _tags(field, *select, *button) == ["input", "select", "button"]


def test_a_box_with_a_grip_is_a_text_area_without_a_label() -> None:
    area = box(80, 200, 500, 90, "#d8d8d8", border=True)
    assert _tags(area, picture(570, 280, 8, 8)) == ["textarea"]


def test_words_in_the_grey_of_placeholders_are_a_field_even_if_they_nearly_fill_it() -> None:
    words = text(88, 210, "search the whole network", 14, 400, "#757575")
    frame = box(80, 200, words.rect.w + 18, 34, "#ffffff", border=True)
    node = _controls(seen(TITLE, frame, words))[0]
    assert node.tag == "input"
    assert dict(node.attributes)["placeholder"] == "search the whole network"


def test_items_of_a_list_sentences_and_titles_are_not_fields() -> None:
    frames = [box(80, y, 900, 40, "#ffffff", border=True) for y in (100, 150, 200)]
    words = [text(96, y + 10, f"Bucket {y}", 16) for y in (100, 150, 200)]
    assert _tags(*frames, *words) == []
    sentence = text(96, 110, "More examples are on the other page.", 16)
    assert _tags(frames[0], sentence) == []
    title = text(96, 110, "Other problems of the electrical system of this boat", 16)
    assert _tags(frames[0], title) == []


def test_a_small_square_in_the_native_colours_is_a_check_box_with_its_state() -> None:
    off, on = Box(Rect(20, 20, 13, 13), "#ffffff", 2.0, FRAME), Box(Rect(20, 60, 13, 13), "#0075ff", 2.0)
    ring = Box(Rect(20, 100, 13, 13), "#ffffff", 6.5, FRAME)
    card = Box(Rect(0, 0, 200, 200), "#ffffff", 0.0, FRAME)
    boxes, pictures = mark_native_ticks([card, off, on, ring], [picture(22, 63, 9, 7), picture(100, 63, 9, 7)])
    states = [(made.control.kind, made.control.on) for made in boxes if made.control is not None]
    assert states == [("checkbox", False), ("checkbox", True), ("radio", False)]
    assert [element.rect.x for element in pictures] == [100]


def test_a_prompt_in_the_corner_of_a_framed_box_makes_a_text_area() -> None:
    area = box(80, 200, 440, 100, "#ffffff", border=True)
    assert _tags(area, text(92, 210, "Your message", 14, 400, "#555555")) == ["textarea"]
    assert _tags(area, text(92, 210, "Harbour of Bergen", 14, 400, "#555555")) == []


def test_a_low_framed_box_with_a_prompt_is_a_field() -> None:
    frame = box(80, 200, 212, 20, "#ffffff", border=True)
    assert _tags(frame, text(86, 203, "Search boats", 12, 400, "#555555")) == ["input"]
    assert _tags(frame, text(86, 203, "Twelve boats", 12, 400, "#555555")) == []


def test_words_that_name_what_is_typed_are_prompts_in_a_box_without_a_frame() -> None:
    for words in ("Phone number", "Last name*", "Boat search", "Buscar..."):
        assert _tags(box(80, 200, 300, 36, "#eaeaea"), text(92, 210, words, 14, 400, "#333333")) == ["input"]
    assert _tags(box(80, 200, 300, 36, "#eaeaea"), text(92, 210, "Names of boats", 14, 400, "#333333")) == []


def test_even_lines_in_the_native_frame_are_the_choices_of_a_list_box() -> None:
    choices = [text(86, 103 + 17 * at, name, 14) for at, name in enumerate(("Berth 1", "Berth 2", "Quay"))]
    (node,) = _controls(seen(TITLE, _native(80, 100, 300, 60), *choices))
    assert (node.tag, dict(node.attributes)["size"]) == ("select", "3")
    assert [option.lines for option in node.children] == [("Berth 1",), ("Berth 2",), ("Quay",)]
    uneven = [*choices[:2], text(86, 145, "Quay", 14)]
    assert _tags(_native(80, 100, 300, 70), *uneven) == []


def test_the_placeholders_in_one_white_box_are_a_field_each() -> None:
    frame = box(80, 200, 800, 48, "#ffffff", border=True)
    trade, place, other = (
        text(x, 215, words, 16, 400, "#989898")
        for x, words in ((100, "Bakers, florists..."), (520, "City or ZIP"), (520, "5 comments"))
    )
    nodes = _controls(seen(TITLE, frame, trade, place))
    assert [dict(node.attributes).get("placeholder") for node in nodes] == ["Bakers, florists...", "City or ZIP"]
    assert _tags(frame, trade, other) == []


def test_a_prompt_in_the_grey_of_placeholders_is_a_field_without_a_frame() -> None:
    names = [text(80 + 120 * at, 100, name, 15) for at, name in enumerate(("Boats", "Prices", "Crew"))]
    search = text(600, 100, "Search", 15, 400, "#757575")
    assert _tags(*names, search) == ["input"]
    assert _tags(*(replace(name, style=search.style) for name in names), search) == []


def test_a_prompt_above_a_line_that_is_longer_is_a_field() -> None:
    search, line = text(600, 100, "SEARCH", 13, colour="#9a9a9a"), box(600, 117, 120, 1, "#898989")
    names = [text(300 + 120 * at, 100, name, 13) for at, name in enumerate(("Boats", "Prices"))]
    assert _tags(*names, search, line) == ["input"]
    assert _tags(*names, search, box(600, 117, 52, 1, "#898989")) == []


def test_framed_numbers_below_their_labels_are_fields() -> None:
    frames = [box(80 + 60 * at, 200, 44, 30, "#f2f8fb", border=True) for at in range(3)]
    digits = [text(88 + 60 * at, 207, f"{at}", 13) for at in range(3)]
    labels = [text(80 + 60 * at, 180, name, 13) for at, name in enumerate(("Adults", "Youth", "Dogs"))]
    assert _tags(*frames, *digits, *labels) == ["input", "input", "input"]


def test_prompts_farther_inside_a_box_and_behind_a_mark_are_fields() -> None:
    tall = box(80, 200, 400, 62, "#ffffff")
    assert _tags(box(60, 180, 800, 120, "#f4f4f4"), tall, text(112, 222, "Enter your email address", 16)) == ["input"]
    white = box(80, 200, 160, 32, "#ffffff")
    band = box(60, 180, 800, 120, "#eeeeee")
    assert _tags(band, white, picture(91, 211, 10, 12), text(110, 207, "Search", 14, 400, "#6e6e6e")) == ["input"]


def test_a_framed_number_beside_a_wide_box_in_the_same_frame_is_a_quantity() -> None:
    number, order = box(80, 200, 50, 56, "#f9f9f9", border=True), box(150, 200, 320, 56, "#f9f9f9", border=True)
    words = [text(98, 217, "1", 18, 700), text(170, 217, "Add to cart", 18, 700), text(400, 217, "$ 30.00", 18, 700)]
    assert "input" in _tags(number, order, *words)


def test_bold_words_in_a_box_across_a_page_unfold_something_and_are_no_select() -> None:
    for width, weight, tags in ((984, 700, []), (984, 400, ["select"]), (300, 700, ["select"])):
        bar = replace(box(148, 200, width, 42, "#e5e0dd"), border=Border((1.0, 1.0, 1.0, 1.0), "#7f6a59"))
        words, mark = text(160, 212, "More of this book", 13, weight), picture(148 + width - 31, 218, 16, 10)
        assert _tags(bar, words, mark) == tags
