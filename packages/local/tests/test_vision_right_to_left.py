"""Pages that are read from right to left."""

import re

from heald_local.arrange.page import arrange
from heald_local.arrange.right_to_left import mirror_detection
from heald_local.write.stacks import write_files
from heald_pictures.elements import Border, Box, Detection
from heald_pictures.rect import Rect
from vision_pages import box, picture, seen, text

LINKS = ("الرئيسية", "المنتجات", "الأخبار", "الأسعار")


def _right(edge: float, y: float, words: str, size: float = 16, weight: int = 400):
    measured = text(0, y, words, size, weight)
    return text(edge - measured.rect.w, y, words, size, weight)


def _page() -> Detection:
    links = [_right(1100 - 110 * at, 26, name, 15) for at, name in enumerate(LINKS)]
    parts = [_right(1240, 24, "بيان", 20, 700), *links, picture(32, 20, 24, 24)]
    parts += [_right(1188, 160, "خط جديد في الربيع", 40, 700), _right(1188, 230, "نفحص كل طلب مرتين", 17)]
    parts += [box(1079, 280, 109, 44, "#be123c", radius=6), _right(1166, 292, "اقرأ المزيد", 15)]
    parts += [picture(92, 150, 536, 300, 2), _right(1188, 520, "import heald.", 15)]
    return seen(*parts, height=700)


def _html() -> str:
    return str(write_files(arrange(_page()))["index.html"])


def test_the_document_has_the_direction_and_its_texts_need_none() -> None:
    html = _html()
    assert '<html lang="ar" dir="rtl">' in html
    assert 'dir="rtl"' not in html.partition("<body>")[2]


def test_a_text_in_latin_letters_keeps_its_own_direction() -> None:
    assert re.search(r'<(?:p|a)[^>]* dir="ltr"[^>]*>import heald\.</', _html())


def test_rows_are_in_reading_order() -> None:
    html = _html()
    places = [html.index(f">{name}<") for name in ("بيان", *LINKS)]
    assert places == sorted(places)
    assert html.index("خط جديد في الربيع</h1>") < html.index("photo-2")


def test_distances_are_set_from_the_right() -> None:
    css = _html().partition("<style>")[2].partition("</style>")[0]
    assert "margin-right" in css
    assert "margin-left: min(" not in css


def test_mirroring_twice_gives_the_same_elements() -> None:
    whole = seen(Box(Rect(10, 10, 300, 60), "#ffffff", border=Border((1, 2, 3, 4), "#dddddd")), text(30, 20, "بيان"))
    mirrored = mirror_detection(whole)
    assert mirrored.boxes[0].rect.x == 970
    assert mirrored.boxes[0].border == Border((1, 4, 3, 2), "#dddddd")
    assert mirror_detection(mirrored) == whole


def test_a_page_in_latin_letters_is_not_mirrored() -> None:
    html = str(write_files(arrange(seen(text(96, 40, "Harbour Works", 30, 700), text(96, 120, "Ropes"))))["index.html"])
    assert '<html lang="en">' in html
    assert "dir=" not in html
