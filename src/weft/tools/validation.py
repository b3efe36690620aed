"""Arguments against a tool's JSON Schema: valid, made valid without loss, or refused with path and reason."""

from typing import Any, cast

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, as_list, as_object, encode_text, loads
from weft.schema import Problem, Schema, SchemaFault

_MAX_PROBLEMS = 5
_MAX_MESSAGE = 300
_MAX_DEPTH = 100


class Validator:
    """Checks the arguments of one tool."""

    def __init__(self, name: str, schema: JsonObject) -> None:
        self._schema = schema
        if schema.get("type", "object") != "object":
            raise ConfigurationError(f"The schema of the tool {name!r} must be of type object.")
        try:
            self._compiled = Schema(schema)
        except SchemaFault as error:
            raise ConfigurationError(f"The schema of the tool {name!r} is not a JSON Schema: {error}") from None
        self._is_valid = self._compiled.is_valid

    def check(self, arguments: JsonObject) -> tuple[JsonObject, str | None]:
        """The arguments as they may be used, and what is wrong with them."""
        if self._is_valid(arguments):
            return arguments, None
        mended = as_object(_mend(arguments, self._schema, self._schema, 0))
        if self._is_valid(mended):
            return mended, None
        return arguments, "; ".join(self._problems(mended))

    def _problems(self, arguments: JsonObject) -> list[str]:
        problems = self._compiled.problems(arguments, _MAX_PROBLEMS + 1)
        found = [_in_words(problem) for problem in problems[:_MAX_PROBLEMS]]
        return [*found, "and more"] if len(problems) > _MAX_PROBLEMS else found


def _in_words(problem: Problem) -> str:
    message = problem.message if len(problem.message) <= _MAX_MESSAGE else problem.message[:_MAX_MESSAGE] + "…"
    return f"{problem.where or 'arguments'}: {message}"


def _mend(value: Any, schema: JsonObject, root: JsonObject, depth: int) -> Any:
    """The value with what is plainly meant in place of what was written, where nothing is lost by it.

    A number as text, text as a number, a whole float, JSON inside a string, null for what may be left out.
    """
    if depth > _MAX_DEPTH:
        return value
    reference = str(schema.get("$ref", ""))
    if reference.startswith("#/$defs/"):
        target = as_object(root.get("$defs")).get(reference.removeprefix("#/$defs/"))
        return _mend(value, as_object(target), root, depth + 1)
    kinds = _types(schema)
    value = _mend_scalar(value, kinds)
    if isinstance(value, dict) and "object" in kinds:
        properties = as_object(schema.get("properties"))
        required = as_list(schema.get("required"))
        members = cast(JsonObject, value)
        return {
            key: _mend(member, as_object(properties.get(key)), root, depth + 1)
            for key, member in members.items()
            if not (member is None and key not in required and "null" not in _types(as_object(properties.get(key))))
        }
    if isinstance(value, list) and "array" in kinds:
        return [_mend(item, as_object(schema.get("items")), root, depth + 1) for item in cast("list[Any]", value)]
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
