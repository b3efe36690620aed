"""Converts arguments that Gemini streams as values at JSON paths (`$.items[0].name`) to JSON text as they arrive."""

from json.encoder import encode_basestring
from typing import Any, cast

import msgspec

from heald.core.json import JsonObject, encode_text
from heald.core.lazy import lazy_pattern

Step = str | int

_STEP = lazy_pattern(r"\.([^.\[\]]+)|\[(\d{1,6})\]|\[['\"](.*?)['\"]\]")
_MAX_GAP = 1000


class _Container(msgspec.Struct):
    """An object or array that is being written."""

    is_list: bool
    keys: set[Step]


class PathArguments:
    """Collects partial arguments into one object and into its text.

    The text is written in the order of arrival. A path that returns to a closed part cannot be written: then
    `in_order` is False and only `value` counts.
    """

    def __init__(self) -> None:
        self.value: JsonObject = {}
        self.in_order = True
        self._open: list[_Container] = []
        self._path: list[Step] = []  # of the innermost open container
        self.open_path: str | None = None
        """The path of the string that continues."""
        self._pieces: list[str] = []  # of that string

    def add(self, part: JsonObject) -> str:
        """Add one partial argument and return the text that it adds."""
        path = part.get("jsonPath")
        if path is not None and path == self.open_path:
            return self._continue_string(part)
        steps = parse_path(path) if isinstance(path, str) else []
        if not steps or isinstance(steps[0], int):
            return ""
        value = _value_of(part)
        text = self._end_string() + self._descend(steps)
        if part.get("willContinue") and isinstance(value, str):
            self.open_path, self._pieces = path, [value]
            text += '"' + _escaped(value)
        else:
            _set(self.value, steps, value)
            text += encode_text(value)
        return text if self.in_order else ""

    def close(self) -> str:
        """Return the text that is still missing."""
        text = self._end_string() + self._ascend(0)
        if not self._open:
            return "{}"
        return text + "}"

    def grow(self, piece: str) -> str:
        """Add more of the string that continues and return the text that it adds."""
        self._pieces.append(piece)
        return _escaped(piece) if self.in_order else ""

    def _continue_string(self, part: JsonObject) -> str:
        piece = part.get("stringValue")
        text = self.grow(piece) if isinstance(piece, str) else ""
        if not part.get("willContinue"):
            text += self._end_string()
        return text if self.in_order else ""

    def _end_string(self) -> str:
        if self.open_path is None:
            return ""
        _set(self.value, parse_path(self.open_path), "".join(self._pieces))
        self.open_path = None
        return '"'

    def _descend(self, steps: list[Step]) -> str:
        """Close and open containers until the value at the path can be written."""
        text = ""
        if not self._open:
            self._open.append(_Container(False, set()))
            text = "{"
        shared = 0
        while shared < min(len(self._path), len(steps) - 1) and self._path[shared] == steps[shared]:
            shared += 1
        text += self._ascend(shared)
        for level in range(shared, len(steps)):
            container, step = self._open[level], steps[level]
            misplaced = step != len(container.keys) if container.is_list else isinstance(step, int)
            if misplaced or step in container.keys:
                self.in_order = False
            text += "," if container.keys else ""
            text += "" if container.is_list else encode_text(str(step)) + ":"
            container.keys.add(step)
            if level + 1 < len(steps):
                is_list = isinstance(steps[level + 1], int)
                self._open.append(_Container(is_list, set()))
                self._path.append(step)
                text += "[" if is_list else "{"
        return text

    def _ascend(self, depth: int) -> str:
        text = ""
        while len(self._path) > depth:
            text += "]" if self._open.pop().is_list else "}"
            self._path.pop()
        return text


def parse_path(path: str) -> list[Step]:
    return [int(index) if index else name or quoted for name, index, quoted in _STEP.findall(path)]


def _value_of(part: JsonObject) -> Any:
    for field in ("stringValue", "numberValue", "boolValue", "structValue"):
        if field in part:
            return part[field]
    return "" if part.get("willContinue") and "nullValue" not in part else None


def _escaped(text: str) -> str:
    """The text as it is written between the quotes of a JSON string."""
    return encode_basestring(text)[1:-1]


def _set(root: Any, steps: list[Step], value: Any) -> None:
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        fresh: Any = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(root, list):
            items = cast("list[Any]", root)
            if not isinstance(step, int) or step > len(items) + _MAX_GAP:
                return
            while len(items) <= step:
                items.append(None)
            if following is None or items[step] is None:
                items[step] = fresh
        elif isinstance(root, dict) and isinstance(step, str):
            entries = cast(JsonObject, root)
            if following is None or entries.get(step) is None:
                entries[step] = fresh
        else:
            return
        root = cast(Any, root)[step]
