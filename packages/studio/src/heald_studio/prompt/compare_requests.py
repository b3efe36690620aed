"""Finds the first difference of two requests to a model, which is where a cache of prompts ends."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from heald.core.json import loads
from heald_studio.bad_input import BadInput

_MAX_SUMMARY = 120


class InputDifference(msgspec.Struct, frozen=True, kw_only=True):
    item_index: int
    path: str
    """From the item on, such as `input[2].content[0].text`."""
    left_summary: str
    right_summary: str
    left_value: Any
    """null where this side has nothing."""
    right_value: Any


class InputComparison(msgspec.Struct, frozen=True, kw_only=True):
    common_prefix_items: int
    left_item_count: int
    right_item_count: int
    difference: InputDifference | None
    formatted: str


def compare_inputs(left: str, right: str) -> InputComparison:
    """Compare two requests as JSON, or their `input` or `messages` alone. Raises BadInput if one cannot be read."""
    first, second = _read_items(left, "left"), _read_items(right, "right")
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    difference = None
    if same < max(len(first), len(second)):
        left_item, right_item = (side[same] if same < len(side) else None for side in (first, second))
        path, left_item, right_item = _find_path(left_item, right_item, f"input[{same}]")
        difference = InputDifference(
            item_index=same,
            path=path,
            left_summary=_summary(left_item),
            right_summary=_summary(right_item),
            left_value=left_item,
            right_value=right_item,
        )
    return InputComparison(
        common_prefix_items=same,
        left_item_count=len(first),
        right_item_count=len(second),
        difference=difference,
        formatted=_format(same, len(first), len(second), difference),
    )


def _read_items(text: str, side: str) -> list[Any]:
    try:
        value = loads(text.encode())
    except (ValueError, RecursionError):
        raise BadInput(f"The {side} side is not valid JSON; paste a request, or its input.", "not_text") from None
    if isinstance(value, Mapping):
        request = cast("Mapping[str, Any]", value)
        value = request.get("input", request.get("messages"))
    if not isinstance(value, list):
        raise BadInput(f"The {side} side has no list of input; paste a request, or its input.", "not_text")
    return cast("list[Any]", value)


def _find_path(left: Any, right: Any, path: str) -> tuple[str, Any, Any]:
    """Descend to the first value that differs, in the order of the left side."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        left_object, right_object = cast("Mapping[str, Any]", left), cast("Mapping[str, Any]", right)
        for name in dict.fromkeys([*left_object, *right_object]):
            if name not in left_object or name not in right_object or left_object[name] != right_object[name]:
                return _find_path(left_object.get(name), right_object.get(name), f"{path}.{name}")
    if isinstance(left, list) and isinstance(right, list):
        first, second = cast("Sequence[Any]", left), cast("Sequence[Any]", right)
        for at in range(max(len(first), len(second))):
            values = [side[at] if at < len(side) else None for side in (first, second)]
            if at >= min(len(first), len(second)) or values[0] != values[1]:
                return _find_path(values[0], values[1], f"{path}[{at}]")
    return path, cast("Any", left), cast("Any", right)


def _summary(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SUMMARY else f"{text[:_MAX_SUMMARY]}… ({len(text):,} characters)"


def _format(same: int, left: int, right: int, difference: InputDifference | None) -> str:
    counts = f"{same} items are equal from the beginning; left has {left}, right has {right}."
    if difference is None:
        return f"{counts}\nThe inputs are equal."
    sentence = f"The first difference is at {difference.path}."
    return f"{counts}\n{sentence}\nleft:  {difference.left_summary}\nright: {difference.right_summary}"
