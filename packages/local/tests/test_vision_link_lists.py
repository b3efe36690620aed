"""Columns of links are lists."""

from heald_local.arrange.link_lists import list_link_columns
from heald_local.arrange.part import Part
from heald_pictures.elements import TextElement
from heald_pictures.rect import hull
from vision_pages import text


def _link(element: TextElement, tag: str = "a") -> Part:
    return Part("text", element.rect, text=element, tag=tag, name="link")


def _stack(*children: Part, tag: str = "div") -> Part:
    return Part("stack", hull(child.rect for child in children), children, tag=tag, name="stack")


def _links(*steps: float, size: float = 14, colour: str = "#1f2937") -> list[Part]:
    return [_link(text(40, 100 + step, f"Boat {step:g}", size, colour=colour)) for step in steps]


def test_a_column_of_links_at_even_distances_is_a_list() -> None:
    listed = list_link_columns(_stack(*_links(0, 24, 48)))
    assert (listed.tag, [item.tag for item in listed.children]) == ("ul", ["li"] * 3)
    assert [item.children[0].tag for item in listed.children] == ["a"] * 3


def test_navigation_holds_its_list_and_words_before_links_stay_before_it() -> None:
    nav = list_link_columns(_stack(*_links(0, 24, 48), tag="nav"))
    assert (nav.tag, [child.tag for child in nav.children]) == ("nav", ["ul"])
    with_title = list_link_columns(_stack(_link(text(40, 60, "Boats"), "h2"), *_links(0, 24, 48)))
    assert [child.tag for child in with_title.children] == ["h2", "ul"]


def test_sizes_that_seem_to_differ_are_one_list() -> None:
    first, second, third = _links(0, 24, 48)
    other = _links(24, size=15.5)[0]
    assert list_link_columns(_stack(first, other, third)).tag == "ul"
    assert list_link_columns(_stack(first, second, third)).tag == "ul"


def test_two_links_other_colours_and_uneven_distances_are_no_list() -> None:
    assert list_link_columns(_stack(*_links(0, 24))).tag == "div"
    assert list_link_columns(_stack(*_links(0, 24), *_links(48, colour="#b91c1c"))).tag == "div"
    assert list_link_columns(_stack(*_links(0, 24, 70))).tag == "div"


def test_a_row_of_links_is_none() -> None:
    links = _links(0, 24, 48)
    row = Part("row", hull(link.rect for link in links), tuple(links), tag="nav", name="nav")
    assert list_link_columns(row) == row
