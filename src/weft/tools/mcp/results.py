"""What a server answers, as the content of a result. Nothing in it is believed: types are looked at, sizes bounded."""

import binascii
from base64 import b64decode
from collections.abc import Iterator

import mcp_types as types

from weft.core.content import File, Image, Text
from weft.core.json import encode_text, loads
from weft.core.tools import ResultPart
from weft.tools.mcp.faults import said
from weft.tools.outcome import ToolOutput
from weft.tools.web.media import MAX_PIXELS, picture_of

MAX_PARTS = 100
MAX_TEXT = 1_000_000
MAX_MEDIA = 5_000_000
"""Bytes of one picture or document."""


def output_of(result: types.CallToolResult) -> ToolOutput:
    """The result of a call; an error of the tool's own is one that the model reads."""
    parts: list[ResultPart] = []
    room, truncated = MAX_TEXT, len(result.content) > MAX_PARTS
    for part in _parts(result):
        if isinstance(part, Text):
            truncated = truncated or len(part.text) > room
            part = Text(part.text[:room])
            room -= len(part.text)
        parts.append(part)
    is_error = bool(result.is_error)
    if all(isinstance(part, Text) for part in parts):
        text = "\n".join(part.text for part in parts if isinstance(part, Text))
        return ToolOutput(content=text, truncated=truncated, is_error=is_error)
    return ToolOutput(content=parts, truncated=truncated, is_error=is_error)


def _parts(result: types.CallToolResult) -> Iterator[ResultPart]:
    texts: list[str] = []
    for block in result.content[:MAX_PARTS]:
        part = _part(block)
        if isinstance(part, Text):
            texts.append(part.text)
        yield part
    structured = result.structured_content
    if structured is not None and not any(_says(text, structured) for text in texts):
        yield Text(encode_text(structured))


def _part(block: types.ContentBlock) -> ResultPart:
    match block:
        case types.TextContent():
            return Text(_clean(block.text))
        case types.ImageContent():
            return _media(block.data, block.mime_type)
        case types.AudioContent():
            return Text(f"[A sound of type {said(block.mime_type, 60)} was left out.]")
        case types.ResourceLink():
            about = f": {said(block.description)}" if block.description else ""
            return Text(f"[Resource {said(block.name, 200)} at {said(block.uri, 1000)}{about}]")
        case types.EmbeddedResource():
            held = block.resource
            if isinstance(held, types.BlobResourceContents):
                return _media(held.blob, held.mime_type or "")
            return Text(f"[Resource {said(held.uri, 1000)}]\n{_clean(held.text)}")


def _media(data: str, media_type: str) -> ResultPart:
    """A picture or a PDF if it really is one, else a word about it."""
    left_out = Text(f"[Data of type {said(media_type, 60) or 'unknown'} was left out.]")
    if len(data) > MAX_MEDIA * 4 // 3 + 4:
        return Text(f"[Data of type {said(media_type, 60)} was left out: it is more than {MAX_MEDIA:,} bytes.]")
    try:
        raw = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return left_out
    picture = picture_of(raw)
    if picture is not None and 0 < picture.width * picture.height <= MAX_PIXELS:
        return Image(media_type=picture.media_type, data=data)
    if raw.startswith(b"%PDF-"):
        return File(media_type="application/pdf", data=data)
    return left_out


def _says(text: str, structured: object) -> bool:
    """Whether the text is the structured content again, as servers add it for older clients."""
    if text[:1] not in '{["' and not text[:1].isalnum() and text[:1] != "-":
        return False
    try:
        value = loads(text)
    except ValueError:
        return structured == {"result": text}
    return value == structured or structured == {"result": value} or structured == {"result": text}


def _clean(text: str) -> str:
    """Without what a log cannot hold: half a surrogate pair, NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�")
