"""Boxes that look like fields: what stands around them tells which ones are."""

from dataclasses import replace

from heald_local.arrange.page import arrange
from heald_local.page import Node, walk_nodes
from heald_pictures.elements import Border, Box, PictureElement, TextElement
from heald_pictures.rect import Rect
from vision_pages import box, seen, text

TITLE = text(80, 20, "Notices of a harbour", 30, 700)
END = text(80, 700, "The office is on the quay.", 16)


def _fields(*elements: TextElement | Box | PictureElement) -> list[Node]:
    body = arrange(seen(TITLE, *elements, END)).body
    return [node for node in walk_nodes(body) if node.tag in ("input", "select", "textarea")]


def test_a_framed_notice_is_not_a_field() -> None:
    frame = box(80, 160, 630, 44, "#ffffff", border=True)
    words = text(96, 172, "Quay 4 is closed", 15)
    assert _fields(frame, words) == []
    assert len(_fields(frame, words, text(80, 138, "Remark", 14, 700))) == 1
    button = [box(720, 160, 90, 44, "#1d4ed8"), text(740, 172, "Save", 15, 600, "#ffffff")]
    assert len(_fields(frame, words, *button)) == 1


def test_items_whose_first_words_could_ask_for_something_are_not_fields() -> None:
    names = ("Boats", "Crew", "Email lists")
    frames = [box(80, 160 + 43 * at, 222, 43, "#ffffff", border=True) for at in range(3)]
    words = [text(92, 172 + 43 * at, name, 15) for at, name in enumerate(names)]
    assert _fields(*frames, *words) == []


def test_cards_side_by_side_on_a_dark_page_are_not_fields() -> None:
    frames = [box(80 + 282 * at, 160, 270, 64, "#1b2330", border=True) for at in range(3)]
    names = ("Wind 12 knots", "Visibility", "Name: Fulmar")
    words = [text(94 + 282 * at, 180, name, 14, colour="#cfd6e0") for at, name in enumerate(names)]
    ground = box(0, 100, 1280, 400, "#10151c")
    assert _fields(ground, *frames, *words) == []


def test_a_tinted_box_without_words_is_a_field_only_in_a_form() -> None:
    frame = box(80, 200, 300, 50, "#eeeeee", border=True)
    assert _fields(frame) == []
    assert len(_fields(frame, text(80, 176, "Town", 14))) == 1


def test_commands_and_long_sentences_in_a_box_are_not_prompts() -> None:
    panel = box(80, 160, 520, 43, "#222c3c", border=True)
    line = text(92, 172, "search --port bergen", 13, colour="#cfd6e0")
    style = replace(line.style, family="mono")
    line = replace(line, style=style, lines=tuple(replace(each, style=style) for each in line.lines))
    assert _fields(panel, line) == []
    plain = box(80, 160, 392, 45)
    assert _fields(plain, text(96, 172, "Your ship is due at noon", 14)) == []


def test_grey_boxes_below_labels_are_fields_if_there_are_several() -> None:
    boxes = [box(30, 160 + 80 * at, 520, 44, "#f0f2f5") for at in range(3)]
    labels = [text(30, 138 + 80 * at, name, 14, 700) for at, name in enumerate(("E-mail", "Length", "Town"))]
    inside = [text(42, 172, "you@harbour.example", 15, colour="#757575"), text(42, 252, "12.5", 15)]
    assert len(_fields(*boxes, *labels, *inside)) == 3
    assert _fields(boxes[1], labels[1], inside[1]) == []


def test_a_value_behind_the_sign_of_its_currency_belongs_to_the_label_above_both() -> None:
    sign, amount = box(93, 205, 35, 38, "#e9ecef", border=True), box(127, 205, 205, 38, "#ffffff", border=True)
    words = [text(93, 180, "Amount", 16), text(106, 214, "$", 15), text(140, 214, "966", 16)]
    assert [dict(field.attributes)["value"] for field in _fields(sign, amount, *words)] == ["966"]


def test_ruled_words_of_a_list_are_not_fields() -> None:
    names = ("Name", "Harbour", "Phone")
    words = [text(80, 160 + 38 * at, name, 14) for at, name in enumerate(names)]
    lines = [Box(Rect(80, 186 + 38 * at, 360, 1), "#d1d5db") for at in range(3)]
    assert _fields(*words, *lines) == []


def test_a_frame_of_the_browser_needs_no_label() -> None:
    frame = Border((1.0, 1.0, 1.0, 1.0), "#767676")
    assert len(_fields(replace(box(80, 160, 200, 24, "#ffffff"), border=frame), text(86, 164, "Anna", 13))) == 1
