"""Flat panels on photographs: cards in the page's own colour, their text, and what must stay picture."""

import io

import numpy as np
import pytest
from PIL import Image
from vision_drawing import Paper

from heald_local.arrange.page import arrange
from heald_local.see.detect import detect_elements
from heald_local.see.ink import Ink, extract_ink
from heald_local.see.inpainting import inpaint_panels
from heald_local.see.models import available
from heald_local.see.panels import confirm_panels, find_panels
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, PictureElement, TextLine, TextStyle
from heald_pictures.fonts import faces
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

models_needed = pytest.mark.skipif(
    not available() or not any(face.path for face in faces()), reason="the models of heald[local] or fonts are missing"
)
PHOTO = Rect(0, 40, 600, 260)


def _photo(width: int, height: int, seed: int = 7) -> Image.Image:
    """Hills of noise: no pixel has a neighbour of its own colour for long."""
    rng = np.random.default_rng(seed)
    rows = np.linspace(60, 170, height)[:, None, None] + np.array([0, 20, 45])
    return Image.fromarray((rows + rng.normal(0, 14, (height, width, 1))).clip(0, 255).astype(np.uint8))


def _hero(colour: str = "#ffffff") -> Paper:
    paper = Paper(600, 480, colour)
    paper.image.paste(_photo(600, 260), (0, 40))
    return paper


def _find(paper: Paper, lines: list[Rect], colour: str = "#ffffff", boxes: list[Box] | None = None) -> list[Box]:
    pixels = np.asarray(paper.image)
    page = np.empty_like(pixels)
    page[:] = Image.new("RGB", (1, 1), colour).getpixel((0, 0))
    for box in boxes or []:
        part = box.rect
        page[int(part.y) : int(part.bottom), int(part.x) : int(part.right)] = tuple(bytes.fromhex(box.fill[1:]))
    return find_panels(pixels, page, PHOTO, boxes or [], _inks(pixels, page, lines))


def _inks(pixels: Pixels, page: Pixels, lines: list[Rect]) -> list[Ink]:
    inks = [extract_ink(pixels, page, line) for line in lines]
    return [ink for ink in inks if ink is not None]


@pytest.mark.parametrize("x", [0, 120, 300])
@pytest.mark.parametrize(
    ("colour", "letters"), [("#ffffff", "#1f2937"), ("#f3f4f6", "#1f2937"), ("#111827", "#ffffff")]
)
def test_a_card_in_the_pages_colour_is_a_panel(x: int, colour: str, letters: str) -> None:
    paper = _hero(colour)
    paper.box(x, 200, 300, 100, colour)
    paper.text(x + 24, 250, "Homes that last", 24, letters, bold=True)
    (panel,) = _find(paper, [Rect(x + 20, 228, 260, 32)], colour)
    assert (panel.rect, panel.fill, panel.radius) == (Rect(x, 200, 300, 100), colour, 0)


def test_a_card_that_runs_on_into_the_page_keeps_its_text() -> None:
    paper = _hero()
    paper.box(120, 200, 300, 100, "#ffffff")
    paper.text(150, 250, "Homes that last", 24, bold=True)
    paper.text(150, 296, "Planned and built by us", 16)
    paper.text(150, 322, "since the year 1921", 16)
    for x in (40, 240, 440):
        paper.text(x, 420, "Clear plans", 16)
    lines = [Rect(146, 228, 260, 30), Rect(146, 280, 200, 22), Rect(146, 306, 200, 22)]
    (panel,) = _find(paper, [*lines, *(Rect(x - 2, 404, 110, 22) for x in (40, 240, 440))])
    assert panel.rect.y == 200
    assert 326 <= panel.rect.bottom <= 400


def test_round_corners_are_those_on_the_photograph() -> None:
    paper = _hero()
    paper.box(120, 200, 300, 140, "#ffffff", 16)
    paper.text(150, 250, "Homes that last", 24, bold=True)
    (panel,) = _find(paper, [Rect(146, 228, 260, 30)])
    assert abs(panel.radius - 16) <= 1


def test_a_box_that_is_known_stays_as_it_is() -> None:
    paper = _hero()
    paper.box(120, 200, 300, 140, "#e0f2fe")
    paper.text(150, 250, "Homes that last", 24, bold=True)
    card = Box(Rect(120, 200, 300, 140), "#e0f2fe")
    assert _find(paper, [Rect(146, 228, 260, 30)], boxes=[card]) == [card]


def test_text_on_the_photograph_itself_makes_no_panel() -> None:
    paper = _hero()
    paper.text(150, 250, "Homes that last", 24, "#ffffff", bold=True)
    assert _find(paper, [Rect(146, 228, 260, 30)]) == []


def test_a_flat_place_without_text_or_of_another_shape_is_no_panel() -> None:
    paper = _hero()
    paper.box(120, 200, 300, 100, "#ffffff")
    paper.box(150, 90, 160, 30, "#1f2937")
    assert _find(paper, [Rect(150, 90, 160, 30)]) == []
    cloud = _hero()
    cloud.pen.polygon([(100, 290), (300, 90), (500, 290)], fill="#ffffff")
    cloud.text(230, 250, "Homes that last", 20, bold=True)
    assert _find(cloud, [Rect(226, 228, 180, 30)]) == []


def test_only_a_panel_with_certain_type_is_kept() -> None:
    style = TextStyle("sans", 24, 700, False, "#1f2937")
    left, right = Box(Rect(0, 0, 200, 60), "#ffffff"), Box(Rect(300, 0, 200, 60), "#ffffff")
    sure = TextLine("Homes", Rect(10, 20, 80, 20), Rect(10, 20, 80, 24), style, 38, 0.99, 0.95)
    weak = TextLine("III", Rect(310, 20, 80, 20), Rect(310, 20, 80, 24), style, 38, 0.7, 0.62)
    free = TextLine("Below", Rect(10, 200, 80, 20), Rect(10, 200, 80, 24), style, 218, 0.7, 0.62)
    assert confirm_panels([left, right], [sure, weak, free]) == ([left], [sure, free])


def test_the_photograph_is_healed_below_a_panel_and_only_there() -> None:
    image = _photo(200, 120)
    image.paste((255, 255, 255), (50, 60, 150, 120))
    out = io.BytesIO()
    image.save(out, "PNG")
    photo = PictureElement(Rect(10, 10, 200, 120), "photo", "photo-1", out.getvalue())
    healed = inpaint_panels(photo, [Box(Rect(60, 70, 100, 90), "#ffffff")])
    before, after = np.asarray(image), np.asarray(Image.open(io.BytesIO(healed.data)))
    hole = np.zeros((120, 200), np.bool_)
    hole[59:, 49:151] = True
    assert (before[~hole] == after[~hole]).all()
    assert after[hole].max() < 235
    assert abs(float(after[hole].mean()) - float(before[~hole].mean())) < 60


@models_needed
def test_the_words_on_a_card_over_a_photograph_become_text() -> None:
    paper = Paper(1000, 560)
    paper.image.paste(_photo(1000, 300), (0, 60))
    paper.text(40, 36, "Norland", 20, bold=True)
    paper.box(60, 260, 420, 160, "#ffffff")
    paper.text(90, 310, "Homes that last", 32, bold=True)
    paper.text(90, 350, "We plan and build wooden houses", 16)
    paper.text(90, 386, "from the first sketch to the last nail.", 16)
    paper.text(40, 500, "Clear plans", 16)
    paper.text(420, 500, "Steady work", 16)
    paper.text(640, 500, "Fair prices", 16)
    seen = detect_elements(paper.png())
    said = " ".join(text.text for text in seen.texts)
    assert "Homes that last" in said
    assert "We plan and build wooden houses" in said
    assert [picture.rect for picture in seen.pictures] == [Rect(0, 60, 1000, 300)]
    html = write_files(arrange(seen))["index.html"]
    assert isinstance(html, str)
    assert "margin-top: -" in html
    assert "grid-area" not in html


@models_needed
def test_words_on_a_panel_inside_a_photograph_stand_on_a_box_on_it() -> None:
    paper = Paper(1000, 460)
    paper.image.paste(_photo(1000, 320), (0, 60))
    paper.text(40, 36, "Norland", 20, bold=True)
    paper.box(60, 140, 420, 140, "#ffffff")
    paper.text(90, 196, "Homes that last", 32, bold=True)
    paper.text(90, 240, "We plan and build wooden houses", 16)
    paper.text(40, 430, "Clear plans for all who come", 16)
    seen = detect_elements(paper.png())
    assert "Homes that last" in {text.text for text in seen.texts}
    assert [picture.kind for picture in seen.pictures] == ["ground"]
    assert Rect(60, 140, 420, 140) in {box.rect for box in seen.boxes}
    drawing = write_files(arrange(seen), "svg")["image.svg"]
    assert isinstance(drawing, str)
    assert drawing.index("<image") < drawing.index('width="420"') < drawing.rindex("Homes that last")
