"""Colours moved as far as contrast asks, and no further."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald_local.arrange.page import ENOUGH, ENOUGH_LARGE, MOST, arrange, ensure_contrast, nudged
from heald_local.page import Node, Style, walk_nodes
from heald_pictures.colours import colour_distance, contrast, hex_colour
from vision_pages import box, seen, text

colours = st.tuples(*(st.integers(0, 255) for _ in range(3))).map(hex_colour)


def _text(colour: str, *style: tuple[str, str], words: str = "Read me") -> Node:
    return Node("p", "text", (("font-size", "14px"), ("color", colour), *style), lines=(words,))


def _on(ground: str, *children: Node, extra: Style = ()) -> Node:
    return Node("div", "box", (("background", ground), *extra), children=children)


def _colour(node: Node) -> str:
    return dict(node.style)["color"]


@given(colours, colours, st.sampled_from([ENOUGH, ENOUGH_LARGE]))
def test_a_colour_is_legible_then_or_as_it_was(colour: str, ground: str, least: float) -> None:
    moved = nudged(colour, ground, least)
    assert moved == colour or contrast(moved, ground) >= least
    assert colour_distance(moved, colour) <= MOST
    if contrast(colour, ground) >= least:
        assert moved == colour


@given(colours, colours)
def test_no_smaller_step_would_do(colour: str, ground: str) -> None:
    moved = nudged(colour, ground, ENOUGH)
    if moved == colour or colour_distance(moved, colour) < 2:
        return
    end = 0 if moved < colour else 255
    parts = [int(moved[at : at + 2], 16) for at in (1, 3, 5)]
    back = hex_colour(part + (2 if end == 0 else -2) if 2 <= part <= 253 else part for part in parts)
    assert contrast(back, ground) < ENOUGH + 0.15


def test_grey_on_a_tinted_row_is_darkened_only_there() -> None:
    grey = "#6b7280"
    row, page = _on("#c2dbff", _text(grey)), _text(grey)
    first, second = ensure_contrast((row, page), "#ffffff")
    assert contrast(_colour(first.children[0]), "#c2dbff") >= ENOUGH
    assert _colour(second) == grey


@pytest.mark.parametrize("ground", ["linear-gradient(90deg, #fff, #eee)", "#808080 url(assets/photo-1.png) 0 0"])
def test_nothing_is_reported_of_pictures_and_gradients(ground: str) -> None:
    (node,) = ensure_contrast((_on(ground, _text("#9ca3af")),), "#ffffff")
    assert _colour(node.children[0]) == "#9ca3af"


def test_large_text_needs_less_and_a_lone_sign_nothing() -> None:
    large = _text("#8a8f98", ("font-size", "24px"))
    bold = _text("#8a8f98", ("font-size", "19px"), ("font-weight", "700"))
    sign = _text("#fbbf24", words="★")
    assert [_colour(node) for node in ensure_contrast((large, bold, sign), "#ffffff")] == [
        "#8a8f98",
        "#8a8f98",
        "#fbbf24",
    ]


def test_what_is_far_from_legible_was_meant_so() -> None:
    (node,) = ensure_contrast((_text("#e5e7eb"),), "#ffffff")
    assert _colour(node) == "#e5e7eb"


def test_fields_have_words_too() -> None:
    style = (("background", "#ffffff"), ("font", "14px sans-serif"), ("color", "#7f858b"))
    field = Node("input", "field", style, attributes=(("placeholder", "Search mail"),))
    choice = Node("select", "select", style, children=(Node("option", "", lines=("Newest",)),))
    for node in ensure_contrast((field, choice), "#000000"):
        assert contrast(_colour(node), "#ffffff") >= ENOUGH


def test_a_layer_over_another_is_left_alone() -> None:
    layer = (("grid-area", "1 / 1"),)
    under = _on("#0f172a", extra=layer)
    over = _text("#9ca3af", *layer)
    (node,) = ensure_contrast((Node("div", "layers", children=(under, over)),), "#ffffff")
    assert _colour(node.children[1]) == "#9ca3af"


def test_an_arranged_page_is_legible() -> None:
    page = arrange(seen(box(0, 100, 1280, 60, "#dbeafe"), text(40, 120, "Thanks to all of you", 13, colour="#6b7280")))
    (node,) = [candidate for candidate in walk_nodes(page.body) if candidate.lines]
    assert contrast(_colour(node), "#dbeafe") >= ENOUGH
