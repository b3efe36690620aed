"""Calls that a model wrote as JSON, also with the errors that models make in it."""

import ast
import re
from typing import TYPE_CHECKING, Any, cast

from heald.core.json import JsonObject
from heald.core.lazy import LazyModule, lazy_pattern
from heald.wires.text_call import NamedCalls, Tools

if TYPE_CHECKING:
    import json
else:
    json = LazyModule("json")


_NAMES = ("name", "function", "function_name", "tool", "tool_name", "action", "recipient_name", "api")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "params", "kwargs")
_KEYS = frozenset({*_NAMES, *_ARGUMENTS, "type", "id", "tool_calls", "tool_uses", "calls", "thought"})
_FIRST_KEY = lazy_pattern(r"""\s*\[?\s*\{\s*["'](\w+)["']""")
UNPARSED: Any = object()


def parse_loose_json(text: str) -> Any:
    """Parse JSON as models write it: with raw line breaks in texts, trailing commas, or as a Python literal."""
    text = text.strip()
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(re.sub(r",\s*(?=[}\]])", "", text), strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return UNPARSED


def json_values(body: str) -> list[Any]:
    """Parse one or several JSON texts that follow each other."""
    values: list[Any] = []
    while body:
        end = BracketScan().feed(body) or len(body)
        value = parse_loose_json(body[:end])
        if value is UNPARSED:
            return []
        values.append(value)
        body = body[end:].strip(" \t\r\n;,")
    return values


def calls_from_json(value: Any, tools: Tools) -> NamedCalls | None:
    """Return the calls of a JSON value, None if it is something else."""
    if isinstance(value, list):
        calls: NamedCalls = []
        for element in cast("list[Any]", value):
            element_calls = calls_from_json(element, tools)
            if element_calls is None:
                return None
            calls += element_calls
        return calls or None
    if not isinstance(value, dict):
        return None
    entry = cast(JsonObject, value)
    for wrapper in ("tool_calls", "tool_uses", "calls"):
        if isinstance(entry.get(wrapper), list):
            return calls_from_json(entry[wrapper], tools)
    if isinstance(entry.get("function"), dict):
        return calls_from_json(entry["function"], tools)
    name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
    if name is not None:
        name = name.removeprefix("functions.")
        arguments = _arguments(entry)
        return [(name, arguments)] if name in tools and arguments is not None else None
    if len(entry) == 1:
        [(only, arguments)] = entry.items()
        if only in tools and isinstance(arguments, dict):
            return [(only, cast(JsonObject, arguments))]
    return None


def _arguments(entry: JsonObject) -> JsonObject | None:
    """The arguments of a call: in a member of their own, or beside the name."""
    for key in _ARGUMENTS:
        if key not in entry:
            continue
        value: Any = parse_loose_json(entry[key]) if isinstance(entry[key], str) else entry[key]
        if value is None:
            return {}
        return cast(JsonObject, value) if isinstance(value, dict) else None
    return {key: value for key, value in entry.items() if key not in (*_NAMES, "type", "id", "thought")}


def may_be_json_call(text: str, tools: Tools) -> bool:
    """Whether the beginning of a JSON text may be a call: its first key decides."""
    key = _FIRST_KEY.match(text)
    if key is not None:
        return key[1] in _KEYS or key[1] in tools
    return re.fullmatch(r"""\s*\[?\s*\{?\s*(?:["']\w*)?\s*""", text[:200]) is not None


class BracketScan:
    """Finds the end of the JSON value at the start of a text that grows."""

    def __init__(self) -> None:
        self._at = 0
        self._depth = 0
        self._quote = ""
        self._skip = False

    def feed(self, text: str) -> int | None:
        """Return where the value ends, if it does. `text` is the whole of it so far."""
        for at in range(self._at, len(text)):
            char = text[at]
            if self._skip:
                self._skip = False
            elif self._quote:
                if char == "\\":
                    self._skip = True
                elif char == self._quote:
                    self._quote = ""
            elif char == '"' or (char == "'" and self._depth):
                self._quote = char
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                if self._depth == 0:
                    return at + 1
        self._at = len(text)
        return None
