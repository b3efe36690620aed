"""Arguments that Gemini streams as values at JSON paths (`$.items[0].name`), put together."""

import re
from typing import Any, cast

from weft.core.json import JsonObject

Step = str | int

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[['\"](.*?)['\"]\]")
_MAX_INDEX = 100_000


class PathArguments:
    """Collects partial arguments into one object."""

    def __init__(self) -> None:
        self.value: JsonObject = {}
        self._continued: str | None = None  # the path whose string goes on

    def add(self, part: JsonObject) -> None:
        path = part.get("jsonPath")
        steps = parse_path(path) if isinstance(path, str) else []
        if not steps or isinstance(steps[0], int):
            return
        value = _value_of(part)
        if isinstance(value, str) and self._continued == path:
            value = (_get(self.value, steps) or "") + value
        _set(self.value, steps, value)
        self._continued = path if part.get("willContinue") else None


def parse_path(path: str) -> list[Step]:
    return [int(index) if index else name or quoted for name, index, quoted in _STEP.findall(path)]


def _value_of(part: JsonObject) -> Any:
    for field in ("stringValue", "numberValue", "boolValue"):
        if field in part:
            return part[field]
    if "structValue" in part:
        return part["structValue"]
    return "" if part.get("willContinue") and "nullValue" not in part else None


def _get(root: Any, steps: list[Step]) -> Any:
    for step in steps:
        try:
            root = root[step]
        except (KeyError, IndexError, TypeError):
            return None
    return root


def _set(root: Any, steps: list[Step], value: Any) -> None:
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        fresh: Any = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(root, list):
            items = cast("list[Any]", root)
            if not isinstance(step, int) or step > _MAX_INDEX:
                return
            while len(items) <= step:
                items.append(None)
            if following is None or items[step] is None:
                items[step] = fresh
        elif isinstance(root, dict) and (following is None or root.get(step) is None):  # pyright: ignore[reportUnknownMemberType]
            root[step] = fresh
        elif not isinstance(root, dict):
            return
        root = cast(Any, root)[step]
