"""Loads pictures and other files from paths, data: URLs and the web."""

import asyncio
import base64
import re
import stat
from pathlib import Path
from urllib.parse import unquote_to_bytes

from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.input.pictures import MAX_BYTES, InputPicture, read_picture

InputSource = bytes | str | Path  # bytes, a path, or a text that is a `data:` or `http(s):` URL
_DATA = re.compile(r"data:(?P<kind>[^;,\s]{0,100})(?P<options>(?:;[^;,\s]{1,100}){0,8}),", re.IGNORECASE)


async def load_picture(
    source: InputSource,
    *,
    outgoing: WebFetcher | None = None,
    name: str = "The picture",
    scale: int | None = None,
) -> InputPicture:
    """Read the picture of a source, with `scale` pixels for each CSS pixel if that is named. Raises BadInput."""
    data = await load_bytes(source, limit=MAX_BYTES, outgoing=outgoing, name=name)
    return await asyncio.to_thread(read_picture, data, name=name, scale=scale)


async def load_bytes(
    source: InputSource, *, limit: int, outgoing: WebFetcher | None = None, name: str = "The file"
) -> bytes:
    """Read the bytes of a source, at most `limit`. Raises BadInput."""
    match source:
        case bytes():
            data = source
        case Path():
            data = await asyncio.to_thread(_read_file, source, limit, name)
        case str() if source[:5].lower() == "data:":
            data = decode_data_url(source, limit=limit, name=name)
        case str() if source[:7].lower() == "http://" or source[:8].lower() == "https://":
            data = await _fetch(source, outgoing or WebFetcher(max_bytes=limit), name)
        case str():
            raise BadInput(f"{name} is neither a data: URL nor an http(s) URL.", "not_found")
    if len(data) > limit:
        raise _too_large(name, len(data), limit)
    return data


def decode_data_url(url: str, *, limit: int, name: str = "The file") -> bytes:
    """Decode the bytes of a `data:` URL. Its length is checked first; its type is ignored."""
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
    except ValueError:
        raise BadInput(f"{name} is a data: URL whose base64 text is damaged.", "bad_data_url") from None


def _read_file(path: Path, limit: int, name: str) -> bytes:
    named = name if name == path.name else f"{name} ({path.name})"
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise BadInput(f"{named} is not a regular file.", "not_found")
        if status.st_size > limit:
            raise _too_large(named, status.st_size, limit)
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise BadInput(f"{named} cannot be read: {error.strerror}.", "not_found") from None


async def _fetch(url: str, outgoing: WebFetcher, name: str) -> bytes:
    try:
        answer = await outgoing.fetch(url)
    except ToolFault as fault:
        raise BadInput(f"{name} cannot be fetched: {fault}", fault.kind) from None
    if answer.status >= 400:
        raise BadInput(f"{name} cannot be fetched: its server answered {answer.status}.", "unreachable")
    return answer.body


def _too_large(name: str, size: int, limit: int) -> BadInput:
    return BadInput(f"{name} has {size:,} bytes; at most {limit:,} are read.", "too_large")
