"""Columns and rows of links are lists."""

from heald_local.arrange.layout import lay_out
from heald_local.arrange.link_lists import list_links
from heald_local.arrange.page import arrange
from heald_local.arrange.part import Part
from heald_local.arrange.placement import LayoutRoom
from heald_local.page import walk_nodes
from heald_local.see.paragraphs import group_paragraphs
from heald_pictures.elements import TextElement
from heald_pictures.rect import Rect, hull
from vision_pages import box, picture, seen, text


def _link(element: TextElement, tag: str = "a") -> Part:
    return Part("text", element.rect, text=element, tag=tag, name="link")


def _stack(*children: Part, tag: str = "div") -> Part:
    return Part("stack", hull(child.rect for child in children), children, tag=tag, name="stack")


def _links(*steps: float, size: float = 14, colour: str = "#1f2937") -> list[Part]:
    return [_link(text(40, 100 + step, f"Boat {step:g}", size, colour=colour)) for step in steps]


def test_a_column_of_links_at_even_distances_is_a_list() -> None:
    listed = list_links(_stack(*_links(0, 24, 48)))
    assert (listed.tag, [item.tag for item in listed.children]) == ("ul", ["li"] * 3)
    assert [item.children[0].tag for item in listed.children] == ["a"] * 3


def test_navigation_holds_its_list_and_words_before_links_stay_before_it() -> None:
    nav = list_links(_stack(*_links(0, 24, 48), tag="nav"))
    assert (nav.tag, [child.tag for child in nav.children]) == ("nav", ["ul"])
    with_title = list_links(_stack(_link(text(40, 60, "Boats"), "h2"), *_links(0, 24, 48)))
    assert [child.tag for child in with_title.children] == ["h2", "ul"]


def test_a_link_farther_above_is_no_item() -> None:
    listed = list_links(_stack(*_links(0, 46, 70, 94)))
    assert [child.tag for child in listed.children] == ["a", "ul"]


def test_sizes_that_seem_to_differ_are_one_list() -> None:
    first, second, third = _links(0, 24, 48)
    other = _links(24, size=15.5)[0]
    assert list_links(_stack(first, other, third)).tag == "ul"
    assert list_links(_stack(first, second, third)).tag == "ul"


def test_two_links_other_colours_and_uneven_distances_are_no_list() -> None:
    assert list_links(_stack(*_links(0, 24))).tag == "div"
    assert list_links(_stack(*_links(0, 24), *_links(48, colour="#b91c1c"))).tag == "div"
    assert list_links(_stack(*_links(0, 24, 70))).tag == "div"


def _row(*children: Part, tag: str = "div") -> Part:
    return Part("row", hull(child.rect for child in children), children, tag=tag, name="row")


def _words(*lefts: float, size: float = 14, colour: str = "#1f2937") -> list[Part]:
    return [_link(text(left, 40, "Boats", size, colour=colour)) for left in lefts]


def test_a_row_of_links_is_a_list_also_where_the_current_one_has_another_colour() -> None:
    listed = list_links(_row(*_words(40), *_words(120, 200, colour="#b91c1c")))
    assert (listed.kind, listed.tag, [item.tag for item in listed.children]) == ("row", "ul", ["li"] * 3)


def test_two_links_and_links_far_apart_or_of_other_sizes_are_no_row_of_a_list() -> None:
    for words in (_words(40, 120), _words(40, 120, 600), [*_words(40, 120), *_words(200, size=22)]):
        assert list_links(_row(*words)) == _row(*words)


def test_two_links_of_a_footer_are_a_list() -> None:
    (row,) = list_links(_stack(_row(*_words(40, 120)), tag="footer")).children
    assert [item.tag for item in row.children] == ["li"] * 2


def test_links_beside_something_else_are_a_list_of_their_own() -> None:
    name = Part("text", Rect(0, 40, 30, 16), text=text(0, 40, "Sail"), tag="p")
    listed = list_links(_row(name, *_words(40, 120, 200), tag="header"))
    assert [child.tag for child in listed.children] == ["p", "ul"]


def test_the_links_of_a_list_have_the_width_of_their_words() -> None:
    def column(*lefts: float) -> dict[str, str]:
        words = [text(left, 200 + 24 * number, f"Boat {number}", 14) for number, left in enumerate(lefts)]
        links = [Part("text", element.rect, text=element, tag="a", name="link") for element in words]
        listed = list_links(_stack(*links))
        assert listed.tag == "ul"
        return dict(lay_out(listed, LayoutRoom(0, 1280, "sans", (0, 1280), 1280)).style)

    assert column(40, 40, 40)["align-items"] == "flex-start"
    wide = text(0, 0, "Boat 0", 14).rect.w
    assert "align-items" not in column(140 - wide, 140 - wide - 1.9, 140 - wide)


def test_small_pictures_that_are_links_are_a_list() -> None:
    def icon(x: float, side: float) -> Part:
        inner = picture(x, 40, side, side)
        shown = Part("picture", inner.rect, picture=inner, tag="img")
        return Part("stack", inner.rect, (shown,), tag="a", name="link")

    assert list_links(_row(*(icon(x, 24) for x in (40, 80, 120)))).tag == "ul"
    assert list_links(_row(*(icon(x, 90) for x in (40, 140, 240)))).tag == "div"


def test_what_holds_a_link_alone_is_the_item_and_lines_below_a_link_are_part_of_it() -> None:
    boxed = [Part("stack", link.rect.grown(4), (link,), box=box(0, 0, 9, 9)) for link in _words(40, 120, 200)]
    assert [(item.tag, item.box is not None) for item in list_links(_row(*boxed)).children] == [("li", True)] * 3
    line = box(40, 118, 200, 1)
    ruled = [
        part
        for link in _links(0, 24, 48)
        for part in (link, Part("rule", Rect(40, link.rect.bottom + 3, 200, 1), box=line))
    ]
    assert [[part.kind for part in item.children] for item in list_links(_stack(*ruled)).children] == [
        ["text", "rule"]
    ] * 3


def test_a_line_between_two_links_of_a_row_is_part_of_the_first_one() -> None:
    parted = [
        part
        for link in _words(40, 120, 200)
        for part in (link, Part("rule", Rect(link.rect.right + 8, 38, 1, 22), box=box(0, 0, 1, 22)))
    ]
    listed = list_links(_row(*parted))
    assert (listed.kind, listed.tag) == ("row", "ul")
    assert [(item.kind, [part.kind for part in item.children]) for item in listed.children] == [
        ("row", ["text", "rule"])
    ] * 3


def _ruled_letters(letters: str) -> Part:
    parts: list[Part] = []
    for number, letter in enumerate(letters):
        element, line = text(40 + 30 * number, 40, letter, 14), Rect(56 + 30 * number, 38, 1, 22)
        parts.append(Part("text", element.rect, text=element, tag="a", name="link"))
        parts.append(Part("rule", line, box=box(line.x, line.y, line.w, line.h)))
    return list_links(_row(*parts))


def test_items_with_a_line_have_the_width_of_their_words() -> None:
    node = lay_out(_ruled_letters("ABCDEI"), LayoutRoom(0, 1280, "sans", (0, 1280), 1280))
    assert [item.tag for item in node.children] == ["li"] * 6
    assert not any({"width", "flex"} & dict(item.style).keys() for item in node.children)


def test_an_index_with_lines_between_its_letters_is_no_list() -> None:
    assert _ruled_letters("ABCDEFGHIJ").tag == "ul"
    assert _ruled_letters("ABCDEFGHIJK").tag == "div"


def test_navigation_keeps_its_place_and_its_list_places_the_links() -> None:
    menu = ["Home", "Boats", "Prices", "Contact"]
    words = [text(400 + 100 * number, 30, word) for number, word in enumerate(menu)]
    page = arrange(seen(text(60, 24, "Harbour", 24, 700), *words, text(60, 300, "Boats for everybody", 40, 700)))
    (nav,) = [node for node in walk_nodes(page.body) if node.tag == "nav"]
    (listed,) = nav.children
    assert (listed.tag, [item.tag for item in listed.children]) == ("ul", ["li"] * 4)
    assert dict(listed.style)["display"] == "flex"
    assert not {"display", "gap", "align-items"} & dict(nav.style).keys()
    assert not {"margin-left", "flex"} & dict(listed.style).keys()


def test_a_word_in_capitals_among_short_lines_is_one_of_a_list() -> None:
    names = ["About us", "FAQ", "Contact", "Sales"]
    lines = [text(40, 100 + 22 * number, name).lines[0] for number, name in enumerate(names)]
    assert [element.text for element in group_paragraphs(lines)] == names
    shouted = [text(40, 100 + 22 * number, name).lines[0] for number, name in enumerate(("NEW", "BOATS", "FOR", "ALL"))]
    assert len(group_paragraphs(shouted)) == 1
