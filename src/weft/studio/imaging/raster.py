"""Pictures as pixels, on their way from a file into a file. What is read is checked first; what is written is whole."""

import io
from pathlib import PurePosixPath
from typing import Any

from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from weft.studio.input.pictures import opened

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
"""The kinds of file that are written, by the ends of their names."""
MAX_SIDE = 2_048
"""Of a picture that is made here."""


def pixels_of(data: bytes, name: str = "The picture") -> Image.Image:
    """The picture in a file, upright, RGB or RGBA. Raises BadInput with a sentence about `name`."""
    with opened(data, name) as found:
        upright = ImageOps.exif_transpose(found)
        clear = upright.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in upright.info
        return upright.convert("RGBA" if clear else "RGB")


def file_of(picture: Image.Image, path: str, said: str = "") -> bytes:
    """The picture as a file of the kind that its name ends with, PNG for any other; `said` stands in the file."""
    out = io.BytesIO()
    match PurePosixPath(path).suffix.lower():
        case ".jpg" | ".jpeg":
            flat(picture).save(out, "JPEG", quality=90, comment=said.encode()[:2_000])
        case ".webp":
            picture.save(out, "WEBP", quality=90, exif=_exif(said))
        case _:
            _png(picture, out, said)
    return out.getvalue()


def png_of(picture: Image.Image) -> bytes:
    return file_of(picture, "x.png")


def flat(picture: Image.Image) -> Image.Image:
    """Without transparency: on white."""
    if picture.mode != "RGBA":
        return picture.convert("RGB")
    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def covering(picture: Image.Image, width: int, height: int) -> Image.Image:
    """The picture at exactly this size: scaled until it covers it, the rest cut off evenly."""
    if picture.size == (width, height):
        return picture
    return ImageOps.fit(picture, (width, height), Image.Resampling.LANCZOS)


def within(picture: Image.Image, side: int) -> Image.Image:
    """The picture, made smaller if one of its sides is longer than this."""
    if max(picture.size) <= side:
        return picture
    smaller = picture.copy()
    smaller.thumbnail((side, side), Image.Resampling.LANCZOS)
    return smaller


def _png(picture: Image.Image, out: io.BytesIO, said: str) -> None:
    info = PngInfo()
    if said:
        info.add_itxt("Description", said)
    bare = Image.new(picture.mode, picture.size)
    bare.paste(picture)
    bare.save(out, "PNG", pnginfo=info, compress_level=6)


def _exif(said: str) -> Any:
    exif = Image.Exif()
    if said:
        exif[0x010E] = said.encode("ascii", "replace").decode()  # ImageDescription, which Exif has in ASCII
    return exif
