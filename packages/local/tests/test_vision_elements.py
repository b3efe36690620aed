"""One element for one thing: buttons hold their words themselves, fields their icons, pictures their size."""

import io

from PIL import Image

from heald_local.arrange.page import arrange, trim_pictures
from heald_local.page import Node, Page, walk_nodes
from heald_local.write.stacks import write_files
from heald_pictures.elements import PictureElement
from heald_pictures.rect import Rect
from vision_pages import box, picture, seen, text


def _find(page: Page, tag: str) -> list[Node]:
    return [node for node in walk_nodes(page.body) if node.tag == tag]


def _drawn(rect: Rect, kind: str = "unread") -> PictureElement:
    out = io.BytesIO()
    Image.linear_gradient("L").resize((int(rect.w), int(rect.h))).convert("RGB").save(out, "PNG")
    return PictureElement(rect, "unread" if kind == "unread" else "photo", f"{kind}-1", out.getvalue())


def test_a_framed_text_with_an_arrow_behind_it_is_a_select_with_its_label() -> None:
    page = arrange(
        seen(
            text(80, 100, "Voice", 14),
            box(80, 122, 300, 44, "#ffffff", border=True, radius=6),
            text(94, 135, "Alto", 15),
            picture(350, 140, 10, 7),
        )
    )
    [select], [option], [label] = _find(page, "select"), _find(page, "option"), _find(page, "label")
    assert option.lines == ("Alto",)
    assert dict(label.attributes)["for"] == dict(select.attributes)["id"]
    assert "assets/photo-1.png" in dict(select.style)["background"]
    assert not _find(page, "img")


def test_a_framed_text_with_an_icon_before_it_is_a_search_field() -> None:
    page = arrange(
        seen(box(80, 122, 400, 44, "#ffffff", border=True), picture(92, 136, 16, 16), text(118, 135, "Search here", 15))
    )
    (field,) = _find(page, "input")
    assert dict(field.attributes)["type"] == "search"
    assert dict(field.attributes)["aria-label"] == "Search here"
    assert "left 11px" in dict(field.style)["background"]


def test_a_badge_is_one_element() -> None:
    page = arrange(
        seen(
            text(80, 40, "Title of it all", 30, 700),
            box(80, 122, 70, 24, "#fee2e2", radius=12),
            text(92, 126, "New", 13),
        )
    )
    (badge,) = [node for node in walk_nodes(page.body) if node.lines == ("New",)]
    assert ("background", "#fee2e2") in badge.style
    assert ("font-size", "13px") in badge.style


def test_pictures_have_their_size_as_attributes() -> None:
    page = arrange(seen(picture(80, 100, 200, 150)))
    (image,) = _find(page, "img")
    assert dict(image.attributes)["width"] == "200"
    assert dict(image.attributes)["height"] == "150"
    assert "height: auto" in str(write_files(page)["index.html"])


def test_the_tick_box_in_a_line_that_could_not_be_read_is_cut_off_it() -> None:
    whole = seen(box(64, 101, 13, 13, "#ffffff", border=True), _drawn(Rect(63, 100, 120, 16)))
    after = trim_pictures(whole)
    assert len(after.boxes) == 1
    (line,) = after.pictures
    assert line.rect == Rect(79, 100, 104, 16)
    with Image.open(io.BytesIO(line.data)) as image:
        assert image.size == (104, 16)
    page = arrange(whole)
    assert dict(page.assets)["assets/unread-1.png"] == line.data
    assert dict(_find(page, "img")[0].attributes)["width"] == "104"


def test_a_box_in_the_middle_of_a_picture_is_part_of_it() -> None:
    after = trim_pictures(seen(box(150, 150, 40, 30), _drawn(Rect(100, 100, 200, 200), "photo")))
    assert after.boxes == ()
    assert after.pictures[0].rect == Rect(100, 100, 200, 200)


def test_headings_are_not_made_of_letters_that_stand_on_each_other() -> None:
    crowded = text(80, 300, "Normal", 30, 700)
    style = crowded.style.__class__("sans", 30, 700, False, "#1f2937", spacing=-4.2)
    crowded = crowded.__class__(crowded.lines, crowded.rect, style, "left", crowded.line_height)
    page = arrange(
        seen(
            text(80, 200, "A title", 26, 700), *(text(80, 400 + 30 * n, "Plain words here") for n in range(2)), crowded
        )
    )
    assert [node.lines for node in walk_nodes(page.body) if node.tag in ("h1", "h2", "h3")] == [("A title",)]


def test_cards_that_differ_by_less_than_is_seen_are_one_class() -> None:
    cards = [
        part
        for number, x in enumerate((80, 420, 760))
        for part in (
            box(x, 300, 300, 120, "#e0e7ff", radius=8),
            text(x + 24 + 0.2 * number, 324, f"Card {number}", 18, 700),
            text(x + 24 + 0.2 * number, 360, f"Says {number}", 14),
        )
    ]
    html = str(write_files(arrange(seen(*cards)))["index.html"])
    assert html.count('class="card"') == 3


def test_an_o_before_words_is_a_choice() -> None:
    ring = text(82, 300, "O", 18)
    line = ring.lines[0]
    square = line.__class__("O", Rect(83, 303, 13, 13), line.rect, line.style, line.baseline, 0.9)
    ring = ring.__class__((square,), ring.rect, ring.style, "left", ring.line_height)
    page = arrange(seen(text(80, 200, "A title of it", 26, 700), ring, text(108, 300, "Two hours before")))
    (choice,) = _find(page, "input")
    assert dict(choice.attributes) == {"type": "radio", "aria-label": "Two hours before"}


def test_marks_stand_with_their_words_and_not_in_a_column() -> None:
    marks = [picture(80, 300 + 60 * number, 16, 16, number) for number in range(3)]
    words = [text(108, 300 + 60 * number, f"Choice {number}") for number in range(3)]
    more = [text(108, 324 + 60 * number, f"What choice {number} means", 14) for number in range(3)]
    aside = [text(500, 300, "Beside all of it", 18), text(500, 380, "Something else stands here")]
    page = arrange(seen(*marks, *words, *more, *aside))
    rows = [node for node in walk_nodes(page.body) if len(node.children) > 1 and node.children[0].tag == "img"]
    words = [[line for node in walk_nodes((row.children[1],)) for line in node.lines] for row in rows]
    assert words == [["Choice 0"], ["Choice 1"], ["Choice 2"]]
