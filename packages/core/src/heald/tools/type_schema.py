"""Converts a Python type to JSON Schema, and JSON to values of that type."""

from typing import Any, cast

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_list, as_object
from heald.core.typed_decoder import build_decoder


class TypeSchema:
    """The JSON Schema of a type: builtin, path, msgspec struct, dataclass, TypedDict, enum or pydantic model."""

    def __init__(self, kind: Any, where: str) -> None:
        self.kind = kind
        try:
            schema = msgspec.json.schema(kind, schema_hook=_foreign_schema)
            build_decoder(kind)  # agents in several threads may share a tool
        except (TypeError, ValueError, NotImplementedError) as error:
            raise ConfigurationError(f"{where} has a type that JSON cannot carry: {_first_line(error)}.") from None
        self.schema = inline_references(schema)

    def convert(self, value: Any) -> Any:
        """Convert a JSON value to the type. Raises ValueError with the path of an invalid value."""
        try:
            return msgspec.convert(value, self.kind, dec_hook=_foreign_value)
        except msgspec.ValidationError as error:
            raise ValueError(_first_line(error)) from None


def inline_references(schema: JsonObject) -> JsonObject:
    """Inline all references except those of recursive types, because not every API resolves them."""
    definitions = as_object(schema.get("$defs"))
    recursive: JsonObject = {}
    written = _inline_node({k: v for k, v in schema.items() if k != "$defs"}, definitions, (), recursive)
    return as_object(written) | ({"$defs": recursive} if recursive else {})


def _inline_node(node: Any, definitions: JsonObject, inside: tuple[str, ...], recursive: JsonObject) -> Any:
    if isinstance(node, list):
        return [_inline_node(item, definitions, inside, recursive) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    mapping = cast(JsonObject, node)
    name = str(mapping.get("$ref", "")).removeprefix("#/$defs/")
    if name not in definitions:
        if "enum" in mapping and all(isinstance(value, str) for value in mapping["enum"]):
            mapping = {"type": "string", **mapping}
        return {key: _inline_node(value, definitions, inside, recursive) for key, value in mapping.items()}
    if name in inside:
        if name not in recursive:
            recursive[name] = None  # placeholder that ends the recursion
            recursive[name] = _inline_node(definitions[name], definitions, (name,), recursive)
        return mapping
    target = as_object(_inline_node(definitions[name], definitions, (*inside, name), recursive))
    return target | {key: value for key, value in mapping.items() if key != "$ref"}


_NULL = {"type": "null"}


def slim_schema(schema: JsonObject) -> JsonObject:
    """Return a schema of arguments without what a model need not read: titles, and null where it stands for absence.

    An optional member that is null is dropped when arguments are checked.
    """
    return as_object(_slim_node(schema))


def _slim_node(node: Any) -> Any:
    if isinstance(node, list):
        return [_slim_node(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    mapping: JsonObject = {
        key: value for key, value in cast(JsonObject, node).items() if key != "title" or isinstance(value, dict)
    }
    if "default" in mapping and mapping["default"] is None and isinstance(mapping.get("anyOf"), list):
        choices = [choice for choice in as_list(mapping["anyOf"]) if choice != _NULL]
        others = {key: value for key, value in mapping.items() if key not in ("anyOf", "default")}
        mapping = as_object(choices[0]) | others if len(choices) == 1 else others | {"anyOf": choices}
    return {key: value if key in ("default", "enum", "const") else _slim_node(value) for key, value in mapping.items()}


def _foreign_schema(kind: type) -> JsonObject:
    if _is_path(kind):
        return {"type": "string"}
    describe = getattr(kind, "model_json_schema", None)
    if describe is None:
        name = getattr(kind, "__name__", None) or str(kind)
        raise TypeError(f"{name}; use builtin types, a dataclass, TypedDict, enum, msgspec.Struct or pydantic model")
    return inline_references(describe())


def _foreign_value(kind: type, value: Any) -> Any:
    if _is_path(kind):
        if not isinstance(value, str):
            raise ValueError(f"Expected `str`, got `{type(value).__name__}`")
        return kind(value)
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise NotImplementedError
    try:
        return validate(value)
    except ValueError as error:
        raise ValueError(_first_line(error)) from None


def _is_path(kind: Any) -> bool:
    from pathlib import PurePath

    return isinstance(kind, type) and issubclass(kind, PurePath)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
