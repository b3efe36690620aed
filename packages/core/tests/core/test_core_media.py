"""Format and size of a picture, from its header."""

import io

import pytest
from PIL import Image

from heald.core.media import PictureHeader, picture_header, picture_type


def picture(kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (70, 30), "red").save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_format_and_size(kind: str) -> None:
    data = picture(kind)
    assert picture_header(data) == PictureHeader(f"image/{kind.lower()}", 70, 30)
    assert picture_type(data[:16]) == f"image/{kind.lower()}"


def test_a_lossless_webp() -> None:
    assert picture_header(picture("WEBP", lossless=True)) == PictureHeader("image/webp", 70, 30)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_cut_off_header_is_no_picture(kind: str) -> None:
    data = picture(kind)
    assert all(picture_header(data[:size]) in (None, picture_header(data)) for size in range(40))
    assert picture_header(data[:9]) is None


@pytest.mark.parametrize("data", [b"", b"<svg>", b"BM" + bytes(40), b"RIFF" + bytes(40), b"\xff\xd8\xff" + bytes(40)])
def test_other_bytes_are_none(data: bytes) -> None:
    assert picture_header(data) is None
