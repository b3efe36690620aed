"""The texts of a page are found in its picture, though the page is laid out otherwise."""

from heald_pictures.rect import Rect
from heald_studio.causes.ink_gaps import InkGap, InkSign
from heald_studio.causes.rendered_texts import PageWord, RenderedTexts, TextNode
from heald_studio.causes.text_places import PictureLine, TextPlace, place_texts


def node(text: str, x: float, y: float, *, width: float = 8.0, height: float = 20.0) -> TextNode:
    """A text node in one row, whose letters are all equally wide."""
    words: list[PageWord] = []
    for word in text.split(" "):
        words.append(PageWord(word, x, y, width * len(word), height))
        x += width * (len(word) + 1)
    return TextNode("body > p", words)


def places(nodes: list[TextNode], lines: list[PictureLine]) -> list[TextPlace]:
    return place_texts(RenderedTexts(1000, 800, nodes), lines, 800).places


def test_a_text_has_the_place_of_the_line_that_reads_the_same() -> None:
    lines = [PictureLine("Harbour tours", Rect(40, 30, 260, 36)), PictureLine("Book now", Rect(700, 40, 90, 20))]
    tours, book = places([node("Book now", 10, 5), node("Harbour tours", 10, 60)], lines)[::-1]
    assert (tours.rect, tours.found_by, tours.likeness) == (Rect(40, 30, 260, 36), "text", 1.0)
    assert book.rect == Rect(700, 40, 90, 20)


def test_a_paragraph_that_wraps_otherwise_has_the_hull_of_its_lines() -> None:
    lines = [
        PictureLine("Boats leave every", Rect(50, 200, 170, 20)),
        PictureLine("morning at eight.", Rect(50, 226, 160, 20)),
    ]
    (place,) = places([node("Boats leave every morning at eight.", 0, 10)], lines)
    assert place.rect == Rect(50, 200, 170, 46)


def test_equal_texts_are_told_apart_by_what_is_around_them() -> None:
    lines = [
        PictureLine("First harbour", Rect(0, 100, 200, 20)),
        PictureLine("More", Rect(0, 130, 40, 20)),
        PictureLine("Second harbour", Rect(500, 100, 200, 20)),
        PictureLine("More", Rect(500, 130, 40, 20)),
    ]
    nodes = [node("First harbour", 20, 0), node("More", 20, 40), node("Second harbour", 20, 80), node("More", 20, 120)]
    assert [place.rect.x for place in places(nodes, lines)] == [0, 0, 500, 500]


def test_a_part_of_a_line_has_its_part_of_the_place() -> None:
    before, link, after = places(
        [node("Read", 0, 0), node("the terms", 40, 0), node("first", 120, 0)],
        [PictureLine("Read the terms first", Rect(100, 50, 160, 20))],
    )
    assert (before.rect.x, link.rect, round(after.rect.right)) == (100, Rect(140, 50, 72, 20), 260)


def test_a_misread_line_is_found_and_an_unread_one_is_placed_by_the_others() -> None:
    lines = [
        PictureLine("Harb0ur tcurs", Rect(100, 300, 130, 20)),
        PictureLine("Opening hours", Rect(100, 400, 130, 20)),
    ]
    tours, hours, prices = places(
        [node("Harbour tours", 0, 0), node("Opening hours", 0, 100), node("Prices", 0, 130)], lines
    )
    assert tours.rect == Rect(100, 300, 130, 20)
    assert hours.found_by == "text"
    assert prices.found_by == "position"
    assert (round(prices.rect.x), round(prices.rect.y)) == (100, 430)


def test_a_sign_that_was_not_read_has_the_place_of_the_ink_beside_its_line() -> None:
    line = PictureLine("Archives", Rect(100, 50, 64, 20), before=InkSign(84, 90))
    arrow, archives = places([node("»", 0, 0), node("Archives", 24, 0)], [line])
    assert (arrow.rect, arrow.found_by) == (Rect(83, 50, 8, 20), "position")
    assert archives.rect == Rect(100, 50, 64, 20)


def test_a_link_in_a_sentence_begins_and_ends_at_the_gaps_of_its_line() -> None:
    line = PictureLine("Read the terms first", Rect(100, 50, 160, 20), (InkGap(128, 136), InkGap(190, 222)))
    _, link, after = places([node("Read", 0, 0), node("theterms", 40, 0), node("first", 112, 0)], [line])
    assert (round(link.rect.x, 1), round(link.rect.right, 1)) == (135.2, 190.8)
    assert round(after.rect.x, 1) == 221.2


def test_signs_between_links_that_the_page_has_no_text_for_take_their_room() -> None:
    gaps = (InkGap(132, 140), InkGap(144, 152), InkGap(192, 200), InkGap(204, 212))
    line = PictureLine("Home · Tours · Books", Rect(100, 50, 152, 20), gaps)
    home, tours, books = places([node("Home", 0, 0), node("Tours", 40, 0), node("Books", 90, 0)], [line])
    assert [round(link.rect.x) for link in (home, tours, books)] == [100, 151, 211]
    assert [round(link.rect.right) for link in (home, tours, books)] == [133, 193, 252]


def test_letters_of_one_width_are_placed_by_their_number() -> None:
    line = PictureLine("fill(m, i)", Rect(100, 50, 100, 20), (InkGap(131, 147),), has_equal_letters=True)
    name, rest = places([node("fill", 0, 0, width=5), node("(m, i)", 20, 0, width=9)], [line])
    assert (name.rect.x, name.rect.right, rest.rect.x, rest.rect.right) == (100, 140, 140, 200)


def test_a_word_that_was_found_far_from_the_rest_of_its_text_does_not_widen_its_place() -> None:
    lines = [
        PictureLine("Coast", Rect(500, 20, 40, 20)),
        PictureLine("Turn left at the old lighthouse of the", Rect(100, 800, 300, 20)),
    ]
    (place,) = places([node("Turn left at the old lighthouse of the Coast", 0, 0)], lines)
    assert (place.rect.y, round(place.rect.w), place.rect.h) == (800, 300, 20)


def test_a_large_initial_that_was_not_read_is_part_of_the_place() -> None:
    initial = PageWord("T", 0, 0, 30, 60)
    words = [PageWord(word, 30 + at, 2, 8 * len(word), 20) for word, at in (("he", 0), ("boats", 24), ("leave", 72))]
    (place,) = places([TextNode("p", [initial, *words])], [PictureLine("he boats leave", Rect(130, 100, 112, 20))])
    assert (round(place.rect.x), round(place.rect.h)) == (100, 60)


def test_texts_that_are_repeated_as_often_keep_their_order() -> None:
    lines = [PictureLine("Book now", Rect(10, y, 90, 20)) for y in (500, 300, 700, 900)]
    found = places([node("Book now", 10, y) for y in (20, 220, 420, 620)], lines)
    assert [place.rect.y for place in found] == [300, 500, 700, 900]
    shelf = [PictureLine("Book now", Rect(x, y, 90, 20)) for x, y in ((300, 401), (10, 400), (300, 600), (10, 601))]
    found = places([node("Book now", x, y) for x, y in ((10, 20), (300, 20), (10, 120), (300, 120))], shelf)
    assert [(place.rect.x, place.rect.y) for place in found] == [(10, 400), (300, 401), (10, 601), (300, 600)]


def test_a_word_in_smaller_letters_is_lower_than_its_line() -> None:
    nodes = [node("$", 0, 105, width=10, height=30), node("40", 10, 100, width=25, height=60)]
    sign, figure = places(nodes, [PictureLine("$40", Rect(0, 200, 60, 60))])
    assert (sign.rect.y, sign.rect.h) == (205, 30)
    assert (figure.rect.y, figure.rect.h) == (200, 60)
