"""JSON as the log and the wires need it: strict in, never crashing out.

`encode` writes UTF-8; a lone surrogate (which UTF-8 cannot hold) is written as its escape instead of raising.
`parse_strict` refuses what two parsers would read differently: NaN, Infinity, duplicate keys, absurd nesting.
"""

import json
from typing import Any, NoReturn, cast

import msgspec

JsonObject = dict[str, Any]

MAX_DEPTH = 200

_encoder = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), allow_nan=False).encode()


def encode_text(value: object) -> str:
    return encode(value).decode()


def as_object(value: Any) -> JsonObject:
    """The value if it is an object, else an empty one: what strangers send need not be what they promised."""
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_objects(value: Any) -> list[JsonObject]:
    """The objects in a list, if it is one."""
    return [cast(JsonObject, item) for item in as_list(value) if isinstance(item, dict)]


def as_int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def parse_strict(text: str) -> Any:
    """The value of a JSON text; ValueError says what is wrong and where."""
    try:
        value = _strict.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and depth_of(value) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return value


def depth_of(value: Any) -> int:
    """How many containers deep a value goes, without recursion."""
    deepest = 0
    pending: list[tuple[Any, int]] = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, depth + 1)
            pending += [(child, depth + 1) for child in (*as_object(item).values(), *as_list(item))]
    return deepest


def _unique_object(pairs: list[tuple[str, Any]]) -> JsonObject:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise ValueError(f"duplicate key {key[:80]!r}")
        seen.add(key)
    return result


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_strict = json.JSONDecoder(object_pairs_hook=_unique_object, parse_constant=_no_constant)
