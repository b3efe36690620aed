"""What is not text: the score falls with the area that changed, and a page with a visible fault never reads 100 %."""

from io import BytesIO

import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image, ImageDraw

from heald_studio.score.changed_area import find_changed_area
from heald_studio.score.figure_text import floor_figure, format_figure, format_percent, format_whole_percent
from heald_studio.score.heat_map import shows_red
from heald_studio.score.page_image import PageImage, Pixels, decode_pixels
from heald_studio.score.score import score
from score_support import CARDS, HEIGHT, WIDTH, drawn

TARGET = drawn()


def _painted(*boxes: tuple[int, int, int, int], colour: str = "#1f7a3d") -> PageImage:
    """The page with more boxes: left, top, right, bottom."""
    with Image.open(BytesIO(TARGET.image)) as image:
        picture = image.convert("RGB")
    for box in boxes:
        ImageDraw.Draw(picture).rectangle(box, fill=colour)
    out = BytesIO()
    picture.save(out, "PNG")
    return PageImage(out.getvalue(), TARGET.texts)


def _changed_share(first: PageImage, second: PageImage) -> float:
    pixels = decode_pixels(first.image).astype(int), decode_pixels(second.image).astype(int)
    return float((np.abs(pixels[0] - pixels[1]).max(axis=2) >= 8).mean())


@pytest.mark.parametrize("count", range(len(CARDS)))
def test_the_score_falls_by_the_area_of_the_boxes_that_are_gone(count: int) -> None:
    copy = drawn(cards=CARDS[:count])
    result = score(TARGET, copy)
    assert 1 - result.overall >= _changed_share(TARGET, copy) > 0
    assert result.shapes < 1


def test_another_ground_is_another_page() -> None:
    copy = drawn(ground=(255, 240, 220))
    assert score(TARGET, copy).overall < 1 - _changed_share(TARGET, copy) < 0.4


def test_a_ground_that_is_hardly_another_costs_little() -> None:
    assert 0.6 < score(TARGET, drawn(ground=(248, 248, 246))).overall < 1


@pytest.mark.parametrize(
    "mark", [(700, 500, 706, 506), (40, 540, 760, 540), (300, 480, 301, 540)], ids=["dot", "line across", "line down"]
)
def test_a_small_mark_that_is_lost_or_invented_is_not_100_percent(mark: tuple[int, int, int, int]) -> None:
    marked = _painted(mark)
    for result in (score(marked, TARGET), score(TARGET, marked)):
        assert result.overall <= 0.999
        assert format_whole_percent(result.overall) == "99 %"
        assert result.shapes < 1
        assert 1 - result.overall >= _changed_share(marked, TARGET)


def test_a_tick_that_became_a_dot_is_seen() -> None:
    tick = _painted((700, 500, 702, 512), (700, 510, 712, 512))
    dot = _painted((704, 504, 708, 508))
    result = score(tick, dot)
    assert result.red
    assert format_whole_percent(result.overall) != "100 %"


def test_a_page_reads_1_only_if_the_map_shows_no_red() -> None:
    pixels = decode_pixels(TARGET.image)
    dimmed = pixels.copy()
    dimmed[300:304, 500:504] -= 9
    assert shows_red(pixels, dimmed)
    assert not shows_red(pixels, pixels)
    whole = score(TARGET, TARGET)
    assert whole.overall == 1.0
    assert replace(whole, red=True).overall == 0.999


def _square(left: int, level: int = 40) -> Pixels:
    pixels = np.full((60, 80, 3), 250, np.uint8)
    pixels[20:40, left : left + 20] = level
    return pixels


def test_an_edge_may_move_by_a_pixel() -> None:
    assert find_changed_area(_square(30), _square(31)).share == 0
    moved = find_changed_area(_square(30), _square(40))
    assert moved.share == pytest.approx(2 * 20 * 9 / (60 * 80), rel=0.2)
    assert moved.shape_similarity < 0.5


def test_colours_count_by_how_visible_they_are() -> None:
    assert find_changed_area(_square(30, 40), _square(30, 43)).share == 0
    faint, plain = (
        find_changed_area(_square(30, 40), _square(30, 44)),
        find_changed_area(_square(30, 40), _square(30, 60)),
    )
    assert faint.share == pytest.approx(plain.share / 5)
    assert plain.shape_similarity == 0


def test_a_tall_page_is_compared_to_its_end() -> None:
    first = np.full((700, 40, 3), 250, np.uint8)
    second = first.copy()
    second[254:258] = 10
    second[690:] = 10
    assert find_changed_area(first, second).share == pytest.approx(14 / 700)


def test_bold_and_italic_text_counts() -> None:
    assert TARGET.texts is not None

    def styled(bold: float, italic: float) -> PageImage:
        texts = tuple(replace(text, bold=bold, italic=italic) for text in TARGET.texts or ())
        return PageImage(TARGET.image, texts)

    assert score(styled(1.0, 0.0), styled(1.0, 0.0)).overall == 1.0
    assert score(TARGET, styled(1.0, 1.0)).style == 1.0, "it is not known whether the target is bold"
    for copy in (styled(0.0, 0.0), styled(1.0, 1.0)):
        result = score(styled(1.0, 0.0), copy)
        assert result.style == 0.0
        text_area = sum(text.w * text.h for text in TARGET.texts) / (WIDTH * HEIGHT)
        assert 1 - result.overall > text_area


@pytest.mark.parametrize(
    ("value", "figure", "whole", "tenths", "at_most"),
    [
        (1.0, "1.000", "100 %", "100.0 %", "100.0 %"),
        (0.9999, "0.999", "99 %", "99.9 %", "100.0 %"),
        (0.29, "0.290", "29 %", "29.0 %", "29.0 %"),
        (0.0001, "0.000", "0 %", "0.0 %", "0.1 %"),
        (0.0, "0.000", "0 %", "0.0 %", "0.0 %"),
    ],
)
def test_figures_are_not_rounded_towards_the_better_side(
    value: float, figure: str, whole: str, tenths: str, at_most: str
) -> None:
    assert format_figure(value) == figure
    assert floor_figure(value) == float(figure)
    assert format_whole_percent(value) == whole
    assert format_percent(value) == tenths
    assert format_percent(value, less_is_better=True) == at_most
