"""Calls and results in one line, for people."""

from typing import Any

from weft.core.content import Image
from weft.core.json import JsonObject, encode_text
from weft.core.tools import ToolResult
from weft.tools.printable import printable
from weft.tools.tool import Tool

_WIDTH = 120
_VALUE = 60
_FULL = 10_000


def call_summary(tool: Tool, arguments: JsonObject) -> str:
    """The call, as the tool itself says it or as its first arguments do."""
    if tool.summary is not None:
        try:
            return _line(tool.summary(arguments))
        except (KeyError, TypeError, ValueError, AttributeError):
            pass  # the arguments are not what they should be; the result will say so
    return arguments_summary(arguments)


def call_in_full(arguments: JsonObject) -> str:
    """All that a call would do with, for whoever has to allow it: nothing joined, nothing hidden, cuts told."""
    lines = [f"{name}: {_whole(value)}" for name, value in arguments.items()]
    return "\n".join(lines)


def _whole(value: Any) -> str:
    text = value if isinstance(value, str) else encode_text(value)
    shown = printable(text[:_FULL]).replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return shown if len(text) <= _FULL else f"{shown} … and {len(text) - _FULL:,} characters more"


def arguments_summary(arguments: JsonObject) -> str:
    return _line(", ".join(f"{name}={_value(value)}" for name, value in arguments.items()))


def result_summary(result: ToolResult) -> str:
    """The first line of a result, and how much more there is."""
    text = result.text.strip()
    if len(text) <= _WIDTH and isinstance(result.content, str) and text.isascii() and text.isprintable():
        return text
    first, _, rest = text.partition("\n")
    said = _line(first)
    more = rest.count("\n") + 1 if rest else 0
    pictures = 0 if isinstance(result.content, str) else sum(isinstance(part, Image) for part in result.content)
    extra = [f"{more} more line{'s' * (more != 1)}"] * bool(more)
    extra += [f"{pictures} picture{'s' * (pictures != 1)}"] * bool(pictures)
    return f"{said} ({', '.join(extra)})" if said and extra else said or ", ".join(extra)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else str(value) if type(value) is int else encode_text(value)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"


def _line(text: str) -> str:
    if text.isascii() and text.isprintable() and len(text) <= _WIDTH:
        return text
    line = printable(" ".join(text[:_FULL].split()))
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
