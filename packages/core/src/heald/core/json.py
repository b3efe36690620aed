"""JSON for the log and the wires: strict parsing, and encoding that never fails on text.

`encode` writes UTF-8; a lone surrogate (which UTF-8 cannot hold) is written as its escape instead of raising.
`parse_strict` refuses what two parsers would read differently: NaN, Infinity, duplicate keys, absurd nesting.
"""

from math import isinf
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import msgspec

from heald.core.lazy import LazyModule, LazyObject

if TYPE_CHECKING:
    import json
else:  # msgspec reads and writes nearly everything
    json = LazyModule("json")

JsonObject = dict[str, Any]

T = TypeVar("T")

MAX_DEPTH = 200

_encoder = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, enc_hook=_from_raw)
        return json.dumps(_finite_only(plain), separators=(",", ":")).encode()


def _from_raw(value: Any) -> Any:
    if isinstance(value, msgspec.Raw):
        return loads(bytes(value))
    raise NotImplementedError


def encode_text(value: object) -> str:
    return encode(value).decode()


def _finite_only(value: Any) -> Any:
    """The value with null for numbers that JSON lacks, as msgspec writes them."""
    match value:
        case float() if value != value or isinf(value):
            return None
        case dict():
            return {key: _finite_only(item) for key, item in cast(JsonObject, value).items()}
        case list():
            return [_finite_only(item) for item in cast("list[Any]", value)]
        case _:
            return value


def loads(data: bytes | str) -> Any:
    """Decode any JSON, lone surrogates included, which msgspec refuses though `encode` writes them."""
    try:
        return _lenient.decode(data.decode() if isinstance(data, bytes) else data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def decode(decoder: "msgspec.json.Decoder[T]", data: bytes | str) -> T:
    """Decode a typed value; ValueError if it is not valid JSON or has another shape."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return convert(loads(data), decoder.type)


def convert(value: Any, kind: type[T]) -> T:
    """Convert plain values to a typed one; ValueError if they have another shape."""
    try:
        return msgspec.convert(value, kind)
    except UnicodeEncodeError:
        raise ValueError("half a surrogate pair where another value belongs") from None


def as_object(value: Any) -> JsonObject:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def as_objects(value: Any) -> list[JsonObject]:
    """The objects in a list, if it is one."""
    return [cast(JsonObject, item) for item in as_list(value) if isinstance(item, dict)]


def as_int(value: Any) -> int | None:
    return value if type(value) is int else None


def parse_strict(text: str) -> Any:
    """Parse a JSON text; the message of a ValueError states what is wrong and where."""
    if text.count("{") == 1 and "[" not in text and (flat := _flat(text)) is not None:
        return flat
    try:
        value = _strict.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and depth_of(value) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return value


def _flat(text: str) -> JsonObject | None:
    """Decode a flat object quickly; None if the slow path must decide. One colon a key means no duplicates."""
    try:
        value = _flat_decoder.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return value if text.count(":") == len(value) else None


def depth_of(value: Any) -> int:
    """The nesting depth of a value, computed without recursion."""
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


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


_flat_decoder = msgspec.json.Decoder(dict[str, Any])
_strict: "json.JSONDecoder" = cast(
    "Any",
    LazyObject(
        lambda: json.JSONDecoder(object_pairs_hook=_unique_object, parse_constant=_no_constant, parse_float=_finite)
    ),
)
_lenient: "json.JSONDecoder" = cast(
    "Any", LazyObject(lambda: json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite))
)
