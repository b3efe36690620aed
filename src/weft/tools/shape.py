"""A Python type as JSON Schema, and JSON turned into values of that type."""

from typing import Any, cast

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, as_object


class Shape:
    """What a type looks like in JSON. Builtins, msgspec structs, dataclasses, TypedDicts, enums and pydantic models."""

    def __init__(self, kind: Any, where: str) -> None:
        self.kind = kind
        try:
            schema = msgspec.json.schema(kind, schema_hook=_foreign_schema)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise ConfigurationError(f"{where} has a type that JSON cannot carry: {_first_line(error)}.") from None
        self.schema = inline(schema)

    def convert(self, value: Any) -> Any:
        """The value as the type. ValueError says where it does not fit."""
        try:
            return msgspec.convert(value, self.kind, dec_hook=_foreign_value)
        except msgspec.ValidationError as error:
            raise ValueError(_first_line(error)) from None


def inline(schema: JsonObject) -> JsonObject:
    """The schema with its references written out, except where a type holds itself: not every API follows them."""
    definitions = as_object(schema.get("$defs"))
    kept: JsonObject = {}
    written = _written_out({k: v for k, v in schema.items() if k != "$defs"}, definitions, (), kept)
    return as_object(written) | ({"$defs": kept} if kept else {})


def _written_out(node: Any, definitions: JsonObject, inside: tuple[str, ...], kept: JsonObject) -> Any:
    if isinstance(node, list):
        return [_written_out(item, definitions, inside, kept) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    mapping = cast(JsonObject, node)
    name = str(mapping.get("$ref", "")).removeprefix("#/$defs/")
    if name not in definitions:
        if "enum" in mapping and all(isinstance(value, str) for value in mapping["enum"]):
            mapping = {"type": "string", **mapping}
        return {key: _written_out(value, definitions, inside, kept) for key, value in mapping.items()}
    if name in inside:
        if name not in kept:
            kept[name] = None  # a place for it, so that writing it out ends
            kept[name] = _written_out(definitions[name], definitions, (name,), kept)
        return mapping
    target = as_object(_written_out(definitions[name], definitions, (*inside, name), kept))
    return target | {key: value for key, value in mapping.items() if key != "$ref"}


def _foreign_schema(kind: type) -> JsonObject:
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        raise NotImplementedError(f"{getattr(kind, '__name__', kind)} is not one that can be described")
    return inline(describe())


def _foreign_value(kind: type, value: Any) -> Any:
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise NotImplementedError
    try:
        return validate(value)
    except ValueError as error:
        raise ValueError(_first_line(error)) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
