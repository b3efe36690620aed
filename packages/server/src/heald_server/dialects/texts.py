"""Errors and results of tools as text, and the reasons that a stream ends."""

from typing import Any

import msgspec

from heald.core.errors import ErrorInfo
from heald.core.messages import Text, ToolResult

MAX_ERROR = 300
MAX_TOOL_ERROR = 2000
CUT_SHORT = "The stream ended before the answer was complete."
NOT_STORED = "The session can be stored no more, so the answer was broken off; make room, or ask again in a moment."
DROPPED = "This attempt failed and was dropped; what follows takes its place."
CANCELLED = "The request was cancelled."


def error_text(error: ErrorInfo | None) -> str:
    """An error in one line."""
    if error is None:
        return "The request failed."
    return shortened(" ".join(error.message.split()), MAX_ERROR) or f"The request failed ({error.code})."


def error_code(error: ErrorInfo | None) -> str:
    return error.code if error is not None else "internal"


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def failure_text(result: ToolResult) -> str:
    """Why a call failed."""
    return shortened(result.text, MAX_TOOL_ERROR) or f"The call ended with {result.status}."


def result_text(result: ToolResult) -> str:
    """A result as text. Pictures and files are named."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(part.text if isinstance(part, Text) else f"[{part.media_type}]" for part in result.content)


def result_value(result: ToolResult) -> Any:
    """A result as a JSON value: a text, or its parts."""
    return result.content if isinstance(result.content, str) else msgspec.to_builtins(result.content)
