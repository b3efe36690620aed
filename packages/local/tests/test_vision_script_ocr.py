"""Lines in scripts that the first reader does not know, read by Heald's own network."""

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from vision_drawing import Paper, face_of, ink_of

from heald_local.see import models, script_ocr
from heald_local.see.face_fits import fit_faces
from heald_local.see.ink import extract_ink
from heald_local.see.ocr import PROBES, OcrResult
from heald_local.see.screenshot import load_screenshot
from heald_local.see.script_ocr import read_page_lines, read_script_line, read_scripts, to_logical_order
from heald_pictures.elements import Family
from heald_pictures.fonts import face
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels


@pytest.fixture(autouse=True)
def network() -> None:
    if models.script_network() is None:
        pytest.skip("the network that reads scripts is not installed")


def _line(family: Family, text: str, size: int = 20, ink: str = "#1f2937", paper: str = "#ffffff") -> Pixels:
    """Draw a line and crop it as the converter does."""
    path = face_of(family).path
    fine = Image.new("L", (900 * 4, 90 * 4), 0)
    font = ImageFont.truetype(path, size * 4, index=1 if path.endswith(".ttc") else 0)
    ImageDraw.Draw(fine).text((20 * 4, 60 * 4), text, fill=255, font=font, anchor="ls")
    mask = fine.reduce(4)
    left, top, right, bottom = mask.getbbox() or (0, 0, 1, 1)
    margin = max(2, round((bottom - top) * 0.18))
    picture = Image.composite(Image.new("RGB", mask.size, ink), Image.new("RGB", mask.size, paper), mask)
    return np.asarray(picture.crop((left - margin, top - margin, right + margin, bottom + margin)))


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("sans", "Каждый день с десяти до семи"),
        ("serif", "Новости и планы города на 2026 год"),
        ("sans", "Їхній ґанок і щаслива неділя"),
        ("sans", "Версия для Windows и Android"),
        ("wide", "Καλημέρα σε όλους τους φίλους"),
        ("hebrew", "ספרייה עירונית פתוח"),
        ("wide", "פתוח בימים ראשון עד חמישי, 12:30"),
        ("arabic", "مكتبة المدينة"),
        ("naskh", "الأسعار تشمل الضريبة والإرجاع"),
        ("cjk", "작은 가게를 위한 예약 시스템"),
        ("cjk", "평일 오전 9시부터 Google 지도"),
    ],
)
def test_a_line_is_read(family: Family, text: str) -> None:
    reading = read_script_line(_line(family, text))
    assert reading.text == text
    assert reading.sure > 0.95


@pytest.mark.parametrize(("ink", "paper"), [("#ffffff", "#1d4ed8"), ("#9ca3af", "#f9fafb"), ("#b91c1c", "#166534")])
def test_colours_do_not_matter(ink: str, paper: str) -> None:
    assert read_script_line(_line("sans", "Доставка и оплата", 16, ink, paper)).text == "Доставка и оплата"


def test_places_of_letters_follow_the_line() -> None:
    reading = read_script_line(_line("cjk", "고객 지원 센터"))
    assert len(reading.places) == len(reading.letter_sure) == len(reading.text)
    assert list(reading.places) == sorted(reading.places)
    assert 0 < reading.places[0] < 0.2
    assert 0.8 < reading.places[-1] <= 1


def test_a_page_in_another_script_is_read_and_its_latin_lines_stay() -> None:
    words = ("Мебель, которая живёт долго", "Собираем столы и стулья", "Выбрать стол", "Том")
    crops = [*(_line("sans", phrase) for phrase in words), _line("sans", "support@bereg.example")]
    first = [OcrResult("  ,  ", 0.97, (), ()), OcrResult("", 0.0, (), ()), OcrResult(" ", 0.98, (), ())]
    first += [OcrResult("Tom", 0.99, (0.99,) * 3, (0.2, 0.5, 0.8)), OcrResult("support@bereg.example", 0.99, (), ())]
    assert [phrase.text for phrase in read_scripts(crops, first)] == [*words, "support@bereg.example"]


def test_a_latin_page_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_crop: Pixels) -> OcrResult:
        pytest.fail("it was read twice")

    monkeypatch.setattr(script_ocr, "read_script_line", refuse)
    crops = [_line("sans", phrase) for phrase in ("Opening hours", "About us")]
    first = [OcrResult("Opening hours", 0.99, (), ()), OcrResult("About us", 0.97, (), ())]
    assert read_scripts(crops, first) == first


NAMES = ("столы", "стулья", "шкафы", "полки", "лампы", "ковры", "диваны", "кресла")
COLOURS = ("белые", "чёрные", "зелёные", "красные")


@pytest.fixture
def first_reader(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of lines that the first reader reads at once."""
    counts: list[int] = []
    network = models.reading_network()

    def count(batch: NDArray[np.float32]) -> NDArray[np.float32]:
        counts.append(len(batch))
        return network(batch)

    monkeypatch.setattr(models, "reading_network", lambda: count)
    return counts


def test_on_a_page_in_another_script_the_first_reader_reads_only_what_the_network_does_not(
    first_reader: list[int],
) -> None:
    words = [f"Новые {colour} {name}" for name in NAMES for colour in COLOURS]
    crops = [_line("sans", phrase) for phrase in (*words, "support@bereg.example")]
    parts: list[float] = []
    readings = [reading.text for reading in read_page_lines(crops, lambda part, _: parts.append(part))]
    assert readings == [*words, "support@bereg.example"]
    assert PROBES < sum(first_reader) <= 2 * PROBES
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_on_a_latin_page_the_first_reader_reads_each_line_once(first_reader: list[int]) -> None:
    words = [f"{number} boats at the pier" for number in range(10, 10 + 2 * PROBES)]
    assert [reading.text for reading in read_page_lines([_line("sans", phrase) for phrase in words])] == words
    assert sum(first_reader) == len(words)


def test_doubtful_latin_stays_as_it_was() -> None:
    crops = [_line("sans", word, 14) for word in ("COMET", "TOP", "Box")]
    first = [OcrResult(word, 0.7, (), ()) for word in ("COMET", "TOP", "Box")]
    assert read_scripts(crops, first) == first


def test_scribble_is_never_read() -> None:
    paper = Paper(400, 60)
    random = np.random.default_rng(7)
    for _ in range(60):
        x, y = int(random.integers(20, 360)), int(random.integers(20, 40))
        paper.pen.line(
            (x, y, x + int(random.integers(-15, 15)), y + int(random.integers(-12, 12))), fill="#000000", width=2
        )
    unread = [OcrResult("", 0.0, (), ())]
    assert read_scripts([load_screenshot(paper.png()).pixels], unread) == unread


@pytest.mark.parametrize(
    ("seen", "written"),
    [
        ("שדוחה םיעוריא", "אירועים החודש"),
        (".סנכנש ימ לכל ,םירפס", "ספרים, לכל מי שנכנס."),
        ("12 רמתה בוחר", "רחוב התמר 12"),
        ("Google Cloud םע םידבוע ונחנא", "אנחנו עובדים עם Google Cloud"),
        ("(םויה) 23:00 – 7:00", "7:00 – 23:00 (היום)"),
        ("₪49.90 ריחמ", "מחיר ₪49.90"),
        ("English and תירבע here", "English and עברית here"),
        ("رگنايامن", "نمایانگر"),
    ],
)
def test_leftward_lines_are_written_in_the_order_of_speech(seen: str, written: str) -> None:
    assert to_logical_order(seen) == written


def test_figures_on_a_leftward_page_run_leftward_too() -> None:
    crops = [_line("wide", "שעות פתיחה"), _line("wide", "ספרים"), _line("sans", "23:00 - 7:00")]
    first = [OcrResult("", 0.0, (), ()), OcrResult("", 0.0, (), ()), OcrResult("23:00 - 7:00", 1.0, (), ())]
    assert [reading.text for reading in read_scripts(crops, first)] == ["שעות פתיחה", "ספרים", "7:00 - 23:00"]


def test_a_word_has_letters_of_one_script() -> None:
    unify = script_ocr._unify_words  # pyright: ignore[reportPrivateUsage]
    text = "Chrоme Bеpсия ТОМ Воx входИТ"
    sure = (1.0,) * 26 + (0.8, 0.8)
    assert unify(text, sure) == "Chrome Версия ТОМ Box входит"


def test_a_leftward_line_with_figures_fits_a_face_of_its_script() -> None:
    hebrew = face_of("hebrew")
    figures = face("wide").advance("12")
    assert hebrew.advance("רחוב 12") == pytest.approx(hebrew.advance("רחוב ") + figures, abs=0.02)
    ink = ink_of(face_of("wide"), "רחוב התמר 12", 24)
    fits = fit_faces(ink, "רחוב התמר 12")
    assert (fits[0].face.family, fits[0].size) == ("wide", 24.0)
    assert fits[0].likeness > 0.9


def test_arabic_is_read_where_spaces_come_from_another_font() -> None:
    drawn_with, text = face_of("wide"), "الأسعار تشمل الضريبة"
    fine = Image.new("L", (700 * 8, 90 * 8), 255)
    font = ImageFont.truetype(drawn_with.path, 24 * 8)
    pen = 660 * 8.0
    for word in text.split():
        ImageDraw.Draw(fine).text((round(pen), 60 * 8), word, fill=20, font=font, anchor="rs")
        pen -= font.getlength(word) + 0.2 * 24 * 8
    pixels = np.asarray(fine.reduce(8).convert("RGB"))
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 0, 700, 90))
    assert ink is not None
    box = ink.rect.grown(4)
    crop = pixels[int(box.y) : int(box.bottom), int(box.x) : int(box.right)]
    assert read_script_line(crop).text == text
