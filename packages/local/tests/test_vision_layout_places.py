"""Parts that must stay where they were seen: at the right, in grids, in columns, and in forms."""

import re

import pytest

from heald_local.arrange.forms import mark_forms
from heald_local.arrange.layout import lay_out
from heald_local.arrange.nodes import Declarations
from heald_local.arrange.page import arrange
from heald_local.arrange.part import Part
from heald_local.arrange.placement import LayoutRoom, place_across
from heald_local.arrange.shapes import row_alignment
from heald_local.page import Node, walk_nodes
from heald_local.see.paragraphs import as_text
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, Detection, PictureElement, TextElement
from heald_pictures.rect import Rect
from vision_pages import PNG, box, seen, text


def _css(page: Detection) -> str:
    return str(write_files(arrange(page), "html_css")["index.html"])


def _nodes(page: Detection) -> list[Node]:
    return walk_nodes(arrange(page).body)


def _control(tag: str, x: float, y: float) -> Part:
    rect = Rect(x, y, 100, 40)
    return Part("stack", rect, box=Box(rect, "#ffffff"), tag=tag, name=tag, attributes=(("type", "button"),))


def test_a_form_holds_no_other_form() -> None:
    inner = Part("row", Rect(0, 0, 220, 40), (_control("input", 0, 0), _control("button", 120, 0)))
    outer = Part("stack", Rect(0, 0, 220, 160), (inner, _control("input", 0, 60), _control("button", 0, 120)))
    form = mark_forms(Part("stack", Rect(0, 0, 400, 400), (outer,))).children[0]
    assert form.tag == "form"
    assert [child.tag for child in form.children] == ["div", "input", "button"]


def test_tall_columns_begin_at_one_height_even_if_their_content_grows() -> None:
    assert row_alignment([Rect(0, 0, 100, 400), Rect(120, 0, 100, 400)], 200) == "flex-start"
    assert row_alignment([Rect(0, 0, 16, 20), Rect(24, 0, 100, 20)], 10) == "center"


def test_the_cards_on_a_band_begin_where_they_were_seen() -> None:
    band = [box(0, 100, 1280, 70, "#e3f2f8")]
    cards: list[Box | TextElement] = []
    for at, word in enumerate(("Oak", "Ash", "Elm", "Yew")):
        cards += [box(240 + 80 * at, 110, 79, 50, "#ffffff", border=True), text(260 + 80 * at, 125, word, 14)]
    wide = text(140, 400, "A line that begins farther to the left than the cards of the band do, and is long.", 25)
    [padding] = re.findall(r"padding: [^;]*calc\(50% - ([\d.]+)px\)", _css(seen(*band, *cards, wide, height=600)))
    assert float(padding) == 400


def test_the_widest_gap_of_a_row_of_words_gives_up_all_that_a_narrower_window_takes() -> None:
    title, values = text(68, 100, "Everything that floats", 36), [text(1055, 103, "Harbour", 16, 700)]
    values.append(text(1140, 103, "WARNING", 16))
    page = seen(title, *values, *(text(68, 200 + 40 * at, "Words below. " * 9, 16) for at in range(3)), height=500)
    [(rest, gap)] = re.findall(r"margin-left: clamp\(20px, 100% - (\d+)px, ([\d.]+)px\)", _css(page))
    assert float(gap) == pytest.approx(1055 - title.rect.right, abs=0.5)
    assert title.rect.w + values[1].rect.right - 1055 <= float(rest) + 1


def test_a_column_at_the_right_is_as_wide_as_it_was_seen() -> None:
    column = Part("stack", Rect(880, 300, 360, 80), tuple(_row(300 + 60 * at) for at in range(2)))
    place = Declarations()
    place_across(column, LayoutRoom(0, 1280, "sans", (0, 1280), 1280), place, Declarations())
    assert (place["align-self"], place["margin-right"], place["max-width"]) == ("flex-end", "40px", "360px")


def _link_places(x: float, words: str = "Boats", tag: str = "a") -> Declarations:
    element, place = text(x, 300, words), Declarations()
    link = Part("text", element.rect, text=element, tag=tag, name="link")
    place_across(link, LayoutRoom(0, 1280, "sans", (0, 1280), 1280), place, Declarations())
    return place


def test_a_link_has_the_width_of_its_words() -> None:
    wide = text(0, 0, "Boats").rect.w
    assert _link_places(0)["align-self"] == "flex-start"
    assert _link_places(1280 - wide)["align-self"] == "flex-end"
    assert _link_places((1280 - wide) / 2)["align-self"] == "center"
    assert "align-self" not in _link_places(0, tag="p")
    assert "align-self" not in _link_places(0, "Boats for everybody, in any weather " * 3)


@pytest.mark.parametrize("tag", ["p", "a"])
def test_the_longest_line_of_a_list_is_not_at_its_right(tag: str) -> None:
    words = text(412, 0, "How often should the fans of a cellar be cleaned?", 12)
    child = Part("text", words.rect, text=words, tag=tag)
    for left, is_right in ((words.rect.x - 10, False), (words.rect.x - 200, True)):
        edges = (left, words.rect.right)
        place, slim = Declarations(), Declarations()
        place_across(child, LayoutRoom(*edges, "sans", edges, 1280), place, slim)
        is_at_right = place.get("text-align") == "right" or place.get("align-self") == "flex-end"
        assert is_at_right is is_right


def _row(top: float) -> Part:
    name, price = text(880, top, "A short name", 16), text(1200, top, "12.50", 16)
    return Part("row", Rect(880, top, 360, 20), tuple(Part("text", words.rect, text=words) for words in (name, price)))


def test_the_head_of_a_wide_panel_is_not_a_field() -> None:
    panel = [box(140, 300, 1000, 36, "#f5f5f5", border=True), text(157, 309, "Your Shopping Cart", 16)]
    page = seen(text(140, 40, "Everything that floats", 40, 700), *panel, height=600)
    assert not [node for node in _nodes(page) if node.tag == "input"]


def test_a_select_whose_frame_was_seen_as_lines_is_a_select() -> None:
    frame = [box(602, 298, 112, 1, "#3b82f6"), box(602, 323, 112, 1, "#3b82f6"), box(600, 299, 116, 24, "#efefef")]
    words = [text(500, 303, "Colour of it:", 14), text(607, 303, "Chestnut", 13)]
    arrow = PictureElement(Rect(700, 306, 14, 11), "icon", "icon-1", PNG)
    page = seen(text(140, 40, "Everything that floats", 40, 700), *frame, *words, arrow, height=600)
    [select] = [node for node in _nodes(page) if node.tag == "select"]
    assert "#3b82f6" in dict(select.style)["border"]


def _pale_field(*rules: Box, colour: str = "#999999", fill: str = "#ffffff") -> list[Node]:
    ground = box(0, 200, 1280, 300, "#eeeeee")
    field = [box(409, 302, 498, 31, fill), *rules, text(421, 309, "Family name", 14, colour=colour)]
    page = seen(text(140, 40, "Everything that floats", 40, 700), ground, *field, height=600)
    return [node for node in _nodes(page) if node.tag == "input"]


def test_a_long_white_box_with_pale_words_at_its_left_is_a_field_though_its_frame_was_not_seen() -> None:
    [field] = _pale_field()
    assert dict(field.attributes)["placeholder"] == "Family name"
    assert not _pale_field(colour="#1f2937")
    assert not _pale_field(fill="#dbeafe")


def test_a_line_below_a_field_is_its_frame() -> None:
    [field] = _pale_field(box(409, 332, 495, 1, "#cccccc"))
    assert "#cccccc" in dict(field.style)["border"]


def _paragraph(left: float, *lines: str) -> TextElement:
    return as_text([text(left, 100 + 20 * at, line).lines[0] for at, line in enumerate(lines)])


def _columns(left: float, *, right: float = 640) -> Detection:
    """Two paragraphs beside each other, as wide as their longest lines; `right` is where the second begins."""
    first = _paragraph(left, "One long line of the first column", "and another one below it")
    return seen(first, _paragraph(right, "The second column has lines", "of its own beside the first"), height=400)


def test_a_paragraph_in_a_row_keeps_its_width_at_the_width_of_the_page() -> None:
    whole = re.search(r"@media \(min-width: 1280px\) \{(.*?)\n\}", _css(_columns(100)), re.DOTALL)
    assert whole is not None
    assert "flex-shrink: 0" in whole[1]
    at_the_edge = _css(_columns(100, right=1076))
    assert "flex-shrink" not in at_the_edge  # it would reach beyond the page
    assert "page:shrink-0" in str(write_files(arrange(_columns(100)), "html_tailwind")["index.html"])


def test_a_column_of_text_gets_room_for_its_longest_line_wherever_that_begins() -> None:
    texts = [_paragraph(42, "One long line of the first column", "and another one below it"), text(40, 160, "Two")]
    wide = max(line.rect.right for line in texts[0].lines) - 40
    beside = box(640, 100, 300, 300)
    bases = {float(basis) for basis in re.findall(r"flex: 0 1 ([\d.]+)px", _css(seen(beside, *texts, height=500)))}
    assert wide + 1 <= min(bases) < beside.rect.w


def test_a_text_of_several_lines_in_a_grid_wraps_where_it_was_seen() -> None:
    cells = [_paragraph(60 + 300 * at, "Twitter", "Facebook") for at in range(3)]
    widest = max(line.rect.w for line in cells[0].lines)
    stacks = tuple(Part("stack", cell.rect, (Part("text", cell.rect, text=cell, tag="p"),)) for cell in cells)
    parts = (*stacks[:2], Part("text", cells[2].rect, text=cells[2], tag="p"))
    around = Rect(60, cells[0].rect.y, 800, cells[0].rect.h)  # the columns are wider than the words in them
    node = lay_out(Part("grid", around, parts, columns=3), LayoutRoom(0, 1280, "sans", (60, 860), 1280))
    for cell in walk_nodes((node,)):
        if cell.tag == "p":
            assert widest <= float(dict(cell.style)["max-width"].removesuffix("px")) < 2 * widest


def test_a_row_of_words_in_a_row_stays_on_one_line_at_the_width_of_the_page() -> None:
    words: list[TextElement] = []
    for word in ("Boats", "Times", "Fares", "Ports"):
        words.append(text(words[-1].rect.right + 22 if words else 180, 30, word, 15))
    page = _css(seen(text(40, 28, "Ferrywise", 20, 700), *words, box(1100, 20, 100, 40), height=300))
    whole = re.search(r"@media \(min-width: 1280px\) \{(.*?)\n\}", page, re.DOTALL)
    assert whole is not None
    assert re.search(r"page-nav[^}]*\{ flex-wrap: nowrap", whole[1])
