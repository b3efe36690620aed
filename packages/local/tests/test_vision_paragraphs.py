"""Paragraphs in several styles, bulleted lists, and the columns of a footer."""

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from heald_local.arrange.page import arrange
from heald_local.page import Node, walk_nodes
from heald_local.see.paragraphs import group_paragraphs, wrapped_lines
from heald_local.write.stacks import write_files
from heald_pictures.elements import Detection, PictureElement, TextLine
from heald_pictures.fonts import face
from vision_pages import box, picture, seen, text


def _article() -> Detection:
    first = text(80, 300, "I spent most of my working life on software that")
    link = text(first.rect.right + 4.5, 300, "waits in line", colour="#9a3412")
    rest = text(link.rect.right + 4.5, 300, "and never met")
    below = text(80, 328, "a better teacher than a river in the spring of a year.")
    lines = [line for part in (first, link, rest, below) for line in part.lines]
    return seen(text(80, 60, "The slow river", 36, 700), *group_paragraphs(lines))


def _page_text(detection: Detection, stack: str = "html_css") -> str:
    return str(write_files(arrange(detection), stack)["index.html"])


def test_a_link_within_a_paragraph_of_several_lines_keeps_the_order_of_its_words() -> None:
    html = re.sub(r' class="[^"]*"', "", _page_text(_article()))
    assert (
        '<p>I spent most of my working life on software that <a href="#">waits in line</a> and never met a better '
        "teacher than a river in the spring of a year.</p>" in html
    )


def test_a_paragraph_of_several_lines_wraps_at_every_width() -> None:
    paragraph = next(
        node for node in walk_nodes(arrange(_article()).body) if any(not child.tag for child in node.children)
    )
    assert ("white-space", "nowrap") not in paragraph.style
    assert "white-space" not in _page_text(_article())


def _bullets(*tops: float) -> list[PictureElement]:
    return [replace(picture(60, top + 6, 7, 7, at), kind="icon", name=f"icon-{at}") for at, top in enumerate(tops)]


def test_lines_behind_bullets_are_a_list_and_the_bullets_no_pictures() -> None:
    lines = [line for at in range(3) for line in text(80, 300 + 26 * at, f"Item {at} of the list, rather long").lines]
    page = seen(text(80, 60, "Lists", 36, 700), *group_paragraphs(lines), *_bullets(300, 326, 352))
    html = _page_text(page)
    assert len(re.findall(r"<li[^>]*>Item \d of the list, rather long</li>", html)) == 3
    assert "list-style: disc" in html
    assert "list-disc" in _page_text(page, "html_tailwind")
    assert "<img" not in html


def test_items_with_words_in_another_style_are_items_with_all_their_lines() -> None:
    lines: list[TextLine] = []
    for top, words in ((300, ("The boats of", "the harbour", "leave early")), (352, ("Nobody has", "seen", "them"))):
        x = 80.0
        for at, part in enumerate(words):
            element = text(x, top, part, weight=700 if at == 1 else 400)
            lines += element.lines
            x = element.rect.right + 4.5
    lines += text(80, 326, "and return at the end of the day.").lines
    page = seen(text(80, 60, "Lists", 36, 700), *group_paragraphs(lines), *_bullets(300, 352))
    html = re.sub(r' class="[^"]*"', "", _page_text(page))
    first = "<li>The boats of <b>the harbour</b> leave early and return at the end of the day.</li>"
    assert [item.strip() for item in html.splitlines() if "<li" in item] == [
        first,
        "<li>Nobody has <b>seen</b> them</li>",
    ]


def test_bullets_in_a_colour_of_their_own_stay_as_they_are() -> None:
    lines = [line for at in range(3) for line in text(80, 300 + 26 * at, f"Item {at} of the list, rather long").lines]
    title = text(80, 60, "Lists", 36, 700)
    green, dark = (
        [replace(bullet, colour=colour) for bullet in _bullets(300, 326, 352)] for colour in ("#14b8a6", "#253040")
    )
    html = _page_text(seen(title, *group_paragraphs(lines), *green))
    assert "list-style: disc" not in html
    assert html.count("<img") == 3
    assert "list-style: disc" in _page_text(seen(title, *group_paragraphs(lines), *dark))


def test_numbered_lines_are_a_list_whose_numbers_the_browser_writes() -> None:
    lines = [*text(80, 300, "1. Australia").lines, *text(80, 324, "2. India and the islands to the").lines]
    tail = text(80 + face("sans").advance("2. ") * lines[0].style.size, 348, "south of it")
    last = text(80, 372, "3. England")
    lines += [*tail.lines, *last.lines]
    page = seen(text(80, 60, "Places", 36, 700), *group_paragraphs(lines))
    html = _page_text(page)
    items = re.findall(r"<li[^>]*>(.*?)</li>", html, re.DOTALL)
    assert [re.sub(r"<[^>]*>", "", item).strip() for item in items] == [
        "Australia",
        "India and the islands to the south of it",
        "England",
    ]
    assert "<ol" in html
    assert "list-style: decimal" in html
    assert "list-decimal" in _page_text(page, "html_tailwind")


def test_a_number_without_the_one_before_it_is_a_word_of_its_line() -> None:
    lines = _lines(["3. England", "4. Malaysia"])
    assert "<ol" not in _page_text(seen(text(80, 60, "Places", 36, 700), *group_paragraphs(lines)))


@pytest.mark.parametrize(("first", "lists"), [("1.", 1), ("1:", 0)])
def test_a_colon_behind_a_number_is_a_point_that_was_misread_in_a_list_with_points(first: str, lists: int) -> None:
    lines = _lines([f"{first} Australia", "2: India", f"3{first[1]} England"])
    html = _page_text(seen(text(80, 60, "Places", 36, 700), *group_paragraphs(lines)))
    assert html.count("<ol") == lists
    assert ("2: India" in html) == (not lists)


def test_a_numbered_list_around_a_picture_goes_on_with_the_next_number() -> None:
    lines = [text(80, y, words).lines[0] for y, words in ((300, "1. Mix it"), (324, "2. Bake it"), (420, "3. Eat it"))]
    page = seen(text(80, 60, "A cake", 36, 700), *group_paragraphs(lines), picture(80, 350, 200, 60, 1))
    assert re.findall(r'<ol[^>]*?(start="\d")?>', _page_text(page)) == ["", 'start="3"']


def test_numbers_of_lines_that_are_no_list_are_not_lost() -> None:
    rows = [text(80, 300 + 40 * at, f"{at + 1}. Step") for at in range(3)]
    photos = [picture(400, 300 + 40 * at, 30, 30, at) for at in range(3)]
    html = _page_text(seen(text(80, 60, "Steps", 36, 700), *rows, *photos))
    assert "<ol" not in html
    assert re.findall(r"\d\. Step", html) == ["1. Step", "2. Step", "3. Step"]
    bold = [text(row.rect.right + 4.5, row.rect.y, "now", weight=700) for row in rows]
    html = _page_text(seen(text(80, 60, "Steps", 36, 700), *rows, *bold, *photos))
    assert re.findall(r"\d\. Step", html) == ["1. Step", "2. Step", "3. Step"]


def test_one_dot_beside_a_line_is_no_list() -> None:
    page = seen(text(80, 60, "Status", 36, 700), text(80, 300, "Online and well"), *_bullets(300))
    assert "<li" not in _page_text(page)


def test_three_short_names_with_room_between_them_are_a_list_and_close_lines_are_a_title() -> None:
    names = ("Harbour Airport", "Historic Harbour", "Harbour Aquarium")
    loose, close = (
        [line for at, name in enumerate(names) for line in text(80, 300 + pitch * at, name, 14).lines]
        for pitch in (21, 17)
    )
    assert [item.text for item in group_paragraphs(loose)] == list(names)
    assert len(group_paragraphs(close)) == 1


POEM = (
    "The wind came down the valley",
    "and shook the trees of the orchard",
    "Nobody heard it but the owl that lives in the barn.",
)


def _lines(
    lines: Sequence[str], pitch: float = 24, left: float = 80, top: float = 300, colour: str = "#253040"
) -> list[TextLine]:
    texts = [text(left, top + pitch * at, line, colour=colour) for at, line in enumerate(lines)]
    return [line for element in texts for line in element.lines]


def test_tight_lines_that_leave_room_are_one_text_with_line_breaks() -> None:
    texts = group_paragraphs(_lines(POEM))
    assert [element.text for element in texts] == [" ".join(POEM)]
    assert wrapped_lines(texts[0]) == POEM
    html = _page_text(seen(text(80, 60, "Poems", 36, 700), *texts))
    assert "the valley<br" in html
    assert "the orchard<br" in html


def test_only_lines_that_leave_room_end_with_a_line_break() -> None:
    (poem,) = group_paragraphs(_lines((POEM[2], "It told nobody.", *POEM)))
    assert wrapped_lines(poem) == (f"{POEM[2]} It told nobody.", *POEM)


def test_short_lines_coloured_lines_and_cells_of_a_table_are_texts_of_their_own() -> None:
    assert len(group_paragraphs(_lines(("Wind", "Trees of the orchard", "Owl")))) == 3
    assert len(group_paragraphs(_lines(POEM, colour="#0645ad"))) > 1
    assert len(group_paragraphs(_lines(POEM, pitch=30))) > 1
    assert len(group_paragraphs(_lines([f"{at}. {line}" for at, line in enumerate(POEM, 1)]))) > 1
    cells = _lines(("12", "7", "31"), left=700)
    assert len(group_paragraphs([*_lines(POEM), *cells])) > 3


def test_lines_far_apart_that_begin_alike_and_end_no_sentence_are_texts_of_their_own() -> None:
    menu = ("harbour", "boats of town", "training courses", "brochures")
    assert len(group_paragraphs(_lines(menu, pitch=26))) == 4
    assert len(group_paragraphs(_lines(menu, pitch=20))) < 4
    titles = (
        "Tap into the power of the harbour of the town",
        "Enhancing your boats for all rivers",
        "Reading old maps",
    )
    assert len(group_paragraphs(_lines(titles, pitch=25))) == 3
    assert len(group_paragraphs(_lines((*titles[:2], "of the old town"), pitch=25))) < 3


def test_paragraphs_of_one_line_are_no_loose_text_where_others_are_set_tight() -> None:
    first, second = "Nobody on the pier had seen the boats leave.", "They were back before the rain came down again."
    loose = _lines([first, second], pitch=32)
    assert [len(text.lines) for text in group_paragraphs(loose)] == [2]
    wrapped = [first, "A boat."]
    same_column = [*loose, *_lines(wrapped, pitch=18, top=500)]
    assert [len(text.lines) for text in group_paragraphs(same_column)] == [1, 1, 2]
    other_column = [*loose, *_lines(wrapped, pitch=18, top=500, left=600)]
    assert [len(text.lines) for text in group_paragraphs(other_column)] == [2, 2]


def test_sentences_at_even_distances_are_paragraphs_and_phrases_are_a_list() -> None:
    def items(lines: Sequence[str]) -> int:
        texts = [text(80, 300 + 40 * at, line) for at, line in enumerate(lines)]
        return _page_text(seen(text(80, 60, "The pier", 36, 700), *texts)).count("<li")

    sentences = [f"The {name} left before the rain came down again." for name in ("ferry", "pilot", "lighter")]
    assert items(sentences) == 0
    assert items([sentence[:-1] for sentence in sentences]) == 3
    assert items(["Two boats.", "One pilot.", "No rain."]) == 3


def test_a_baseline_that_is_a_pixel_off_does_not_end_a_paragraph() -> None:
    lines = _lines(
        ("The boats of the harbour leave at noon, and", "nobody has seen them return before the", "evening.")
    )
    moved = [lines[0], replace(lines[1], baseline=lines[1].baseline - 1), lines[2]]
    assert len(group_paragraphs(moved)) == 1


def test_a_picture_before_a_line_begins_an_item() -> None:
    lines = _lines(POEM)
    ticks = [replace(tick, colour="#14b8a6") for tick in _bullets(300, 324, 348)]
    html = _page_text(seen(text(80, 60, "Lists", 36, 700), *group_paragraphs(lines), *ticks))
    assert "<br" not in html


def _footer(bold: int) -> Detection:
    rows = [
        text(
            x,
            700 + 30 * row,
            f"{'Head' if not row else 'Item'} {'abc'[column]}{'stuv'[row]}",
            14,
            bold if not row else 400,
        )
        for row in range(4)
        for column, x in enumerate((92, 290, 488))
    ]
    top = (text(80, 60, "Everything", 36, 700), text(80, 200, "Some words of a page that is much longer than these."))
    return seen(*top, box(0, 660, 1280, 240), *rows, height=900)


def _lists(node: Node) -> list[list[str]]:
    lists = [inner for inner in walk_nodes((node,)) if inner.tag == "ul"]
    return [[line for inner in walk_nodes((listed,)) for line in inner.lines] for listed in lists]


def test_rows_of_a_footer_with_bold_heads_are_columns() -> None:
    footer = next(node for node in arrange(_footer(700)).body if node.tag == "footer")
    assert _lists(footer) == [[f"Item {column}{row}" for row in "tuv"] for column in "abc"]


def test_rows_without_heads_stay_rows() -> None:
    footer = next(node for node in arrange(_footer(400)).body if node.tag == "footer")
    assert all(len({words[-2] for words in words_of_list}) > 1 for words_of_list in _lists(footer))


def test_the_language_of_latin_text_is_known_by_its_words() -> None:
    german = text(80, 300, "Der Weg führt am Ufer entlang und ist für die Gäste nicht zu weit.")
    english = text(80, 300, "The path follows the river and is not too far for the guests.")
    heading = text(80, 60, "Moorbrücke", 36, 700)
    assert [arrange(seen(heading, words)).language for words in (german, english)] == ["de", "en"]
