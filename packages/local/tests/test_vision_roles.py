"""Links and headings that trees tell by looks and place, and what becomes of them."""

import numpy as np

from heald_local.arrange.nesting import nest
from heald_local.arrange.page import arrange
from heald_local.arrange.role_features import describe_items, list_items
from heald_local.arrange.role_trees import RoleTrees, load_trees
from heald_local.arrange.semantics import mark_by_rules
from heald_local.page import Node, walk_nodes
from heald_pictures.elements import Detection
from vision_pages import box, picture, seen, text

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
    assert [child.lines for child in menu.children if child.tag == "a"] == [
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
