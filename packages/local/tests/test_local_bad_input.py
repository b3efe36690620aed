"""Pictures that are not screenshots, or unusual ones: each becomes a sensible page or a clear sentence."""

import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw

from local_support import Bench, needs_vision, picture_request, png

pytestmark = needs_vision


def _icon() -> bytes:
    picture = Image.new("RGB", (200, 200), "#ffffff")
    pen = ImageDraw.Draw(picture)
    pen.ellipse((20, 20, 180, 180), fill="#ef4444")
    pen.polygon([(100, 50), (150, 140), (50, 140)], fill="#fde68a")
    return png(picture)


def _blank() -> bytes:
    return png(Image.new("RGB", (800, 600), "#fafafa"))


def _dot() -> bytes:
    return png(Image.new("RGB", (1, 1), "#123456"))


def _photograph() -> bytes:
    rough = Image.effect_noise((640, 480), 80)
    slope = Image.linear_gradient("L").resize((640, 480))
    return png(Image.merge("RGB", (rough, slope, Image.blend(rough, slope, 0.5))))


def _cut_off() -> bytes:
    return _icon()[:200]


def _bomb() -> bytes:
    """A few bytes whose header says that they are 30,000 pixels wide and tall."""
    data = bytearray(png(Image.new("1", (8, 8))))
    data[16:24] = struct.pack(">II", 30_000, 30_000)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    return bytes(data)


async def test_an_icon_is_kept_as_a_picture_in_a_page() -> None:
    async with Bench() as bench:
        result = await bench.ask(picture_request(_icon()))
        assert result.status == "completed"
        html = str(result.files["index.html"])
        assert "<img" in html or "border-radius" in html
        assert "1 text" not in result.text
        bench.prove()


@pytest.mark.parametrize("make", [_photograph, _blank], ids=["photograph", "blank"])
async def test_what_is_no_page_becomes_one_all_the_same(make: Callable[[], bytes]) -> None:
    async with Bench() as bench:
        result = await bench.ask(picture_request(make()))
        assert result.status == "completed"
        html = str(result.files["index.html"])
        assert "<!DOCTYPE html>" in html
        assert "<body>" in html
        assert "A picture does not show" in result.text


@pytest.mark.parametrize("make", [_cut_off, _bomb, _dot], ids=["cut off", "900 megapixels", "one pixel"])
async def test_what_cannot_be_opened_is_one_sentence(make: Callable[[], bytes]) -> None:
    async with Bench() as bench:
        result = await bench.ask(picture_request(make()))
        assert result.status == "failed"
        assert result.error is not None
        assert result.error.message.count("\n") == 0
        assert "Traceback" not in result.error.message
        assert "/" not in result.error.message.replace("and/or", "")
        assert not result.files
