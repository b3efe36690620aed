"""Reads the format and the size of a picture from its header, without decoding it."""

import struct

import msgspec

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


MAX_PIXELS = 40_000_000
"""Pixels of the largest picture that is accepted: a small file may hold many more, and decoding it takes the memory."""


class PictureHeader(msgspec.Struct, frozen=True):
    media_type: str
    width: int
    height: int


def picture_type(data: bytes) -> str | None:
    """The media type of a PNG, JPEG, GIF or WebP by its first bytes; None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for signature, kind in _SIGNATURES if data.startswith(signature)), None)


def picture_header(data: bytes) -> PictureHeader | None:
    """The media type and the size of a PNG, JPEG, GIF or WebP; None for anything else and for a damaged header."""
    kind = picture_type(data)
    try:
        match kind:
            case "image/png":
                size = _png_size(data)
            case "image/gif":
                size = struct.unpack("<HH", data[6:10])
            case "image/webp":
                size = _webp_size(data)
            case "image/jpeg":
                size = _jpeg_size(data)
            case _:
                return None
    except (struct.error, IndexError):
        return None
    return None if size is None else PictureHeader(kind, size[0], size[1])


def describe_picture_fault(data: bytes) -> str | None:
    """Why a picture is not accepted, judged by its header; None if it is."""
    header = picture_header(data)
    if header is None:
        return None if picture_type(data) is not None else "models accept PNG, JPEG, WebP and GIF only"
    if header.width * header.height > MAX_PIXELS:
        most = MAX_PIXELS // 1_000_000
        return f"it has {header.width}x{header.height} pixels, and at most {most} million are accepted"
    return None


def _png_size(data: bytes) -> tuple[int, int] | None:
    return struct.unpack(">II", data[16:24]) if data[12:16] == b"IHDR" else None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L":
            bits = struct.unpack("<I", data[21:25])[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        else:
            at += 2 + max(struct.unpack(">H", data[at + 2 : at + 4])[0], 2)
    return None
