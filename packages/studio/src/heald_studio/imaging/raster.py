"""Reads, writes and scales pictures."""

import io
from pathlib import PurePosixPath
from typing import Any

from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from heald_studio.input.pictures import open_picture

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
"""The suffixes of the files that can be written."""
MAX_SIDE = 2_048
"""The longest side of a picture that is made locally."""


def decode_picture(data: bytes, name: str = "The picture") -> Image.Image:
    """Decode a picture, upright, as RGB or RGBA. Raises BadInput with a sentence about `name`."""
    with open_picture(data, name) as picture:
        upright = ImageOps.exif_transpose(picture)
        clear = upright.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in upright.info
        return upright.convert("RGBA" if clear else "RGB")


def encode_picture(picture: Image.Image, path: str, description: str = "") -> bytes:
    """Encode the picture by the suffix of `path`, PNG by default, with `description` as its description."""
    out = io.BytesIO()
    match PurePosixPath(path).suffix.lower():
        case ".jpg" | ".jpeg":
            flatten(picture).save(out, "JPEG", quality=90, comment=description.encode()[:2_000])
        case ".webp":
            picture.save(out, "WEBP", quality=90, exif=_exif(description))
        case _:
            _png(picture, out, description)
    return out.getvalue()


def encode_png(picture: Image.Image) -> bytes:
    return encode_picture(picture, "x.png")


def flatten(picture: Image.Image) -> Image.Image:
    """Put the picture on white."""
    if picture.mode != "RGBA":
        return picture.convert("RGB")
    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def resize_to_cover(picture: Image.Image, width: int, height: int) -> Image.Image:
    """Scale the picture until it covers the size, and crop the rest evenly."""
    if picture.size == (width, height):
        return picture
    return ImageOps.fit(picture, (width, height), Image.Resampling.LANCZOS)


def shrink_to_fit(picture: Image.Image, side: int) -> Image.Image:
    """Shrink the picture if one of its sides is longer than `side`."""
    if max(picture.size) <= side:
        return picture
    smaller = picture.copy()
    smaller.thumbnail((side, side), Image.Resampling.LANCZOS)
    return smaller


def _png(picture: Image.Image, out: io.BytesIO, description: str) -> None:
    info = PngInfo()
    if description:
        info.add_itxt("Description", description)
    bare = Image.new(picture.mode, picture.size)
    bare.paste(picture)
    bare.save(out, "PNG", pnginfo=info, compress_level=6)


def _exif(description: str) -> Any:
    exif = Image.Exif()
    if description:
        exif[0x010E] = description.encode("ascii", "replace").decode()  # ImageDescription, which is ASCII in Exif
    return exif
