"""Menus that are known by their words, and links around empty boxes that stand for pictures."""

from heald_local.arrange.menus import find_index_items, find_menu_items
from heald_local.arrange.nesting import nest
from heald_local.arrange.page import arrange
from heald_local.arrange.role_features import list_items
from heald_local.arrange.semantics import mark_by_rules
from heald_local.page import Node, walk_nodes
from heald_pictures.elements import Box, Detection, TextElement
from vision_pages import box, picture, seen, text

PROSE = "A long line of prose, number {}, that explains what to do with a boat now."


def _links(page: Detection) -> list[Node]:
    return [node for node in walk_nodes(arrange(page).body) if node.tag == "a"]


def _words(page: Detection) -> set[str]:
    return {" ".join(node.lines) for node in _links(page)}


def _labels(page: Detection) -> list[str]:
    return [dict(node.attributes).get("aria-label", "") for node in _links(page)]


def _prose(left: float, top: float, count: int = 8) -> list[TextElement]:
    return [text(left, top + 40 * at, PROSE.format(at), 14) for at in range(count)]


def _menu_words(page: Detection) -> list[str]:
    items = list_items(mark_by_rules(nest(page), page))
    menu_items = find_menu_items(items)
    return [item.text.text for item in items if item.text is not None and id(item.part) in menu_items]


def _column(*words: str) -> Detection:
    side = [text(80, 200 + 22 * at, word, 15, colour="#111111") for at, word in enumerate(words)]
    return seen(*side, *_prose(420, 200), height=640)


def test_a_column_of_plain_words_with_home_is_a_menu_of_links() -> None:
    words = ("home", "about", "clients", "case studies")
    assert _menu_words(_column(*words)) == list(words)
    assert set(words) <= _words(_column(*words))


def test_a_row_with_two_usual_words_is_a_menu() -> None:
    row = [text(80 + 120 * at, 30, word, 15) for at, word in enumerate(("Boats", "News", "Contact"))]
    assert _menu_words(seen(*row, *_prose(80, 200), height=640)) == ["Boats", "News", "Contact"]


def test_other_words_are_not_made_links_by_their_words() -> None:
    assert not _menu_words(_column("oak", "ash", "elm", "beech"))
    assert not _menu_words(_column("oak", "news", "elm", "beech"))


def test_words_that_lead_on_are_links_wherever_they_stand_alone() -> None:
    alone = [text(80, 560, "Previous post", 14), text(700, 560, "Read more »", 14), text(420, 600, "Reading more", 14)]
    page = seen(*_prose(80, 200), *alone, height=700)
    assert _menu_words(page) == ["Previous post", "Read more »"]
    assert {"Previous post", "Read more »"} <= _words(page)


def test_words_after_an_arrow_are_a_link_by_the_rules() -> None:
    page = seen(*_prose(80, 200), text(700, 290, "» Boathouse", 14), text(700, 410, "Boathouse", 14), height=700)
    items = list_items(mark_by_rules(nest(page), page))
    tags = {item.text.text: item.part.tag for item in items if item.text is not None}
    assert (tags["» Boathouse"], tags["Boathouse"]) == ("a", "p")


def test_a_line_with_bars_is_a_menu_though_it_begins_with_a_copyright() -> None:
    line = text(80, 700, "© 2023 Harbour Ltd. | Licences | Terms | Privacy Policy", 12)
    page = seen(*_prose(80, 100), line, height=760)
    assert {"Licences", "Terms", "Privacy Policy"} <= _words(page)
    assert not any("©" in words for words in _words(page))


def _cards() -> list[Box | TextElement]:
    parts: list[Box | TextElement] = []
    for at, title in enumerate(("Oak and ash", "Rope and sail", "Tide and moon")):
        left = 80 + 380 * at
        parts += [box(left, 300, 340, 180, "#eeeeee"), text(left, 490, title, 16, 700, "#1d4ed8")]
    return parts


def test_the_empty_box_above_a_linked_title_is_a_link_with_its_name() -> None:
    page = seen(text(80, 40, "Everything that floats", 40, 700), *_cards(), *_prose(80, 560, 4), height=760)
    assert {"Oak and ash", "Rope and sail", "Tide and moon"} <= set(_labels(page))
    for node in _links(page):
        assert node.lines or node.children  # nothing is empty


def test_the_empty_box_in_the_upper_left_corner_is_a_link_to_the_start_page() -> None:
    menu = [text(600 + 110 * at, 30, word, 15) for at, word in enumerate(("Shop", "Journal", "About", "Help"))]
    logo = box(80, 20, 160, 44, "#eeeeee")
    assert _labels(seen(logo, *menu, *_prose(80, 200), height=640)).count("Home") == 1


def test_an_empty_box_without_a_link_near_it_stays_as_it_is() -> None:
    page = seen(*_prose(80, 80, 4), box(80, 300, 340, 180, "#eeeeee"), *_prose(80, 520, 4), height=760)
    assert not any(_labels(page))


def _index_length(page: Detection) -> int:
    return len(find_index_items(list_items(mark_by_rules(nest(page), page))))


def test_a_row_of_letters_is_an_index_also_where_some_were_not_read() -> None:
    letters = [text(80 + 40 * at, 82, letter, 24) for at, letter in enumerate("ABCDEF")]
    unread = [picture(320 + 40 * at, 84, 20, 22, at) for at in range(6)]
    page = seen(*letters, *unread, *_prose(80, 200), height=640)
    assert _index_length(page) == 12
    assert len(_links(page)) == 12


def test_few_letters_and_letters_at_uneven_distances_are_not_an_index() -> None:
    few = [text(80 + 40 * at, 82, letter, 24) for at, letter in enumerate("ABCDEF")]
    uneven = [text(80 + 40 * at * at, 82, letter, 24) for at, letter in enumerate("ABCDEFGHIJ")]
    assert _index_length(seen(*few, *_prose(80, 200), height=640)) == 0
    assert _index_length(seen(*uneven, *_prose(80, 200), width=4000, height=640)) == 0
