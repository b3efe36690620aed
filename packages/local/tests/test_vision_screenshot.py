"""Bytes become pixels, or one sentence: nothing is decoded before its header was looked at."""

import io
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw
from vision_drawing import Paper

from heald_local.see.screenshot import load_screenshot
from heald_pictures.errors import PictureTooLarge, UnreadablePicture, VisionError


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _bomb(width: int, height: int) -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + _chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(30_000, 30_000), (13_300, 13_300), (7_000, 6_000), (25_000, 100)])
def test_a_bomb_is_refused_from_its_header(size: tuple[int, int]) -> None:
    tracemalloc.start()
    with pytest.raises(PictureTooLarge, match="million"):
        load_screenshot(_bomb(*size))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no picture",
        b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        b"<html><img></html>",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"%PDF-1.7",
        _bomb(0, 10),
    ],
)
def test_what_is_no_picture_gets_a_sentence(data: bytes) -> None:
    with pytest.raises(VisionError) as caught:
        load_screenshot(data)
    assert str(caught.value).endswith(".")


def test_a_truncated_file_is_damaged_not_half_read() -> None:
    whole = Paper().png()
    with pytest.raises(UnreadablePicture, match="damaged"):
        load_screenshot(whole[: len(whole) // 2])


def test_a_flipped_checksum_is_damaged() -> None:
    broken = bytearray(Paper(300, 300, "#123456").png())
    broken[len(broken) // 2] ^= 255
    with pytest.raises(UnreadablePicture):
        load_screenshot(bytes(broken))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_every_kind_of_pixel_becomes_red_green_blue(mode: str) -> None:
    image = Image.new(mode, (40, 30), 1 if mode == "1" else None)
    out = io.BytesIO()
    image.save(out, "PNG")
    assert load_screenshot(out.getvalue()).pixels.shape == (30, 40, 3)


def test_cmyk_and_transparency_come_out_right() -> None:
    out = io.BytesIO()
    Image.new("CMYK", (40, 30), (0, 0, 0, 0)).save(out, "JPEG")
    assert load_screenshot(out.getvalue()).pixels.min() > 250
    out = io.BytesIO()
    Image.new("RGBA", (40, 30), (255, 0, 0, 0)).save(out, "PNG")
    assert (load_screenshot(out.getvalue()).pixels == 255).all()


def test_too_small_is_reported() -> None:
    with pytest.raises(UnreadablePicture, match="small"):
        load_screenshot(Paper(6, 6).png())


def test_loss_is_noticed() -> None:
    paper = Paper()
    paper.box(40, 40, 200, 100, "#2563eb")
    assert load_screenshot(paper.jpeg()).lossy
    assert not load_screenshot(paper.png()).lossy


@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_the_pixel_ratio_is_seen_in_where_boxes_begin(ratio: int) -> None:
    image = Image.new("RGB", (400, 480), "#ffffff")
    pen = ImageDraw.Draw(image)
    for number in range(5):
        pen.rectangle((31 + number, 21 + 90 * number, 371 - 7 * number, 76 + 91 * number), fill=f"#2{number}63eb")
    large = image.resize((400 * ratio, 480 * ratio), Image.Resampling.NEAREST)
    out = io.BytesIO()
    large.save(out, "PNG")
    shot = load_screenshot(out.getvalue())
    assert shot.ratio == ratio
    assert shot.pixels.shape == (480, 400, 3)
    assert shot.fine.shape == (480 * ratio, 400 * ratio, 3)
    assert np.array_equal(shot.pixels, np.asarray(image))


def test_an_even_grid_on_an_ordinary_screen_is_no_dense_one() -> None:
    paper = Paper(1280, 800)
    for number in range(6):
        paper.box(80, 40 + 120 * number, 640, 80, f"#2{number}63eb")
    assert load_screenshot(paper.png()).ratio == 1
