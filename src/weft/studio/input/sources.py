"""Where an input comes from: bytes, a file, a `data:` URL, or an address of the web within the rules for outgoing."""

import asyncio
import base64
import binascii
import re
import stat
from pathlib import Path
from urllib.parse import unquote_to_bytes

from weft.studio.input.faults import BadInput
from weft.studio.input.pictures import MAX_BYTES, Picture, read_picture
from weft.tools.outcome import ToolFault
from weft.tools.web.outgoing import Outgoing

MAX_PICTURES = 20

Source = bytes | str | Path
"""Bytes, a path, or a text that is a `data:` or `http(s):` URL."""

_DATA = re.compile(r"data:(?P<kind>[^;,\s]{0,100})(?P<options>(?:;[^;,\s]{1,100}){0,8}),", re.IGNORECASE)


async def picture_from(source: Source, *, outgoing: Outgoing | None = None, name: str = "The picture") -> Picture:
    """The picture that a source holds. Raises BadInput."""
    data = await bytes_from(source, limit=MAX_BYTES, outgoing=outgoing, name=name)
    return await asyncio.to_thread(read_picture, data, name=name)


async def pictures_from(sources: list[Source], *, outgoing: Outgoing | None = None) -> list[Picture]:
    """Several pictures, in order; an error says which one is meant."""
    if len(sources) > MAX_PICTURES:
        raise BadInput(f"{len(sources)} pictures are too many; give at most {MAX_PICTURES}.", "too_many")
    many = len(sources) > 1
    names = [f"Picture {number}" if many else "The picture" for number in range(1, len(sources) + 1)]
    return [await picture_from(each, outgoing=outgoing, name=name) for each, name in zip(sources, names, strict=True)]


async def bytes_from(source: Source, *, limit: int, outgoing: Outgoing | None = None, name: str = "The file") -> bytes:
    """What a source holds, no more of it than the limit."""
    match source:
        case bytes():
            data = source
        case Path():
            data = await asyncio.to_thread(_file, source, limit, name)
        case str() if source[:5].lower() == "data:":
            data = data_url(source, limit=limit, name=name)
        case str() if source[:7].lower() == "http://" or source[:8].lower() == "https://":
            data = await _fetched(source, outgoing or Outgoing(max_bytes=limit), name)
        case str():
            raise BadInput(f"{name} is neither a data: URL nor an http(s) URL.", "not_found")
    if len(data) > limit:
        raise _too_large(name, len(data), limit)
    return data


def data_url(url: str, *, limit: int, name: str = "The file") -> bytes:
    """The bytes in a `data:` URL. Its length is looked at before it is decoded; its type is not believed."""
    head = _DATA.match(url)
    if head is None:
        raise BadInput(f"{name} is not a data: URL that can be read.", "bad_data_url")
    if head["kind"].lower().startswith("image/svg"):
        raise BadInput(f"{name} is an SVG drawing; give it as a PNG, JPEG, WebP, GIF or HEIC picture.", "not_an_image")
    encoded = ";base64" in head["options"].lower()
    size = len(url) - head.end()
    if (size * 3 // 4 if encoded else size // 3) > limit:
        raise _too_large(name, size, limit)
    body = url[head.end() :]
    if not encoded:
        return unquote_to_bytes(body)
    try:
        return base64.b64decode(unquote_to_bytes(body) if "%" in body else body, validate=True)
    except (binascii.Error, ValueError):
        raise BadInput(f"{name} is a data: URL whose base64 text is damaged.", "bad_data_url") from None


def _file(path: Path, limit: int, name: str) -> bytes:
    named = name if name == path.name else f"{name} ({path.name})"
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise BadInput(f"{named} is not a regular file.", "not_found")
        if found.st_size > limit:
            raise _too_large(named, found.st_size, limit)
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise BadInput(f"{named} cannot be read: {error.strerror}.", "not_found") from None


async def _fetched(url: str, outgoing: Outgoing, name: str) -> bytes:
    try:
        answer = await outgoing.fetch(url)
    except ToolFault as fault:
        raise BadInput(f"{name} cannot be fetched: {fault}", fault.kind) from None
    if answer.status >= 400:
        raise BadInput(f"{name} cannot be fetched: its server answered {answer.status}.", "unreachable")
    return answer.body


def _too_large(name: str, size: int, limit: int) -> BadInput:
    return BadInput(f"{name} has {size:,} bytes; at most {limit:,} are read.", "too_large")
