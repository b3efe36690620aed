"""Sentences in several styles, links, forms, captions and layers: what arranged parts become."""

import re
from dataclasses import replace

from heald_local.arrange.page import arrange
from heald_local.page import Node, walk_nodes
from heald_local.write.stacks import STACKS, write_files
from heald_pictures.elements import Detection, TextElement
from heald_pictures.fonts import face
from vision_pages import box, picture, seen, text


def _after(first: TextElement, words: str, colour: str, weight: int = 400) -> TextElement:
    return text(first.rect.right + 0.28 * 16, first.rect.y, words, 16, weight, colour)


def _account() -> Detection:
    question = text(80, 300, "Already have an account?")
    link = _after(question, "Sign in", "#1d4ed8")
    bold = _after(link, "today", "#1f2937", 700)
    others = [text(80, 400 + 60 * at, f"Plain words of a longer line {at}") for at in range(3)]
    return seen(text(80, 60, "Welcome", 36, 700), question, link, bold, *others)


def _tags(detection: Detection) -> list[str]:
    return [node.tag for node in walk_nodes(arrange(detection).body)]


def test_runs_of_a_sentence_are_one_paragraph_with_a_link_and_bold_words() -> None:
    html = str(write_files(arrange(_account()))["index.html"])
    assert 'Already have an account? <a href="#">Sign in</a> <b' in html.replace(' class="link"', "")
    assert ">today</b></p>" in html
    for stack in STACKS:
        written = "".join(str(content) for content in write_files(arrange(_account()), stack).values())
        assert "Sign in" in written, stack


def test_a_link_that_hardly_differs_from_the_words_around_it_is_underlined() -> None:
    underlined: dict[str, bool] = {}
    for colour in ("#be123c", "#60a5fa"):
        words = text(80, 300, "The boats leave at noon;")
        page = seen(text(80, 60, "Welcome", 36, 700), words, _after(words, "book a seat", colour))
        [link] = [node for node in walk_nodes(arrange(page).body) if node.tag == "a"]
        underlined[colour] = ("text-decoration", "underline") in link.style
    assert underlined == {"#be123c": True, "#60a5fa": False}


def _as_code(element: TextElement, size: float = 14.4) -> TextElement:
    """The same place in a typeface for code."""
    style = replace(element.style, family="mono", size=size, colour="#be185d")
    width = face("mono").advance(element.text) * size
    line = replace(element.lines[0], style=style, rect=replace(element.lines[0].rect, w=width))
    return replace(element, lines=(line,), style=style, rect=replace(element.rect, w=width))


def _with_code(y: float, before: str, code: str, after: str, gap: float = 10.0) -> list[TextElement]:
    first = text(80, y, before)
    middle = _as_code(text(first.rect.right + 10, y, code))
    return [first, middle, text(middle.rect.right + gap, y, after)]


def test_code_with_room_around_it_is_part_of_its_sentence() -> None:
    page = seen(
        text(80, 60, "Welcome", 36, 700), *_with_code(300, "Harbours call", "berth.open()", "before a boat leaves")
    )
    html = re.sub(r' class="[^"]*"', "", str(write_files(arrange(page))["index.html"]))
    assert "<p>Harbours call <code>berth.open()</code> before a boat leaves</p>" in html
    [code] = [node for node in walk_nodes(arrange(page).body) if node.tag == "code"]
    assert dict(code.style)["font-size"] == "14.4px"
    assert dict(code.style)["padding"] == "0 5.7px"


def test_a_value_in_a_typeface_for_code_far_from_its_name_stays_apart() -> None:
    name, value = text(80, 300, "Harbour"), _as_code(text(200, 300, "hb-204"))
    assert "code" not in _tags(seen(text(80, 60, "Welcome", 36, 700), name, value))


def test_a_paragraph_with_code_is_one_text_even_where_a_line_begins_with_code() -> None:
    rows = _with_code(300, "Passing a number to the harbour of", "berth.open()", "gives the boat a place")
    code = _as_code(text(84, 322, "boat.leave()"))
    below = text(code.rect.right + 10, 322, "frees it again at the end of a long season on the water.")
    page = seen(text(80, 60, "Welcome", 36, 700), *rows, code, below)
    [paragraph] = [
        node for node in walk_nodes(arrange(page).body) if any(child.tag == "code" for child in node.children)
    ]
    assert [child.lines[0] for child in paragraph.children if child.tag == "code"] == ["berth.open()", "boat.leave()"]


def test_words_over_a_paragraph_that_are_not_its_own_keep_its_lines_apart() -> None:
    rows = _with_code(300, "Passing a number to the harbour of", "berth.open()", "gives the boat")
    stray = text(rows[-1].rect.right + 60, 300, "a place", 22)
    code = _as_code(text(84, 322, "boat.leave()"))
    below = text(code.rect.right + 10, 322, "frees it again at the end of a long season on the water, or later on.")
    page = seen(text(80, 60, "Welcome", 36, 700), *rows, stray, code, below)
    assert max(sum(child.tag == "code" for child in node.children) for node in walk_nodes(arrange(page).body)) == 1


def _signed_rows(sign: str = "/", gap: float = 4.0) -> list[TextElement]:
    """Two rows of links with signs between them, some of which were read together with the links around them."""
    rows = (
        ("Harbour news", sign, "Boats", sign, f"Berths {sign} Prices {sign} About the harbour"),
        (f"{sign} Contact",),
    )
    parts: list[TextElement] = []
    for number, row in enumerate(rows):
        x = 80.0
        for words in row:
            parts.append(text(x, 400 + 22 * number, words, colour="#333333" if words == sign else "#1d6fb8"))
            x = parts[-1].rect.right + gap
    return parts


def test_links_with_a_sign_between_them_are_links_of_one_paragraph_in_the_colour_of_the_sign() -> None:
    page = seen(text(80, 60, "Welcome", 36, 700), *_signed_rows())
    nodes = walk_nodes(arrange(page).body)
    [paragraph] = [node for node in nodes if sum(child.tag == "a" for child in node.children) > 2]
    links = [child.lines[0] for child in paragraph.children if child.tag == "a"]
    assert links == ["Harbour news", "Boats", "Berths", "Prices", "About the harbour", "Contact"]
    assert dict(paragraph.style)["color"] == "#333333"
    assert {child.tag for child in paragraph.children} == {"", "a"}


def test_words_far_from_each_other_stay_apart() -> None:
    total = text(80, 300, "Total")
    page = seen(text(80, 60, "Receipt", 36, 700), total, text(300, 300, "Nine", colour="#1d4ed8"))
    assert "b" not in _tags(page)
    assert [node.lines for node in walk_nodes(arrange(page).body) if node.lines == ("Total",)]


def test_short_texts_in_the_colour_of_links_are_links_and_others_are_not() -> None:
    more, heading = text(80, 300, "Read more", colour="#2563eb"), text(80, 200, "Our boats", 40, 700, "#2563eb")
    plain = [text(80, 360 + 40 * at, f"A line of plain words {at} that goes on") for at in range(4)]
    tags = {node.lines: node.tag for node in walk_nodes(arrange(seen(heading, more, *plain)).body) if node.lines}
    assert tags["Read more",] == "a"
    assert tags["Our boats",] == "h1"
    assert "a" not in {tag for lines, tag in tags.items() if lines[0].startswith("A line")}


def test_words_side_by_side_in_the_middle_of_a_page_are_no_navigation() -> None:
    brands = [text(80 + 240 * at, 500, name, 18) for at, name in enumerate(("Halden", "Okto", "Mapleway", "Kiln"))]
    assert "nav" not in _tags(seen(text(80, 60, "They trust us", 40, 700), *brands))
    links = [text(600 + 120 * at, 30, name, 15) for at, name in enumerate(("Shop", "Journal", "About"))]
    assert "nav" in _tags(seen(text(80, 28, "Harbour", 20, 700), *links, text(80, 300, "They trust us", 40, 700)))


def test_fields_and_a_button_are_a_form_that_the_button_sends() -> None:
    parts = [
        text(440, 60, "Sign in", 32, 700),
        text(440, 130, "Email", 15),
        box(440, 152, 400, 44, "#ffffff", border=True, radius=6),
        text(456, 164, "you@example.org", 15),
        box(440, 230, 400, 46, "#1d4ed8", radius=6),
        text(604, 243, "Continue", 16, 700, "#ffffff"),
    ]
    page = arrange(seen(*parts))
    (form,) = [node for node in walk_nodes(page.body) if node.tag == "form"]
    inside = walk_nodes((form,))
    assert {"input", "button"} <= {node.tag for node in inside}
    assert [dict(node.attributes)["type"] for node in inside if node.tag == "button"] == ["submit"]
    assert "form" not in _tags(seen(text(80, 60, "Only words", 32, 700), box(80, 200, 200, 44, "#1d4ed8", radius=6)))


def test_a_photograph_is_described_by_the_heading_beside_it() -> None:
    page = arrange(seen(picture(80, 80, 400, 260), text(80, 360, "The old harbour", 28, 700), text(80, 420, "Words.")))
    (photo,) = [node for node in walk_nodes(page.body) if node.tag == "img"]
    assert ("alt", "The old harbour") in photo.attributes
    small = arrange(seen(picture(80, 80, 30, 30), text(80, 360, "The old harbour", 28, 700)))
    assert [("alt", "") in node.attributes for node in walk_nodes(small.body) if node.tag == "img"] == [True]


def test_text_is_painted_after_the_box_and_the_photograph_under_it() -> None:
    """Parts that no line divides: a photograph, a box over its corner, a text over both."""
    words = text(300, 240, "Over both of them", 24, 700)
    wide = replace(words, rect=replace(words.rect, w=420))
    page = arrange(seen(picture(80, 80, 400, 260), box(380, 200, 300, 240, "#ffffff"), wide))
    order = [node.tag for node in walk_nodes(page.body) if node.tag == "img" or node.lines]
    assert order.index("img") < len(order) - 1
    layered = [node for node in walk_nodes(page.body) if any(_is_layer(child) for child in node.children)]
    assert all(not child.lines for node in layered for child in node.children[:1])
    assert not any("position" in dict(node.style) for node in walk_nodes(page.body))


def _is_layer(node: Node) -> bool:
    return ("grid-area", "1 / 1") in node.style


def test_a_large_grid_has_its_number_of_columns_at_its_own_width() -> None:
    cards = [
        part
        for at in range(6)
        for part in (
            box(92 + 373 * (at % 3), 200 + 260 * (at // 3), 349, 220, "#eef2ff", radius=8),
            text(116 + 373 * (at % 3), 230 + 260 * (at // 3), f"Card {at}", 20, 700),
        )
    ]
    page = arrange(seen(text(92, 80, "Every harbour", 32, 700), *cards))
    (grid,) = [node for node in walk_nodes(page.body) if "grid-template-columns" in dict(node.style)]
    style = dict(grid.style)
    least = float(style["grid-template-columns"].partition("100%, ")[2].partition("px")[0])
    room = float(style["max-width"].removesuffix("px"))
    assert 3 * least + 2 * 24 < room < 4 * least + 3 * 24
