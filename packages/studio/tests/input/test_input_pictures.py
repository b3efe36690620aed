"""Pictures are decoded, checked and written anew: what a file says about itself is never believed."""

import base64
import io
import tracemalloc
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from input_pictures import chunk, opened, picture, png_header
from PIL import Image, ImageCms

from example_counts import scaled
from heald_studio.bad_input import BadInput
from heald_studio.input.pictures import MAX_SENT, MAX_SIDE, measure_picture, read_picture


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/png"), ("GIF", "image/png")],
)
def test_every_format_is_read(kind: str, media_type: str) -> None:
    read = read_picture(picture(kind))
    assert (read.media_type, read.width, read.height) == (media_type, 40, 30)
    pixel = numpy.asarray(opened(read.data).convert("RGB"))[5, 5].astype(int)
    assert numpy.abs(pixel - (255, 0, 0)).max() < 15


def test_heic_is_read() -> None:
    heif = pytest.importorskip("pillow_heif")
    out = io.BytesIO()
    heif.from_pillow(Image.new("RGB", (64, 48), "blue")).save(out)
    read = read_picture(out.getvalue())
    assert (read.media_type, read.width, read.height) == ("image/jpeg", 64, 48)


@pytest.mark.parametrize(("size", "scale"), [((40, 30), 1), ((1200, 700), 1), ((1200, 700), 2)])
def test_it_is_measured_as_it_is_read(size: tuple[int, int], scale: int) -> None:
    page = Image.new("RGB", size, "white")
    for row in range(5, size[1] - 20, 37):
        page.paste((40, 80, 200), (7, row, size[0] - 6, row + 17))
    out = io.BytesIO()
    page.resize((size[0] * scale, size[1] * scale), Image.Resampling.NEAREST).save(out, "PNG")
    read = read_picture(out.getvalue())
    assert read.ratio == scale
    assert measure_picture(out.getvalue()) == (read.width // read.ratio, read.height // read.ratio) == size


def test_it_goes_into_a_message() -> None:
    read = read_picture(picture())
    image = read.image()
    assert image.media_type == "image/png"
    assert base64.b64decode(image.data or "") == read.data


@pytest.mark.parametrize(
    "size", [(30_000, 30_000), (13_300, 13_300), (6_500, 6_500), (2**31 - 1, 1), (2**16, 2**15), (50_000, 1_000)]
)
def test_too_many_pixels_are_seen_in_the_header(size: tuple[int, int]) -> None:
    data = png_header(*size)
    tracemalloc.start()
    with pytest.raises(BadInput, match=r"pixels; at most 40 million are read\.") as caught:
        read_picture(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.kind == "image_too_large"
    assert peak < 10_000_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<!doctype html><script>alert(1)</script>",
        b"%PDF-1.7",
        b"PK\x03\x04",
        b"BM" + bytes(100),
        b"II*\0" + bytes(100),
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ],
)
def test_what_is_no_picture(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"^Logo\.png is not a picture that can be read; give PNG") as caught:
        read_picture(data, name="Logo.png")
    assert caught.value.kind == "not_an_image"


@pytest.mark.parametrize(
    "data",
    [
        picture("PNG", (200, 200))[:90],
        picture("JPEG", (200, 200))[:200],
        picture("PNG").replace(b"IDAT", b"IDAT\xff", 1),
        png_header(0, 10),
        png_header(10, 10),
    ],
)
def test_damage_is_a_clean_error(data: bytes) -> None:
    with pytest.raises(BadInput) as caught:
        read_picture(data)
    assert caught.value.kind in ("image_damaged", "not_an_image")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "kind", "colour"),
    [("L", "PNG", 200), ("I;16", "PNG", 51_200), ("CMYK", "JPEG", (0, 0, 0, 55)), ("1", "PNG", 1), ("P", "GIF", 0)],
)
def test_odd_modes_are_turned_into_plain_pixels(mode: str, kind: str, colour: Any) -> None:
    plain = opened(read_picture(picture(kind, mode=mode, colour=colour)).data)
    assert plain.mode == "RGB"
    if mode in ("L", "I;16", "CMYK"):
        level = plain.getpixel((3, 3))
        assert isinstance(level, tuple)
        assert all(abs(value - 200) <= 3 for value in level)


def test_transparency_stays() -> None:
    palette = Image.new("P", (10, 10), 0)
    palette.putpalette([255, 0, 0, 0, 255, 0])
    out = io.BytesIO()
    palette.save(out, "PNG", transparency=0)
    plain = opened(read_picture(out.getvalue()).data)
    assert plain.mode == "RGBA"
    assert plain.getpixel((1, 1)) == (255, 0, 0, 0)


def test_a_turned_photograph_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    read = read_picture(picture("JPEG", (40, 20), exif=exif.tobytes()))
    assert (read.width, read.height) == (20, 40)


def test_nothing_of_the_original_is_passed_on() -> None:
    exif = Image.Exif()
    exif[0x010E] = "CANARY-exif"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    whole = picture("PNG", exif=exif.tobytes(), icc_profile=profile)
    text = chunk(b"tEXt", b"Comment\0CANARY-text")
    end = whole.index(b"IEND") - 4
    whole = whole[:end] + text + whole[end:] + b"<script>CANARY-tail</script>PK\x05\x06"
    read = read_picture(whole)
    assert b"CANARY" not in read.data
    assert opened(read.data).info == {}


def test_a_large_picture_is_made_to_fit() -> None:
    read = read_picture(picture("PNG", (12_000, 1_500)))
    assert (read.width, read.height) == (2_400, 300)  # no page is far wider than a screen
    assert (tall := read_picture(picture("PNG", (200, 9_000)))).height == MAX_SIDE
    assert tall.width == 171
    noise = Image.fromarray(numpy.random.default_rng(7).integers(0, 256, (1_000, 1_400, 3), numpy.uint8))
    out = io.BytesIO()
    noise.save(out, "PNG", compress_level=1)
    assert len(out.getvalue()) > MAX_SENT
    read = read_picture(out.getvalue())
    assert read.media_type == "image/jpeg"
    assert len(read.data) <= MAX_SENT


def test_a_huge_file_is_not_even_opened() -> None:
    with pytest.raises(BadInput, match=r"32,000,001 bytes; at most 32,000,000"):
        read_picture(bytes(32_000_001))


@settings(max_examples=scaled(150), deadline=None)
@given(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]), st.data())
def test_no_damage_ever_raises_anything_else(kind: str, data: st.DataObject) -> None:
    whole = bytearray(picture(kind, (16, 16)))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    try:
        read = read_picture(bytes(whole[:cut]) if data.draw(st.booleans()) else bytes(whole))
    except BadInput:
        return
    assert opened(read.data).size == (read.width, read.height)
