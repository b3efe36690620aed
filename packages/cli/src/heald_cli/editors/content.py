"""Converts between content blocks of ACP and parts of messages."""

import re
from base64 import b64decode
from collections.abc import Iterable, Sequence
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from acp import schema

from heald.core.errors import HealdError
from heald.core.json import JsonObject
from heald.core.media import picture_header
from heald.core.messages import File, Image, Message, ResultPart, Text, user_message

Block = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)


class BadContent(HealdError):
    """A block of a prompt cannot be sent to the model."""

    code = "invalid_request"


def to_user_message(blocks: Sequence[Block], root: str) -> Message:
    """Convert a prompt to a message. `root` is the folder of the session: files in it are named relative to it."""
    parts = [_to_part(block, root) for block in blocks]
    if not any(not isinstance(part, Text) or part.text.strip() for part in parts):
        raise BadContent("The prompt is empty; write what is to be done.")
    return user_message(*parts)


def _to_part(block: Block, root: str) -> Text | Image | File:
    match block:
        case schema.TextContentBlock():
            return Text(_clean(block.text))
        case schema.ImageContentBlock():
            return _picture(block.data, block.mime_type)
        case schema.AudioContentBlock():
            raise BadContent("Audio is not supported; write the request as text.")
        case schema.ResourceContentBlock():
            about = block.title or block.description
            return Text(f"[The user refers to {path_of(block.uri, root)}{f': {_clean(about)}' if about else ''}]")
        case schema.EmbeddedResourceContentBlock():
            return _resource(block.resource, root)


def _resource(resource: schema.TextResourceContents | schema.BlobResourceContents, root: str) -> Text | Image | File:
    path = path_of(resource.uri, root)
    if isinstance(resource, schema.TextResourceContents):
        return Text(f"The user attached {path}:\n{fence(_clean(resource.text))}")
    raw = _decode(resource.blob, path)
    if picture_header(raw) is not None:
        return _picture(resource.blob, resource.mime_type or "")
    if raw.startswith(b"%PDF-"):
        return File(media_type="application/pdf", data=resource.blob, name=path.rpartition("/")[2])
    raise BadContent(f"The attached {path} is neither text nor a picture nor a PDF; attach it in another form.")


def _picture(data: str, media_type: str) -> Image:
    picture = picture_header(_decode(data, f"picture of type {media_type[:60]!r}"))
    if picture is None:
        raise BadContent("A picture of the prompt is not a PNG, JPEG, WebP or GIF; attach it in another form.")
    return Image(media_type=picture.media_type, data=data)


def _decode(data: str, name: str) -> bytes:
    try:
        return b64decode(data, validate=True)
    except ValueError:
        raise BadContent(f"The data of the {name} is not base64; attach it once more.") from None


def path_of(uri: str, root: str) -> str:
    """Return the path of a file URI, relative to the folder if it is in it; any other URI unchanged."""
    parts = urlsplit(uri)
    if parts.scheme not in ("", "file"):
        return _clean(uri)
    path = _clean(unquote(parts.path))
    lines = f" ({parts.fragment})" if parts.fragment else ""
    return path.removeprefix(root.rstrip("/") + "/") + lines


def fence(text: str, language: str = "") -> str:
    """Return the text as a fenced block of Markdown."""
    marks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{marks}{language}\n{text}\n{marks}"


def text_block(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=text)


def to_blocks(parts: str | Iterable[object]) -> list[schema.TextContentBlock | schema.ImageContentBlock]:
    """Convert parts of a message or of a result to blocks. Files are named."""
    if isinstance(parts, str):
        return [text_block(parts)] if parts else []
    blocks: list[schema.TextContentBlock | schema.ImageContentBlock] = []
    for part in parts:
        match part:
            case Text(text=text):
                blocks.append(text_block(text))
            case Image(data=str(data), media_type=media_type):
                blocks.append(schema.ImageContentBlock(type="image", data=data, mime_type=media_type))
            case Image(url=url):
                blocks.append(text_block(f"[A picture at {url}]"))
            case File(name=name, media_type=media_type):
                blocks.append(text_block(f"[The file {name or media_type}]"))
            case _:
                continue
    return blocks


def result_blocks(
    content: str | Sequence[ResultPart],
) -> list[schema.ContentToolCallContent]:
    """Convert the content of a result to content of a tool call."""
    return [schema.ContentToolCallContent(type="content", content=block) for block in to_blocks(content)]


def encodable(value: Any) -> Any:
    """Return a JSON value in which lone surrogates, which no editor can be sent, are written as escapes."""
    match value:
        case str() if not value.isascii():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {encodable(key): encodable(item) for key, item in cast(JsonObject, value).items()}
        case list():
            return [encodable(item) for item in cast("list[Any]", value)]
        case _:
            return value


def _clean(text: str) -> str:
    """Replace lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�")
