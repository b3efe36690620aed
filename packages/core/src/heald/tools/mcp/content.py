"""The content of MCP servers' results. It is not trusted: media types are sniffed and sizes bounded."""

from base64 import b64decode
from collections.abc import Iterable, Iterator

import mcp_types as types

from heald.core.json import JsonObject, encode_text, loads
from heald.core.media import MAX_PIXELS, picture_header
from heald.core.messages import File, Image, ResultPart, Text
from heald.tools.mcp.config import shorten
from heald.tools.tool_output import ToolOutput

MAX_PARTS = 100
MAX_TEXT = 1_000_000
MAX_MEDIA = 5_000_000
"""Maximum bytes of one picture or document."""


def to_output(result: types.CallToolResult, data: JsonObject | None = None) -> ToolOutput:
    """Convert the result of a call. An error that the tool reports is passed to the model; `data` is not."""
    return join_parts(_parts(result), bool(result.is_error), truncated=len(result.content) > MAX_PARTS, data=data)


def join_parts(
    results: Iterable[ResultPart], is_error: bool = False, *, truncated: bool = False, data: JsonObject | None = None
) -> ToolOutput:
    """Make the result of a call of its parts, within limits."""
    parts: list[ResultPart] = []
    room = MAX_TEXT
    for part in results:
        if isinstance(part, Text):
            truncated = truncated or len(part.text) > room
            part = Text(part.text[:room])
            room -= len(part.text)
        parts.append(part)
    if all(isinstance(part, Text) for part in parts):
        text = "\n".join(part.text for part in parts if isinstance(part, Text))
        return ToolOutput(content=text, truncated=truncated, is_error=is_error, data=data)
    return ToolOutput(content=parts, truncated=truncated, is_error=is_error, data=data)


def _parts(result: types.CallToolResult) -> Iterator[ResultPart]:
    texts: list[str] = []
    for block in result.content[:MAX_PARTS]:
        part = convert_block(block)
        if isinstance(part, Text):
            texts.append(part.text)
        yield part
    structured = result.structured_content
    if structured is not None and not any(_repeats(text, structured) for text in texts):
        yield Text(encode_text(structured))


def convert_block(block: types.ContentBlock) -> ResultPart:
    """Convert one block of content: text, a picture or a PDF. Other data becomes a note that it was left out."""
    match block:
        case types.TextContent():
            return Text(_clean(block.text))
        case types.ImageContent():
            return _media(block.data, block.mime_type)
        case types.AudioContent():
            return Text(f"[A sound of type {shorten(block.mime_type, 60)} was left out.]")
        case types.ResourceLink():
            about = f": {shorten(block.description)}" if block.description else ""
            return Text(f"[Resource {shorten(block.name, 200)} at {shorten(block.uri, 1000)}{about}]")
        case types.EmbeddedResource():
            return convert_resource(block.resource)


def convert_resource(held: types.TextResourceContents | types.BlobResourceContents) -> ResultPart:
    if isinstance(held, types.BlobResourceContents):
        return _media(held.blob, held.mime_type or "")
    return Text(f"[Resource {shorten(held.uri, 1000)}]\n{_clean(held.text)[:MAX_TEXT]}")


def _media(data: str, media_type: str) -> ResultPart:
    """Return a picture or PDF, checked by its content, else a note that the data was left out."""
    left_out = Text(f"[Data of type {shorten(media_type, 60) or 'unknown'} was left out.]")
    if len(data) > MAX_MEDIA * 4 // 3 + 4:
        return Text(f"[Data of type {shorten(media_type, 60)} was left out: it is more than {MAX_MEDIA:,} bytes.]")
    try:
        raw = b64decode(data, validate=True)
    except ValueError:
        return left_out
    picture = picture_header(raw)
    if picture is not None and 0 < picture.width * picture.height <= MAX_PIXELS:
        return Image(media_type=picture.media_type, data=data)
    if raw.startswith(b"%PDF-"):
        return File(media_type="application/pdf", data=data)
    return left_out


def _repeats(text: str, structured: object) -> bool:
    """Return whether the text repeats the structured content, which servers add for older clients."""
    if text[:1] not in '{["' and not text[:1].isalnum() and text[:1] != "-":
        return False
    try:
        value = loads(text)
    except ValueError:
        return structured == {"result": text}
    return value == structured or structured == {"result": value} or structured == {"result": text}


def _clean(text: str) -> str:
    """Replace lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�")
