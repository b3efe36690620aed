"""Pictures in the results of tools: small enough for an event, large enough to see something."""

import base64
import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from weft.core.content import Image as Shown
from weft.studio.imaging.lettering import font_for, words_in
from weft.studio.imaging.raster import flat, pixels_of, within

ROOM = 560_000
"""Bytes for all pictures of a result: in base64 and with text beside them they stay well under a megabyte."""
_LONGEST = 4_000
_CELL = 220
_COLUMNS = 4
_GROUND, _LIGHT, _INK = (236, 238, 241), (250, 250, 251), (40, 44, 52)


def shown(data: bytes, room: int = ROOM) -> Shown:
    """A picture as content of a result, in no more than so many bytes."""
    if len(data) <= room and data.startswith(b"\x89PNG"):
        return Shown(media_type="image/png", data=base64.b64encode(data).decode())
    picture = flat(pixels_of(data))
    while True:
        for quality in (85, 70, 50):
            small = _jpeg(picture, quality)
            if len(small) <= room:
                return Shown(media_type="image/jpeg", data=base64.b64encode(small).decode())
        picture = within(picture, max(picture.size) * 3 // 4)


def first_part(data: bytes) -> tuple[bytes, str]:
    """The top of a very tall page, and a sentence about it; a page of common height as it is."""
    picture = pixels_of(data)
    if picture.height <= _LONGEST:
        return data, ""
    out = io.BytesIO()
    picture.crop((0, 0, picture.width, _LONGEST)).save(out, "PNG", compress_level=1)
    return out.getvalue(), f"The picture here shows the first {_LONGEST} px of it."


def contact_sheet(pictures: Sequence[tuple[str, Image.Image]]) -> bytes:
    """Small views of several pictures with their names, as one PNG."""
    columns = min(_COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    label = 22
    sheet = Image.new("RGB", (columns * _CELL, rows * (_CELL + label)), _LIGHT)
    pen = ImageDraw.Draw(sheet)
    for number, (name, picture) in enumerate(pictures):
        left, top = number % columns * _CELL, number // columns * (_CELL + label)
        small = within(picture, _CELL - 16)
        x, y = left + (_CELL - small.width) // 2, top + (_CELL - small.height) // 2
        pen.rectangle((left + 4, top + 4, left + _CELL - 4, top + _CELL - 4), fill=_GROUND)
        sheet.paste(small, (x, y), small if small.mode == "RGBA" else None)
        font = font_for(name, 13)
        pen.text(
            (left + _CELL / 2, top + _CELL + 9), words_in(name, font, _CELL - 8), font=font, fill=_INK, anchor="mm"
        )
    out = io.BytesIO()
    sheet.save(out, "PNG", compress_level=6)
    return out.getvalue()


def _jpeg(picture: Image.Image, quality: int) -> bytes:
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality)
    return out.getvalue()
