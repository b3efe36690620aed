"""Whether a built request is what a case asks for: everything the pattern names, and nothing it forbids.

An object matches if each named key matches; others may stand beside it. A list matches item by item. Instead of a
value a pattern may be one of

    {"$absent": true}       the key is not there
    {"$equals": value}      exactly this, no key more
    {"$matches": "regex"}   a string that the expression matches as a whole
    {"$json": pattern}      a string that is JSON and matches the pattern
    {"$contains": [...]}    a list with an item for each of these patterns, in this order, others between them
    {"$same": "name"}       any one string, the same at every place of this name
"""

import json
import re
from collections.abc import Iterator
from typing import Any, cast


class Mismatch(AssertionError):
    """Says where the request differs, and how."""


def match(pattern: Any, value: Any) -> None:
    _match(pattern, value, "request", {})


def _match(pattern: Any, value: Any, at: str, names: dict[str, str]) -> None:
    if isinstance(pattern, dict):
        pattern = cast("dict[str, Any]", pattern)
        operator = next((key for key in pattern if key.startswith("$")), None)
        if operator is not None:
            _operate(operator, pattern[operator], value, at, names)
            return
        _match_object(pattern, value, at, names)
        return
    if isinstance(pattern, list):
        pattern = cast("list[Any]", pattern)
        items = cast("list[Any]", value) if isinstance(value, list) else None
        if items is None or len(items) != len(pattern):
            raise Mismatch(f"{at}: expected {len(pattern)} item(s) {pattern!r}, got {value!r}")
        for index, (subpattern, item) in enumerate(zip(pattern, items, strict=True)):
            _match(subpattern, item, f"{at}[{index}]", names)
        return
    if type(pattern) is not type(value) or pattern != value:
        raise Mismatch(f"{at}: expected {pattern!r}, got {value!r}")


def _match_object(pattern: dict[str, Any], value: Any, at: str, names: dict[str, str]) -> None:
    if not isinstance(value, dict):
        raise Mismatch(f"{at}: expected an object with {sorted(pattern)}, got {value!r}")
    value = cast("dict[str, Any]", value)
    for key, subpattern in pattern.items():
        if subpattern == {"$absent": True}:
            if key in value:
                raise Mismatch(f"{at}.{key}: must be absent, got {value[key]!r}")
            continue
        if key not in value:
            raise Mismatch(f"{at}.{key}: missing in {value!r}")
        _match(subpattern, value[key], f"{at}.{key}", names)


def _operate(operator: str, operand: Any, value: Any, at: str, names: dict[str, str]) -> None:
    match operator:
        case "$equals":
            if operand != value:
                raise Mismatch(f"{at}: expected exactly {operand!r}, got {value!r}")
        case "$matches":
            if not isinstance(value, str) or re.fullmatch(operand, value) is None:
                raise Mismatch(f"{at}: expected a match of {operand!r}, got {value!r}")
        case "$json":
            _match(operand, json.loads(value), f"{at} as JSON", names)
        case "$contains":
            rest: Iterator[Any] = iter(cast("list[Any]", value))
            for subpattern in operand:
                if not any(_matches(subpattern, item, names) for item in rest):
                    raise Mismatch(f"{at}: no item (in order) matches {subpattern!r} in {value!r}")
        case "$same":
            if not isinstance(value, str) or names.setdefault(operand, value) != value:
                raise Mismatch(f"{at}: expected {names.get(operand)!r} again, got {value!r}")
        case _:
            raise ValueError(f"{operator} is not an operator of a pattern")


def _matches(pattern: Any, item: Any, names: dict[str, str]) -> bool:
    try:
        _match(pattern, item, "", names)
    except Mismatch:
        return False
    return True
