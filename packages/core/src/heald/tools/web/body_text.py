"""Recognises the kind of a fetched body, and decodes its text."""

import codecs
import re
from typing import Literal

from heald.core.lazy import lazy_pattern
from heald.core.media import picture_header

Kind = Literal["html", "text", "image", "binary"]
_CHARSET = lazy_pattern(rb"charset\s*=\s*[\"']?\s*([a-zA-Z0-9_.:-]{1,40})")
_HTML_START = lazy_pattern(
    rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ENCODINGS = lazy_pattern(
    r"utf-?(8|16(-[lb]e)?)|ascii|iso8859-\d+|cp(125\d|866|932|949)|koi8-[ru]|gb(k|2312|18030)|big5|euc_(jp|kr)|"
    r"shift_jis|iso2022_jp|mac-cyrillic|tis-620"
)
_CONTROL = lazy_pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def sniff_kind(body: bytes, content_type: str) -> Kind:
    """Return the kind of a body. A body that is declared as a picture but is not one is binary."""
    media_type = content_type.partition(";")[0].strip().lower()
    if picture_header(body):
        return "image"
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        return "binary"
    if media_type.startswith(("audio/", "video/", "font/")) or _is_binary(body):
        return "binary"
    if media_type in ("text/html", "application/xhtml+xml"):
        return "html"
    return "html" if media_type in ("", "application/octet-stream") and _HTML_START.match(body[:1024]) else "text"


def decode_text(body: bytes, content_type: str) -> str:
    """Decode by byte order mark, by the charset of the header or of the page, as UTF-8, or as Windows-1252."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return _clean(body.decode(name, "replace"))
    for source in (content_type.encode("ascii", "ignore"), body[:1024]):
        charset = _CHARSET.search(source)
        if charset and (encoding := _encoding(charset[1].decode())):
            return _clean(body.decode(encoding, "replace"))
    try:
        return _clean(body.decode())
    except UnicodeDecodeError:
        return _clean(body.decode("cp1252", "replace"))


def _is_binary(body: bytes) -> bool:
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    return b"\0" in body[:4096] or body.startswith((b"%PDF-", b"PK\x03\x04", b"\x1f\x8b"))


def _encoding(name: str) -> str | None:
    """Return Python's name of a web encoding, or None for any other codec."""
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        return None
    if not _ENCODINGS.fullmatch(codec):
        return None
    return "cp1252" if codec in ("ascii", "iso8859-1") else codec


def _clean(text: str) -> str:
    return _CONTROL.sub("�", text.replace("\r\n", "\n").replace("\r", "\n"))
