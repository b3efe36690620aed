"""What a tool gives back, and how it says that it failed."""

from typing import Any

import msgspec

from weft.core.content import File, Image, Text
from weft.core.errors import WeftError
from weft.core.json import encode_text
from weft.core.tools import ResultPart, ToolStatus

Parts = str | list[ResultPart]


class ToolOutput(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome with more to it than a value: pictures, a line for people, a limit of its own."""

    content: Parts
    summary: str = ""
    """One line for people."""
    truncated: bool = False
    is_error: bool = False


class ToolFault(WeftError):
    """A tool could not do what it was asked. The model reads the message; `kind` is a word programs can test."""

    def __init__(self, message: str, kind: str = "error", *, status: ToolStatus = "error") -> None:
        super().__init__(message)
        self.kind = kind
        self.status: ToolStatus = status


def plain_text(text: str) -> str:
    """The text without what no event may hold: NUL, and half a surrogate pair."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def content_of(value: Any) -> Parts:
    """Whatever a function returned, as the content of a result."""
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


def _as_json(value: Any) -> str:
    try:
        return encode_text(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return str(value)
