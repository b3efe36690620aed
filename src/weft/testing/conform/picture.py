"""A small red picture, made here so that no file is needed."""

import struct
import zlib
from base64 import b64encode

from weft.core.content import Image

_SIDE = 64
_RED = b"\xff\x00\x00"


def red_picture() -> Image:
    """A PNG (https://www.w3.org/TR/png/) of 64 by 64 red pixels."""
    rows = (b"\0" + _RED * _SIDE) * _SIDE
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")
    return Image(media_type="image/png", data=b64encode(png).decode())


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
