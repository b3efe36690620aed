"""`ToolOutput`, `ToolFault`, and the size limits that make a result fit into one event of the log."""

import base64
import io
import re
from collections.abc import Sequence
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import msgspec

from weft.core.errors import WeftError
from weft.core.json import JsonObject, encode_text
from weft.core.lazy import lazy_pattern
from weft.core.media import MAX_PIXELS, picture_header
from weft.core.message_forms import tool_failure
from weft.core.messages import File, Image, ResultPart, Text, ToolStatus

Parts = str | list[ResultPart]
NO_CHANGE = "no change"
"""The summary of an edit that left the files as they were."""


class ToolOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a tool that returns more than a value: pictures, a summary, structured data."""

    content: Parts
    summary: str = ""
    """One line for the user interface."""
    data: JsonObject | None = None
    """Structured data for programs; not sent to the model."""
    truncated: bool = False
    is_error: bool = False


class ToolFault(WeftError):
    """A tool call failed. The message is sent to the model; `kind` is a machine-readable code."""

    def __init__(self, message: str, kind: str = "error", *, status: ToolStatus = "error") -> None:
        super().__init__(message)
        self.kind = kind
        self.status: ToolStatus = status


def plain_text(text: str) -> str:
    """Replace characters that an event cannot hold: NUL and lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def to_content(value: Any) -> Parts:
    """Convert a return value to the content of a result."""
    match value:
        case str():
            return value
        case None:
            return ""
        case Text() | Image() | File():
            return [value]
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case [Text() | Image() | File(), *_] if all(isinstance(part, Text | Image | File | str) for part in value):
            return [Text(part) if isinstance(part, str) else part for part in value]
        case _:
            return _as_json(value)


def to_output(value: Any) -> ToolOutput:
    """Convert a return value to an output.

    `{"status": "error", "error": {"message", "code"}}` has failed, `{"status": "success", "result": …}` is its result.
    """
    if isinstance(value, ToolOutput):
        return value
    if isinstance(value, str):
        return ToolOutput(content=value)
    if isinstance(value, dict) and "status" in value:
        fields = cast(JsonObject, value)
        failure = tool_failure(fields)
        if failure is not None:
            message, code = str(failure["message"]), str(failure.get("code") or "")
            content = f"{code}: {message}" if code else message
            return ToolOutput(content=content, data={"message": message, "code": code}, is_error=True)
        if fields.get("status") == "success" and "result" in fields and fields.keys() <= {"status", "result", "error"}:
            return ToolOutput(content=to_content(fields["result"]))
    return ToolOutput(content=to_content(value))


def join_output(pieces: Sequence[ResultPart], value: Any) -> ToolOutput:
    """Return the output of a tool: the pieces that it gave while it ran, then its return value."""
    output = value if isinstance(value, ToolOutput) else ToolOutput(content=to_content(value))
    if not pieces:
        return output
    rest = [Text(output.content)] if isinstance(output.content, str) else output.content
    parts: list[ResultPart] = []
    for at, part in enumerate([*pieces, *(part for part in rest if part != Text(""))]):
        last = parts[-1] if parts else None
        if not (isinstance(part, Text) and isinstance(last, Text)):
            parts.append(part)
            continue
        gap = "\n" if at == len(pieces) and not last.text.endswith("\n") else ""
        parts[-1] = Text(f"{last.text}{gap}{part.text}")
    only = parts[0] if len(parts) == 1 else None
    return msgspec.structs.replace(output, content=only.text if isinstance(only, Text) else parts)


def _as_json(value: Any) -> str:
    try:
        return encode_text(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return str(value)


_MAX = 2000
_HOST_PATH = lazy_pattern(r"(?<![\w./~-])(?:/[\w.@+~-]+){2,}/?|(?<!\w)[A-Za-z]:\\[^\s'\"]+")


def describe_exception(error: BaseException, root: str) -> str:
    """Describe an exception. Workspace paths become relative; of other paths only the last name remains."""
    if isinstance(error, ToolFault):
        return str(error) if error.kind == "error" else f"{error.kind}: {error}"
    message = str(error).strip()
    name = type(error).__name__
    return hide_host_paths(f"{name}: {message}" if message else f"The tool failed with {name}.", root)[:_MAX]


def hide_host_paths(text: str, root: str) -> str:
    if root:
        text = text.replace(root.rstrip("/") + "/", "").replace(root, ".")
    return _HOST_PATH.sub(lambda found: "…/" + re.split(r"[/\\]", found[0].rstrip("/\\"))[-1], text)


ROOM = 740_000
"""Maximum base64 characters of all pictures and files of a result. With its text it stays below one megabyte."""
TEXT_BYTES = 240 * 1024
"""Maximum encoded size of a result's text. A character takes up to four bytes, an escaped one six."""
_LEAST = 64


def truncate_content(content: Parts, limit: int) -> tuple[Parts, bool]:
    """Limit the text to `limit` characters, keeping head and tail. Return the content and whether text was cut."""
    if isinstance(content, str):
        return _cut(content, limit, TEXT_BYTES)
    texts = max(sum(isinstance(part, Text) for part in content), 1)
    share, room = max(limit // texts, 200), TEXT_BYTES // texts
    cuts = [_cut(part.text, share, room) if isinstance(part, Text) else None for part in content]
    parts = [part if cut is None else Text(cut[0]) for part, cut in zip(content, cuts, strict=True)]
    return parts, any(cut is not None and cut[1] for cut in cuts)


def _cut(text: str, limit: int, room: int) -> tuple[str, bool]:
    text = plain_text(text)
    if len(text) <= limit and (len(text) <= room // 6 or encoded_size(text) <= room):
        return text, False
    limit = min(limit, len(text))
    while True:
        head, tail = limit * 2 // 3, max(limit - limit * 2 // 3, 1)
        weight = encoded_size(text[:head] + text[-tail:])
        if weight <= room or limit <= 200:
            break
        limit = min(limit * room // weight, limit * 9 // 10)
    left_out = len(text) - head - tail
    return f"{text[:head]}\n\n[… {left_out:,} characters left out …]\n\n{text[-tail:]}", True


def encoded_size(text: str) -> int:
    """Return the bytes of a text as JSON."""
    return len(encode_text(text).encode())


def is_too_large(content: Parts) -> bool:
    """Return whether the pictures and files exceed the size limit."""
    return not isinstance(content, str) and sum(map(_size, content)) > ROOM


def shrink_parts(content: Sequence[ResultPart]) -> list[ResultPart]:
    """Return the parts with large pictures scaled down and oversized files dropped. Blocks: run it in a thread."""
    share = _share([_size(part) for part in content])
    parts: list[ResultPart] = []
    for part in content:
        if isinstance(part, Text) or _size(part) <= share:
            parts.append(part)
        elif isinstance(part, Image) and (smaller := _smaller(part, share)) is not None:
            parts += smaller
        else:
            parts.append(Text(f"[{_named(part)} of {_size(part) * 3 // 4:,} bytes is left out: make it smaller.]"))
    return parts


def _size(part: ResultPart) -> int:
    return 0 if isinstance(part, Text) or part.data is None else len(part.data)


def _share(sizes: Sequence[int]) -> int:
    """Return the size limit per part. Room that small parts do not need goes to the large ones."""
    room, left = ROOM, len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            break
        room, left = room - size, left - 1
    return room // max(left, 1)


def _smaller(image: Image, room: int) -> list[ResultPart] | None:
    """Return the picture scaled down to `room` base64 characters, and a note; None if that is not possible."""
    try:
        data = base64.b64decode(image.data or "", validate=True)
    except ValueError:
        return None
    header = picture_header(data)
    if header is None or not 0 < header.width * header.height <= MAX_PIXELS:
        return None
    made = _scaled(data, room * 3 // 4)
    if made is None:
        return None
    small, width, height = made
    note = f"[Made smaller to fit: {width}x{height} of {header.width}x{header.height} pixels.]"
    return [Image(media_type="image/jpeg", data=base64.b64encode(small).decode()), Text(note)]


def _scaled(data: bytes, room: int) -> tuple[bytes, int, int] | None:
    """Return a JPEG of at most `room` bytes, with its width and height."""
    try:
        from PIL import Image as Pillow
    except ImportError:
        return None
    try:
        with catch_warnings(), Pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as found:
            simplefilter("error")
            layer = found.convert("RGBA")
    except Exception:  # decoders raise many types for damaged files
        return None
    picture = Pillow.new("RGB", layer.size, "white")
    picture.paste(layer, mask=layer)
    while max(picture.size) >= _LEAST:
        for quality in (88, 75, 60):
            out = io.BytesIO()
            picture.save(out, "JPEG", quality=quality)
            if out.tell() <= room:
                return out.getvalue(), picture.width, picture.height
        picture = picture.resize((max(picture.width * 3 // 4, 1), max(picture.height * 3 // 4, 1)))
    return None


def _named(part: ResultPart) -> str:
    return f"A file {part.name!r}" if isinstance(part, File) and part.name else "A picture or file"
