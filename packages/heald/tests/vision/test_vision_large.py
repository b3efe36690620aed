"""Large pictures: forty megapixels are read quickly, the pixel ratio is found, no page is far wider than a screen."""

import io
from time import process_time

import pytest
from PIL import Image, ImageDraw, ImageFont

from heald_local.arrange.page import arrange
from heald_local.see.detect import detect_elements
from heald_local.see.screenshot import load_screenshot
from heald_local.write.stacks import write_files
from heald_pictures.screen_scale import LARGE, WIDEST
from heald_studio.input.pictures import read_picture
from local_support import needs_vision

SECONDS = 60.0
"""Seconds of all cores: half as many pass on a machine with two."""


def _page(ratio: int, width: int = 1280, height: int = 860) -> Image.Image:
    """A page as a screen with so many pixels for each CSS pixel shows it."""
    image = Image.new("RGB", (width * ratio, height * ratio), "#ffffff")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(16 * ratio)
    pen.rectangle((0, 0, width * ratio, 57 * ratio - 1), fill="#12324a")
    for number in range(8):
        top, left = (101 + 91 * number) * ratio, 41 * ratio
        pen.rectangle((left, top, left + 701 * ratio - 1, top + 63 * ratio - 1), fill=f"#e{number}f0f7")
        pen.text((left + 15 * ratio, top + 19 * ratio), f"Harbour number {number} opens at nine", "#14201f", font=font)
    return image


def _bytes(image: Image.Image, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    image.save(out, kind, compress_level=1)
    return out.getvalue()


@pytest.mark.parametrize("ratio", [1, 2, 3, 4, 6])
def test_the_pixel_ratio_is_found_up_to_six(ratio: int) -> None:
    data = _bytes(_page(ratio, height=860 if ratio < 6 else 440))
    assert load_screenshot(data).pixels.shape[1] == 1280
    picture = read_picture(data)
    assert picture.width // picture.ratio == 1280


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_photograph_becomes_a_page_of_a_screen(kind: str) -> None:
    rough = Image.effect_noise((48, 12), 90).convert("RGB").resize((7_680, 1_920), Image.Resampling.BICUBIC)
    assert rough.width * rough.height > LARGE
    picture = read_picture(_bytes(rough, kind))
    assert picture.width // picture.ratio <= WIDEST
    assert load_screenshot(picture.data).pixels.shape[1] <= WIDEST


@needs_vision
def test_forty_million_pixels_take_less_than_half_a_minute() -> None:
    data = _bytes(_page(6).resize((7_680, 5_160)))
    started = process_time()
    picture = read_picture(data)
    seen = detect_elements(picture.data)
    html = str(write_files(arrange(seen))["index.html"])
    seconds = process_time() - started
    print(f"40 megapixels: {seconds:.1f} s of all cores")
    assert seen.width == 1280
    assert "Harbour number 3 opens at nine" in html
    assert seconds < SECONDS
