"""Links and headings that trees tell by looks and place, and what becomes of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from heald_local.arrange.field_labels import find_field_labels
from heald_local.arrange.nesting import nest
from heald_local.arrange.page import arrange
from heald_local.arrange.part import Part
from heald_local.arrange.role_features import Item, describe_items, list_items
from heald_local.arrange.role_trees import RoleTrees, load_trees
from heald_local.arrange.roles import _assign_text, _find_barred, _is_apart, _is_marked, _may_lead, _Roles  # pyright: ignore[reportPrivateUsage]
from heald_local.arrange.semantics import mark_by_rules
from heald_local.page import Node, walk_nodes
from heald_pictures.elements import Detection, PictureElement, TextElement
from heald_pictures.rect import Rect
from vision_pages import PNG, box, picture, seen, text

LONG = "A long line of prose, number {}, that explains what to do now."


def _nodes(page: Detection) -> list[Node]:
    return walk_nodes(arrange(page).body)


def _page() -> Detection:
    menu = [text(700 + 110 * at, 30, name, 15) for at, name in enumerate(("Boats", "Prices", "Crew", "Contact"))]
    prose = [text(80, 300 + 40 * at, LONG.format(at), 16) for at in range(6)]
    links = [text(80, 600 + 40 * at, f"Berth {'abc'[at]}", 16, colour="#1d4ed8") for at in range(3)]
    foot = [box(0, 900, 1280, 120, "#111827"), text(80, 950, "© Harbour", 13, colour="#ffffff")]
    logo = picture(80, 20, 120, 40, 1)
    return seen(logo, *menu, text(80, 200, "Everything that floats", 40, 700), *prose, *links, *foot, height=1020)


def test_a_tree_leads_each_row_to_its_leaf() -> None:
    trees = RoleTrees(
        feature=np.array([1, -1, 0, -1, -1], np.int16),
        cut=np.array([5.0, 0, 2.0, 0, 0], np.float32),
        left=np.array([1, -1, 3, -1, -1], np.int16),
        value=np.array([0, -4.0, 0, 1.0, 4.0], np.float32),
        roots=np.array([0], np.int16),
        base=0.0,
    )
    chances = trees.predict(np.array([[9.0, 5.0], [2.0, 6.0], [3.0, 6.0]]))
    assert [round(float(chance), 2) for chance in chances] == [0.02, 0.73, 0.98]


def test_the_trees_ask_only_for_features_that_are_computed() -> None:
    page = _page()
    items = list_items(mark_by_rules(nest(page), page))
    features = describe_items(items, page)
    assert len(features) == len(items)
    assert np.isfinite(features).all()
    assert max(int(load_trees("link").feature.max()), int(load_trees("heading").feature.max())) < features.shape[1]


def test_a_menu_is_a_navigation_of_links_and_prose_is_neither_link_nor_heading() -> None:
    nodes = _nodes(_page())
    (menu,) = [node for node in nodes if node.tag == "nav"]
    assert [node.lines for node in walk_nodes(menu.children) if node.tag == "a"] == [
        ("Boats",),
        ("Prices",),
        ("Crew",),
        ("Contact",),
    ]
    assert [node.lines for node in nodes if node.tag == "h1"] == [("Everything that floats",)]
    assert {node.tag for node in nodes if node.lines and node.lines[0].startswith("A long line")} <= {"p", "li"}
    assert {node.tag for node in nodes if node.lines and node.lines[0].startswith("Berth")} == {"a"}
    assert "a" not in {node.tag for node in nodes if node.lines == ("© Harbour",)}


def test_a_linked_picture_has_a_name() -> None:
    linked = [
        node for node in _nodes(_page()) if node.tag == "a" and any(child.tag == "img" for child in node.children)
    ]
    assert linked
    assert all(dict(node.attributes).get("aria-label") for node in linked)


def test_no_navigation_is_without_a_link() -> None:
    for node in _nodes(_page()):
        assert node.tag != "nav" or any(child.tag == "a" for child in walk_nodes(node.children))


def test_a_row_of_icons_is_links_though_a_field_stands_far_from_them_in_the_row() -> None:
    head = box(0, 0, 1280, 70, "#111827")
    icons = [PictureElement(Rect(280 + 40 * at, 24, 24, 24), "icon", f"icon-{at}", PNG) for at in range(5)]
    search = [box(840, 20, 200, 30, "#ffffff", border=True), text(852, 27, "Search", 14, colour="#757575")]
    prose = [text(280, 300 + 40 * at, LONG.format(at), 16) for at in range(6)]
    nodes = _nodes(seen(head, *icons, *search, *prose, height=640))
    assert len([node for node in nodes if node.tag == "a" and not node.lines]) == len(icons)


def test_an_icon_that_marks_the_words_beside_it_is_not_a_link_of_its_own() -> None:
    items = list_items(mark_by_rules(nest(_marked_words()), _marked_words()))
    [icon] = [item for item in items if item.text is None]
    assert not _is_apart(icon)


@pytest.mark.parametrize(("height", "expected"), [(6, False), (9, True)])
def test_a_picture_as_low_as_a_line_is_no_link(height: int, expected: bool) -> None:
    page = seen(text(80, 80, "Berths", 16), picture(80, 110, 120, height, 2), text(80, 300, LONG.format(1), 16))
    items = list_items(mark_by_rules(nest(page), page))
    [line] = [item for item in items if item.text is None]
    assert _is_apart(line) is expected


def _marked_words() -> Detection:
    icon = PictureElement(Rect(80, 98, 20, 20), "icon", "icon-1", PNG)
    return seen(icon, text(108, 100, "Every morning at nine", 16), text(80, 300, LONG.format(1), 16))


@pytest.mark.parametrize(("style", "expected"), [({"underline": True}, True), ({}, False), ({"weight": 700}, False)])
def test_a_run_that_looks_like_a_link_may_be_one_in_a_sentence_of_links(style: dict[str, Any], expected: bool) -> None:
    base = text(0, 0, "Word", 16).style
    assert _is_marked(replace(base, **style), replace(base, underline=True)) is expected


def test_the_labels_of_fields_are_not_links() -> None:
    names = ("Given name", "Family name", "Street", "Town")
    labels = [text(80, 208 + 60 * at, name, 15, 700) for at, name in enumerate(names)]
    fields = [box(220, 200 + 60 * at, 400, 34, "#ffffff", border=True) for at in range(4)]
    page = seen(text(80, 40, "Everything that floats", 40, 700), *labels, *fields, height=640)
    body = mark_by_rules(nest(page), page)
    items = list_items(body)
    labels = find_field_labels(body, items)
    assert [item.text.text for item in items if item.text is not None and id(item.part) in labels] == list(names)
    assert not [node for node in _nodes(page) if node.tag == "a"]


def test_an_item_of_a_menu_beside_a_search_field_is_not_its_label() -> None:
    menu = [text(500 + 90 * at, 28, name, 15) for at, name in enumerate(("Boats", "Prices", "Crew"))]
    search = [box(760, 20, 240, 34, "#ffffff", border=True), text(772, 28, "Search", 14, colour="#757575")]
    page = seen(*menu, *search, *(text(80, 300 + 40 * at, LONG.format(at), 16) for at in range(4)), height=640)
    body = mark_by_rules(nest(page), page)
    assert not find_field_labels(body, list_items(body))


def test_a_copyright_is_not_a_link_whatever_the_rules_say() -> None:
    names = ("Boats", "Prices", "Crew")
    foot = [text(80 + 300 * at, 950, name, 13, colour="#1d4ed8") for at, name in enumerate(names)]
    notice = text(980, 950, "2024 Harbour, all rights reserved", 13, colour="#1d4ed8")
    prose = [text(80, 300 + 40 * at, LONG.format(at), 16) for at in range(6)]
    nodes = _nodes(seen(*prose, *foot, notice, height=1020))
    assert {node.tag for node in nodes if node.lines == (notice.text,)} == {"p"}
    assert {node.tag for node in nodes if node.lines == ("Boats",)} == {"a"}


@pytest.mark.parametrize("words", ["+22.5 %", "▲ 1,2 %"])
def test_the_change_of_a_figure_is_not_a_link_whatever_its_colour(words: str) -> None:
    cards = [box(80 + 300 * at, 300, 280, 140, "#1e293b") for at in range(3)]
    names = [text(100 + 300 * at, 320, "Berths", 14, colour="#94a3b8") for at in range(3)]
    figures = [text(100 + 300 * at, 350, f"{at}12", 28, 700, colour="#f8fafc") for at in range(3)]
    changes = [text(100 + 300 * at, 395, words, 13, colour="#dc2626") for at in range(3)]
    nodes = _nodes(seen(*cards, *names, *figures, *changes))
    assert {node.tag for node in nodes if node.lines == (words,)} == {"p"}


def test_only_the_name_right_before_a_value_is_not_a_link() -> None:
    menu = [text(80 + 120 * at, 30, name, 15) for at, name in enumerate(("Boats", "Prices", "Crew"))]
    name, value = text(700, 30, "Call us", 15), text(900, 30, "604 365 9120", 15)
    prose = [text(80, 300 + 40 * at, LONG.format(at), 16) for at in range(6)]
    page = seen(*menu, name, value, *prose, height=640)
    body = mark_by_rules(nest(page), page)
    items = list_items(body)
    barred = _find_barred(body, items)
    assert [item.text.text for item in items if item.text is not None and id(item.part) in barred] == ["Call us"]


def test_a_number_beside_another_one_names_nothing() -> None:
    counts = [text(80 + 60 * at, 300, f"{at + 1}9816", 14, colour="#1d4ed8") for at in range(4)]
    page = seen(*counts, *(text(80, 400 + 40 * at, LONG.format(at), 16) for at in range(4)), height=640)
    body = mark_by_rules(nest(page), page)
    assert not _find_barred(body, list_items(body))


def test_the_text_beside_a_field_that_asks_by_itself_is_not_its_label() -> None:
    prose = [text(80, 300 + 40 * at, LONG.format(at), 16) for at in range(4)]
    for prompt, name, count in (("Search", "View cart", 0), ("", "View cart", 1), ("Your name", "Name:", 1)):
        words = [text(772, 208, prompt, 14, colour="#757575")] if prompt else []
        field = box(760, 200, 240, 34, "#ffffff", border=True)
        page = seen(text(80, 40, "Everything", 40, 700), text(660, 208, name, 15), field, *words, *prose, height=640)
        body = mark_by_rules(nest(page), page)
        assert len(find_field_labels(body, list_items(body))) == count


def _row_of_signs(height: int, gap: int, *between: TextElement) -> Detection:
    signs = [PictureElement(Rect(140 + (9 + gap) * at, 300, 9, height), "icon", f"icon-{at}", PNG) for at in range(4)]
    prose = [text(80, 400 + 40 * at, LONG.format(at), 16) for at in range(4)]
    return seen(text(80, 300, "Share", 12), *signs, *between, *prose, height=640)


def test_small_signs_that_stand_apart_in_a_row_are_links_each() -> None:
    for page, expected in (
        (_row_of_signs(14, 15), 4),
        (_row_of_signs(14, 1), 0),  # stars
        (_row_of_signs(5, 15), 0),  # dots
    ):
        items = list_items(mark_by_rules(nest(page), page))
        assert sum(_is_apart(item) for item in items if item.text is None) == expected
    linked = [node for node in _nodes(_row_of_signs(14, 15)) if node.tag == "a" and not node.lines]
    assert len(linked) == 4


def test_all_words_of_a_sentence_that_is_a_link_are_in_links() -> None:
    words = [Part("text", run.rect, text=run) for run in (text(80, 30, "Click here to"), text(190, 30, "register"))]
    sentence = Part("text", Rect(80, 30, 180, 18), tuple(words), text=text(80, 30, "Click here to register"), tag="p")
    for linked, tags in (([sentence], ["a", "a"]), ([words[1]], ["div", "a"])):
        roles = _Roles(frozenset(map(id, linked)), frozenset(), {})
        assert [run.tag for run in _assign_text(sentence, roles).children] == tags


def test_bold_words_that_end_with_an_arrow_may_be_a_link_in_their_sentence() -> None:
    for words, expected in (("read more »", True), ("read more", False)):
        run = Part("text", Rect(160, 30, 60, 18), text=text(160, 30, words, 14, 700), tag="div")
        item = Item(run, (), text(80, 30, "A quiet bay … read more", 14))
        assert _may_lead(item, frozenset()) is expected
