"""Arguments against a tool's JSON Schema: valid, made valid without loss, or refused with path and reason."""

from typing import Any, cast

import jsonschema_rs

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, as_list, as_object, encode_text, loads

_MAX_PROBLEMS = 5
_MAX_VALUE = 80


class Validator:
    """Checks the arguments of one tool."""

    def __init__(self, name: str, schema: JsonObject) -> None:
        self._schema = schema
        if schema.get("type", "object") != "object":
            raise ConfigurationError(f"The schema of the tool {name!r} must be of type object.")
        try:
            self._validator = jsonschema_rs.validator_for(schema, offline=True)
        except (ValueError, TypeError) as error:
            reason = str(error).strip().splitlines()[0]
            raise ConfigurationError(f"The schema of the tool {name!r} is not a JSON Schema: {reason}.") from None
        self._is_valid = self._validator.is_valid

    def check(self, arguments: JsonObject) -> tuple[JsonObject, str | None]:
        """The arguments as they may be used, and what is wrong with them."""
        if self._is_valid(arguments):
            return arguments, None
        mended = as_object(_mend(arguments, self._schema, self._schema))
        if self._is_valid(mended):
            return mended, None
        return arguments, "; ".join(self._problems(mended))

    def _problems(self, arguments: JsonObject) -> list[str]:
        found: list[str] = []
        for error in self._validator.iter_errors(arguments):
            if len(found) == _MAX_PROBLEMS:
                found.append("and more")
                break
            path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
            message = error.message if len(error.message) <= 300 else error.message[:300] + "…"
            found.append(f"{path.removeprefix('.') or 'arguments'}: {message}")
        return found


def _mend(value: Any, schema: JsonObject, root: JsonObject) -> Any:
    """The value with what is plainly meant in place of what was written, where nothing is lost by it.

    A number as text, text as a number, a whole float, JSON inside a string, null for what may be left out.
    """
    reference = str(schema.get("$ref", ""))
    if reference.startswith("#/$defs/"):
        return _mend(value, as_object(as_object(root.get("$defs")).get(reference.removeprefix("#/$defs/"))), root)
    kinds = _types(schema)
    value = _mend_scalar(value, kinds)
    if isinstance(value, dict) and "object" in kinds:
        properties = as_object(schema.get("properties"))
        required = as_list(schema.get("required"))
        members = cast(JsonObject, value)
        return {
            key: _mend(member, as_object(properties.get(key)), root)
            for key, member in members.items()
            if not (member is None and key not in required and "null" not in _types(as_object(properties.get(key))))
        }
    if isinstance(value, list) and "array" in kinds:
        return [_mend(item, as_object(schema.get("items")), root) for item in cast("list[Any]", value)]
    return cast(Any, value)


def _types(schema: JsonObject) -> set[str]:
    kind = schema.get("type")
    kinds = {str(k) for k in as_list(kind)} if isinstance(kind, list) else {str(kind)} if kind else set[str]()
    for option in as_list(schema.get("anyOf")) + as_list(schema.get("oneOf")):
        kinds |= _types(as_object(option))
    if not kinds and "properties" in schema:
        return {"object"}
    return kinds


def _mend_scalar(value: Any, kinds: set[str]) -> Any:
    if isinstance(value, str) and "string" not in kinds:
        return _from_text(value, kinds)
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and "integer" in kinds and "number" not in kinds and value.is_integer():
        return int(value)
    if isinstance(value, int | float) and kinds == {"string"}:
        return encode_text(value)
    return value


def _from_text(text: str, kinds: set[str]) -> Any:
    """What a string holds, if it is JSON of a kind that is wanted and reads back as the same text."""
    try:
        value = loads(text)
    except ValueError:
        return text
    match value:
        case bool():
            fits = "boolean" in kinds
        case int():
            fits = bool(kinds & {"integer", "number"}) and str(value) == text.strip()
        case float():
            fits = "number" in kinds
        case dict():
            fits = "object" in kinds
        case list():
            fits = "array" in kinds
        case None:
            fits = "null" in kinds
        case _:
            fits = False
    return cast(Any, value) if fits else text
