"""The results that clients send, checked."""

import base64
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import as_object, depth_of, encode
from heald.core.lazy import lazy_pattern
from heald.core.media import describe_picture_fault, picture_type
from heald.core.messages import File, Image, ResultPart, Text
from heald.tools.result_text import plain_text
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import Parts, ToolOutput, to_content

MAX_RESULT = 1_000_000
"""Maximum bytes of a result as JSON."""
_MAX_REASON = 2_000
_MAX_DEPTH = 100
_WEB_URL = lazy_pattern(r"https?://[^\s]{1,2000}\Z")
_PART_TYPES = ("text", "image", "file")


class ResultTooLarge(HealdError):
    """A result exceeds the size limit."""

    code = "invalid_request"


def parse_client_result(content: object, is_error: bool = False) -> ToolOutput | ToolFault:
    """Check the result of a client: a text, parts, or any JSON. `{"type": "execution-denied", "reason": …}` is a
    denial.

    Raises ConfigurationError for a result that cannot be used and ResultTooLarge for one above the limit.
    """
    if not isinstance(cast("object", is_error), bool):
        raise ConfigurationError("is_error of a result is true or false.")
    _check_size(content)
    denial = as_object(content)
    if denial.get("type") == "execution-denied":
        reason = denial.get("reason") or ""
        if not isinstance(reason, str):
            raise ConfigurationError("The reason of a denied execution is a text.")
        return ToolFault(
            f"The client did not run this call. {plain_text(reason)[:_MAX_REASON]}".strip(), status="denied"
        )
    return ToolOutput(content=_read_content(content), is_error=is_error)


def _check_size(content: object) -> None:
    try:
        size = len(encode(content))
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise ConfigurationError("The content of a result is a text, parts, or a JSON value.") from None
    if size > MAX_RESULT:
        raise ResultTooLarge(f"The result has {size:,} bytes, and a result may have {MAX_RESULT:,}; send less.")
    if depth_of(content) > _MAX_DEPTH:
        raise ConfigurationError("The result is nested too deeply; make it flatter.")


def _read_content(content: object) -> Parts:
    if isinstance(content, str):
        return plain_text(content)
    if isinstance(content, Text | Image | File):
        content = [content]
    if not isinstance(content, list | tuple):
        return plain_text(to_content(content)) if content is not None else ""  # pyright: ignore[reportArgumentType]
    items = list(cast("Sequence[Any]", content))
    parts = [
        item for item in items if isinstance(item, Text | Image | File) or as_object(item).get("type") in _PART_TYPES
    ]
    if not items or len(parts) < len(items):
        return plain_text(encode(items).decode())
    return [_read_part(part) for part in parts]


def _read_part(value: Any) -> ResultPart:
    try:
        part = value if isinstance(value, Text | Image | File) else msgspec.convert(value, Text | Image | File)
    except (msgspec.ValidationError, ValueError) as error:
        raise ConfigurationError(f"A part of the result cannot be read: {str(error)[:200]}.") from None
    if isinstance(part, Text):
        return Text(plain_text(part.text))
    if (part.data is None) == (part.url is None):
        raise ConfigurationError("A picture or file in a result has exactly one of data and url.")
    if part.url is not None:
        if not _WEB_URL.match(part.url):
            raise ConfigurationError("A url in a result begins with https:// or http://.")
        return part
    try:
        raw = base64.b64decode(part.data or "", validate=True)
    except ValueError:
        raise ConfigurationError("The data of a picture or file in a result is not base64.") from None
    if isinstance(part, File):
        return part
    fault = describe_picture_fault(raw)
    if fault is not None:
        raise ConfigurationError(f"A picture in a result cannot be used: {fault}.")
    return Image(media_type=picture_type(raw) or "", data=part.data)
