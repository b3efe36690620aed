"""What a body really is, whatever the server calls it: a picture by its first bytes, text if it can be read as such."""

import codecs
import re
import struct
from typing import Literal, NamedTuple

MAX_PIXELS = 40_000_000

Kind = Literal["html", "text", "image", "binary"]

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([a-zA-Z0-9_.:-]{1,40})")
_HTML_START = re.compile(
    rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ENCODINGS = re.compile(
    r"utf-?(8|16(-[lb]e)?)|ascii|iso8859-\d+|cp(125\d|866|932|949)|koi8-[ru]|gb(k|2312|18030)|big5|euc_(jp|kr)|"
    r"shift_jis|iso2022_jp|mac-cyrillic|tis-620"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Picture(NamedTuple):
    media_type: str
    width: int
    height: int


def kind_of(body: bytes, content_type: str) -> Kind:
    """What it is. A body that says it is a picture and is none counts as binary."""
    said = content_type.partition(";")[0].strip().lower()
    if picture_of(body):
        return "image"
    if said.startswith("image/") and said != "image/svg+xml":
        return "binary"
    if said.startswith(("audio/", "video/", "font/")) or _is_binary(body):
        return "binary"
    if said in ("text/html", "application/xhtml+xml"):
        return "html"
    return "html" if said in ("", "application/octet-stream") and _HTML_START.match(body[:1024]) else "text"


def text_of(body: bytes, content_type: str) -> str:
    """The body as text: by its byte order mark, by what the server says, by what the page says, or as UTF-8."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return _clean(body.decode(name, "replace"))
    for said in (content_type.encode("ascii", "ignore"), body[:1024]):
        found = _CHARSET.search(said)
        if found and (encoding := _encoding(found[1].decode())):
            return _clean(body.decode(encoding, "replace"))
    try:
        return _clean(body.decode())
    except UnicodeDecodeError:
        return _clean(body.decode("cp1252", "replace"))


def picture_of(body: bytes) -> Picture | None:
    """Type and size of a PNG, JPEG, GIF or WebP, from its header alone."""
    try:
        if body.startswith(b"\x89PNG\r\n\x1a\n") and body[12:16] == b"IHDR":
            return Picture("image/png", *struct.unpack(">II", body[16:24]))
        if body.startswith((b"GIF87a", b"GIF89a")):
            return Picture("image/gif", *struct.unpack("<HH", body[6:10]))
        if body.startswith(b"RIFF") and body[8:12] == b"WEBP":
            return _webp(body)
        if body.startswith(b"\xff\xd8\xff"):
            return _jpeg(body)
    except (struct.error, IndexError):
        pass
    return None


def _webp(body: bytes) -> Picture | None:
    match body[12:16]:
        case b"VP8X":
            width, height = int.from_bytes(body[24:27], "little") + 1, int.from_bytes(body[27:30], "little") + 1
        case b"VP8L":
            bits = struct.unpack("<I", body[21:25])[0]
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = (side & 0x3FFF for side in struct.unpack("<HH", body[26:30]))
        case _:
            return None
    return Picture("image/webp", width, height)


def _jpeg(body: bytes) -> Picture | None:
    at = 2
    while True:
        if body[at] != 0xFF:
            return None
        marker = body[at + 1]
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", body[at + 5 : at + 9])
            return Picture("image/jpeg", width, height)
        else:
            at += 2 + max(struct.unpack(">H", body[at + 2 : at + 4])[0], 2)


def _is_binary(body: bytes) -> bool:
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    return b"\0" in body[:4096] or body.startswith((b"%PDF-", b"PK\x03\x04", b"\x1f\x8b"))


def _encoding(name: str) -> str | None:
    """Python's name of an encoding of the web; its other codecs are none of a page's business."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    if not _ENCODINGS.fullmatch(found):
        return None
    return "cp1252" if found in ("ascii", "iso8859-1") else found


def _clean(text: str) -> str:
    return _CONTROL.sub("�", text.replace("\r\n", "\n").replace("\r", "\n"))
