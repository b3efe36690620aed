"""The output of a tool, and how a return value becomes one."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from heald.core.json import JsonObject, encode_text
from heald.core.message_forms import tool_failure
from heald.core.messages import File, Image, ResultPart, Text

Parts = str | list[ResultPart]
NO_CHANGE = "no change"
"""The summary of an edit that left the files as they were."""
HOOK_FAILED = "a hook failed"
"""The end of the summary of a call whose hook failed after it."""
HOOK_REFUSED = "A hook refused this call."
"""The begin of the result of a call that a hook refused."""
HOOK_DATA = "hook_failures"
"""The field of a result's data with the words of the hooks that failed after the call."""


class ToolOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a tool that returns more than a value: pictures, a summary, structured data."""

    content: Parts
    summary: str = ""
    """One line for the user interface."""
    data: JsonObject | None = None
    """Structured data for programs; not sent to the model."""
    truncated: bool = False
    is_error: bool = False


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
        fields = cast("JsonObject", value)
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


def add_hook_failures(value: Any, failures: Sequence[str], notes: Sequence[str] = ()) -> Any:
    """Return the output of a tool with what hooks wrote about it before it. `failures` mark the call as failed."""
    texts = [*failures, *notes]
    if not texts:
        return value
    output = join_output([Text("\n".join(texts))], value)
    if not failures:
        return output
    summary = f"{output.summary}; {HOOK_FAILED}" if output.summary else HOOK_FAILED
    data: JsonObject = {**(output.data or {}), HOOK_DATA: "\n".join(failures)}
    return msgspec.structs.replace(output, summary=summary, data=data)


def _as_json(value: Any) -> str:
    try:
        return encode_text(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return str(value)
