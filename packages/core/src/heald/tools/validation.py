"""Validates arguments against a tool's JSON Schema and repairs them where that loses no information."""

from typing import Any, cast

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_list, as_object, encode_text, loads
from heald.tools.json_schema import JsonSchema, compile_schema
from heald.tools.schema_fault import SchemaFault
from heald.tools.schema_problem import Problem

_MAX_PROBLEMS = 5
_MAX_MESSAGE = 300
_MAX_DEPTH = 100
_NO_VALUE = ("", "null", "None", "undefined")


class Validator:
    """Validates the arguments of one tool. `lazy` defers compiling the schema to the first check."""

    def __init__(self, name: str, schema: JsonObject, *, lazy: bool = False) -> None:
        self._name = name
        self._schema = schema
        self._compiled: JsonSchema | None = None
        if schema.get("type", "object") != "object":
            raise ConfigurationError(f"The schema of the tool {name!r} must be of type object.")
        if not lazy:
            self._compile()

    def _compile(self) -> JsonSchema:
        try:
            self._compiled = compile_schema(self._schema)
        except SchemaFault as error:
            raise ConfigurationError(f"The schema of the tool {self._name!r} is not a JSON Schema: {error}") from None
        self._compiled.report_unchecked(self._name)
        return self._compiled

    def check(self, arguments: JsonObject) -> tuple[JsonObject, str | None]:
        """Return the arguments, repaired if necessary, and the problems or None."""
        compiled = self._compiled or self._compile()
        if compiled.is_valid(arguments):
            return arguments, None
        repaired = as_object(repair(arguments, self._schema))
        problems = compiled.problems(repaired, _MAX_PROBLEMS + 1)
        if not problems:
            return repaired, None
        sentences = [_describe(problem) for problem in problems[:_MAX_PROBLEMS]]
        return arguments, "; ".join([*sentences, "and more"] if len(problems) > _MAX_PROBLEMS else sentences)


def _describe(problem: Problem) -> str:
    message = problem.message if len(problem.message) <= _MAX_MESSAGE else problem.message[:_MAX_MESSAGE] + "…"
    return f"{problem.where or 'arguments'}: {message}"


def repair(value: Any, schema: JsonObject) -> Any:
    """Return a value that fits a schema better, without loss of information."""
    return _repair(value, schema, schema, 0)


def _repair(value: Any, schema: JsonObject, root: JsonObject, depth: int) -> Any:
    """Convert values of the wrong type where that loses no information.

    Numbers and text, whole floats and integers, JSON inside a string, null for an optional member.
    """
    if depth > _MAX_DEPTH:
        return value
    reference = str(schema.get("$ref", ""))
    if reference.startswith("#/$defs/"):
        target = as_object(root.get("$defs")).get(reference.removeprefix("#/$defs/"))
        return _repair(value, as_object(target), root, depth + 1)
    kinds = _types(schema)
    value = _repair_scalar(value, kinds)
    if isinstance(value, dict) and "object" in kinds:
        properties = as_object(schema.get("properties"))
        required = as_list(schema.get("required"))
        members = cast(JsonObject, value)
        return {
            key: _repair(member, as_object(properties.get(key)), root, depth + 1)
            for key, member in members.items()
            if key in required or not _is_absent(member, _types(as_object(properties.get(key))))
        }
    if isinstance(value, list) and "array" in kinds:
        return [_repair(item, as_object(schema.get("items")), root, depth + 1) for item in cast("list[Any]", value)]
    return cast(Any, value)


def _is_absent(member: Any, kinds: set[str]) -> bool:
    """Whether an optional member stands for nothing: null, or the word for it where no text is expected."""
    if "null" in kinds:
        return False
    return member is None or (isinstance(member, str) and member in _NO_VALUE and bool(kinds) and "string" not in kinds)


def _types(schema: JsonObject) -> set[str]:
    kind = schema.get("type")
    kinds = {str(k) for k in as_list(kind)} if isinstance(kind, list) else {str(kind)} if kind else set[str]()
    for option in as_list(schema.get("anyOf")) + as_list(schema.get("oneOf")):
        kinds |= _types(as_object(option))
    if not kinds and "properties" in schema:
        return {"object"}
    return kinds


def _repair_scalar(value: Any, kinds: set[str]) -> Any:
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
    """Return the JSON value of a string if it has an allowed type, else the string."""
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
