"""Whether the value of a keyword has the shape it must have, and where the schemas in it are."""

import re
from collections.abc import Iterator
from typing import Any, cast

from weft.core.json import JsonObject
from weft.schema.drafts import Draft, Shape
from weft.schema.faults import SchemaFault
from weft.schema.node import Path
from weft.schema.patterns import check_pattern
from weft.schema.values import canonical
from weft.schema.wording import KINDS, shown

_ANCHOR = re.compile(r"[A-Za-z_][-A-Za-z0-9._:]*\Z")


def check_keywords(schema: JsonObject, draft: Draft, place: Path) -> None:
    """Raise SchemaFault for the first keyword whose value is of no use."""
    for keyword, value in schema.items():
        shape = draft.shapes.get(keyword)
        if shape is not None:
            _check(value, shape, (*place, keyword))
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if draft.shapes.get(exclusive) is Shape.BOOLEAN and exclusive in schema and bound not in schema:
            raise SchemaFault((*place, exclusive), f"needs {bound} beside it.")


def subschemas(schema: JsonObject, draft: Draft) -> Iterator[tuple[Path, Any]]:
    """The schemas directly within a schema, each with the way to it."""
    for keyword, value in schema.items():
        match draft.shapes.get(keyword):
            case Shape.SCHEMA | Shape.SCHEMA_OR_BOOLEAN:
                yield (keyword,), value
            case Shape.SCHEMAS | Shape.SCHEMA_OR_SCHEMAS if isinstance(value, list):
                yield from (((keyword, at), each) for at, each in enumerate(cast("list[Any]", value)))
            case Shape.SCHEMA_OR_SCHEMAS:
                yield (keyword,), value
            case Shape.SCHEMA_MAP | Shape.PATTERN_MAP:
                yield from (((keyword, name), each) for name, each in value.items())
            case Shape.DEPENDENCY_MAP:
                yield from (((keyword, name), each) for name, each in value.items() if not isinstance(each, list))
            case _:
                pass


def _check(value: Any, shape: Shape, place: Path) -> None:
    match shape:
        case Shape.SCHEMA | Shape.SCHEMA_OR_BOOLEAN:
            pass  # looked at where it is surveyed
        case Shape.SCHEMAS:
            _some(value, place, "schemas")
        case Shape.SCHEMA_OR_SCHEMAS:
            if isinstance(value, list):
                _some(cast("list[Any]", value), place, "schemas")
        case Shape.SCHEMA_MAP | Shape.DEPENDENCY_MAP | Shape.NAMES_MAP | Shape.PATTERN_MAP | Shape.BOOLEAN_MAP:
            _check_map(value, shape, place)
        case Shape.NAMES:
            _names(value, place)
        case Shape.SOME_NAMES:
            _names(_some(value, place, "names"), place)
        case Shape.TYPES:
            _types(value, place)
        case Shape.ARRAY:
            _array(value, place)
        case Shape.NUMBER:
            _number(value, place)
        case Shape.POSITIVE:
            if _number(value, place) <= 0:
                raise SchemaFault(place, f"{shown(value)} is not greater than 0.")
        case Shape.COUNT | Shape.INTEGER_COUNT:
            number = _number(value, place)
            whole = isinstance(number, int) or (shape is Shape.COUNT and number.is_integer())
            if number < 0 or not whole:
                raise SchemaFault(place, f"{shown(value)} is no count; give an integer from 0 up.")
        case Shape.STRING:
            _string(value, place)
        case Shape.PATTERN:
            check_pattern(_string(value, place), place)
        case Shape.ANCHOR:
            if not _ANCHOR.match(_string(value, place)):
                raise SchemaFault(place, f"{shown(value)} is no name for a place; use letters, digits, - _ and dots.")
        case Shape.IDENTIFIER:
            if _string(value, place).partition("#")[2]:
                raise SchemaFault(place, f"{shown(value)} has a fragment; use $anchor for it.")
        case Shape.BOOLEAN:
            _boolean(value, place)


def _check_map(value: Any, shape: Shape, place: Path) -> None:
    if not isinstance(value, dict):
        raise SchemaFault(place, f"{shown(value)} is not an object.")
    for name, each in cast(JsonObject, value).items():
        if shape is Shape.PATTERN_MAP:
            check_pattern(name, (*place, name))
        elif shape is Shape.NAMES_MAP or (shape is Shape.DEPENDENCY_MAP and isinstance(each, list)):
            _names(each, (*place, name))
        elif shape is Shape.BOOLEAN_MAP:
            _boolean(each, (*place, name))


def _array(value: Any, place: Path) -> list[Any]:
    if not isinstance(value, list):
        raise SchemaFault(place, f"{shown(value)} is not an array.")
    return cast("list[Any]", value)


def _some(value: Any, place: Path, what: str) -> list[Any]:
    found = _array(value, place)
    if not found:
        raise SchemaFault(place, f"the list of {what} is empty.")
    return found


def _unique(values: list[Any], place: Path) -> None:
    if len({canonical(value) for value in values}) < len(values):
        raise SchemaFault(place, "holds a value twice.")


def _names(value: Any, place: Path) -> None:
    names = _array(value, place)
    for at, name in enumerate(names):
        _string(name, (*place, at))
    _unique(names, place)


def _types(value: Any, place: Path) -> None:
    types = _some(cast(Any, value), place, "types") if isinstance(value, list) else [value]
    for kind in types:
        if not isinstance(kind, str) or kind not in KINDS:
            raise SchemaFault(place, f"{shown(kind)} is no JSON type; the types are {', '.join(KINDS)}.")
    _unique(types, place)


def _number(value: Any, place: Path) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise SchemaFault(place, f"{shown(value)} is not a number.")
    return value


def _string(value: Any, place: Path) -> str:
    if not isinstance(value, str):
        raise SchemaFault(place, f"{shown(value)} is not a string.")
    return value


def _boolean(value: Any, place: Path) -> None:
    if not isinstance(value, bool):
        raise SchemaFault(place, f"{shown(value)} is neither true nor false.")
