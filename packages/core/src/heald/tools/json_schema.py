"""Compiles JSON Schemas with jsonschema-rs. References are not fetched, patterns run in linear time, work is bounded.

Schemas and values are untrusted, and neither compiling nor checking can be interrupted. Both are therefore measured
first: a schema that is too large, too deep or too recursive is rejected, and so is a value whose check would take too
long. A pattern that the linear engine cannot run is reported in `unchecked`. `find_schema_problem` judges the schemas
of tools that others define: MCP servers and clients.
"""

import logging
import threading
from collections import OrderedDict
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from heald.core.digest import sha256
from heald.core.json import JsonObject, as_list, as_object, depth_of, encode
from heald.tools.quoted_values import quote
from heald.tools.schema_explainer import Explainer
from heald.tools.schema_fault import SchemaFault
from heald.tools.schema_keywords import TYPES, describe_keyword
from heald.tools.schema_patterns import pattern_options
from heald.tools.schema_problem import Path, Problem
from heald.tools.schema_survey import MAX_WORK, SchemaSurvey
from heald.tools.value_size import MAX_VALUE_DEPTH, measure_value

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator, ValidatorMap


MAX_EXPLAINED = 100_000
"""Maximum steps of a check that collects all errors. Beyond that, only the first error is reported."""
_CACHED = 2_000
_TOO_DEEP = "nested too deeply to be checked against the schema; make it flatter"
_TOO_MUCH = "too much to be checked against the schema; make it smaller"
MAX_SCHEMA = 64 * 1024
"""Maximum bytes of a schema as JSON."""
_MAX_DEPTH = 60
_MAX_FAULT = 200
_SCALARS = frozenset({str, int, float, bool, type(None)})


class JsonSchema:
    """A compiled schema. Raises SchemaFault if the schema is invalid or exceeds the budget."""

    def __init__(self, schema: Any) -> None:
        try:
            self._schema = _copy(schema)
            self._survey = SchemaSurvey(self._schema)
            self._validator = _compile(self._schema)
        except RecursionError:
            raise SchemaFault((), "the schema is nested too deeply; make it flatter.") from None
        self.unchecked = tuple(self._survey.unchecked)
        """One sentence for each pattern that is not checked."""
        self._reported = False

    def report_unchecked(self, tool: str) -> None:
        """Log the patterns that are not checked, once."""
        if self.unchecked and not self._reported:
            self._reported = True
            logging.getLogger("heald").warning("In the schema of the tool %s: %s", tool, " ".join(self.unchecked))

    def is_valid(self, value: Any) -> bool:
        """Return whether the value is valid. A value that is too deep or too large to check is not."""
        if self._refusal(value) is not None:
            return False
        try:
            return self._validator.is_valid(value)
        except UnicodeEncodeError:
            return self._validator.is_valid(_without_surrogates(value))

    def problems(self, value: Any, limit: int = 10) -> list[Problem]:
        """Return at most `limit` problems; none if the value is valid."""
        refusal = self._refusal(value)
        if refusal is not None:
            return [Problem((), refusal)]
        if self._validator.is_valid(_without_surrogates(value)):
            return []
        explained = Explainer(self._schema, self._subschema).explain(self._errors(value), value, limit)
        return explained or [Problem((), "the value does not fit the schema")]

    def _errors(self, value: Any) -> "list[ValidationError]":
        """Return all errors of a value, or only the first one if the value is large."""
        from jsonschema_rs import ValidationError

        value = _without_surrogates(value)
        survey = self._survey
        work = survey.work(value) if survey.recursive else measure_value(value)[0] * survey.size
        if work <= MAX_EXPLAINED:
            return list(self._validator.iter_errors(value))
        if not survey.recursive:
            try:
                self._validator.validate(value)
            except ValidationError as error:
                return [error]
        return []

    def _refusal(self, value: Any) -> str | None:
        """Return why a value is not checked, or None."""
        survey = self._survey
        if type(value) is dict and not survey.pattern_weight:  # most arguments are flat, which is quick to see
            members: JsonObject = value  # pyright: ignore[reportUnknownVariableType]
            if (len(members) + 1) * survey.size <= MAX_WORK and _SCALARS.issuperset(map(type, members.values())):
                return None
        nodes, characters, depth = measure_value(value)
        if depth > MAX_VALUE_DEPTH:
            return _TOO_DEEP
        work = nodes * survey.size + characters * survey.pattern_weight
        return None if work <= MAX_WORK or survey.work(value) <= MAX_WORK else _TOO_MUCH

    @cached_property
    def _subschemas(self) -> "ValidatorMap":
        """The validators of all subschemas by JSON Pointer. They are compiled for the first value that needs them."""
        from jsonschema_rs import validator_map_for

        options = pattern_options()
        return validator_map_for(self._schema, pattern_options=options, validate_formats=False, offline=True)

    def _subschema(self, path: Path) -> "Validator | None":
        pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
        return self._subschemas.get(f"#{pointer}")


_cache: OrderedDict[bytes, JsonSchema] = OrderedDict()
_cache_lock = threading.Lock()


def compile_schema(schema: Any) -> JsonSchema:
    """Return the compiled schema, cached by content. Thread-safe."""
    try:
        digest = sha256(encode(schema)).digest()
    except (TypeError, ValueError, RecursionError):
        return JsonSchema(schema)
    with _cache_lock:
        cached = _cache.get(digest)
        if cached is not None:
            _cache.move_to_end(digest)
            return cached
    compiled = JsonSchema(schema)
    with _cache_lock:
        _cache[digest] = compiled
        if len(_cache) > _CACHED:
            _cache.popitem(last=False)
    return compiled


def _compile(schema: Any) -> "Validator":
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(
            schema, pattern_options=pattern_options(), validate_formats=False, offline=True
        )
    except jsonschema_rs.ValidationError as error:
        raise _fault(error) from None
    except ValueError as error:
        reason = "nested too deeply" if "Recursion" in str(error) else "not valid JSON"
        raise SchemaFault((), f"the schema is {reason}; make it simpler.") from None


def _fault(error: "ValidationError") -> SchemaFault:
    """Convert an error of the metaschema."""
    path, kind, value = tuple(error.instance_path), error.kind, error.instance
    name = type(kind).__name__
    if "type" in path[-2:]:
        return SchemaFault(path, f"{quote(value)} is not a JSON type; the types are {', '.join(TYPES)}.")
    if name == "AnyOf" or (name == "Type" and "object" in cast(Any, kind).types and len(cast(Any, kind).types) > 1):
        return SchemaFault(path, f"{quote(value)} is not a schema; give an object.")
    if name == "UniqueItems":
        return SchemaFault(path, "holds a value twice.")
    reason = describe_keyword(kind, value) or quote(error.message.partition("\n")[0])
    return SchemaFault(path, f"{reason}.")


def _copy(value: Any) -> Any:
    """Copy to plain JSON values: tuples become lists, enum members their values."""
    match value:
        case Enum():
            return _copy(value.value)
        case dict() if all(isinstance(name, str) for name in cast("dict[Any, Any]", value)):
            return {name: _copy(item) for name, item in cast(JsonObject, value).items()}
        case list() | tuple():
            return [_copy(item) for item in cast("list[Any]", value)]
        case str() | int() | float() | None:
            return value
        case _:
            raise SchemaFault((), "the schema holds a value that JSON does not have; use what JSON has.")


def _without_surrogates(value: Any) -> Any:
    """Replace lone surrogates by U+FFFD, because jsonschema-rs does not accept them."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            members = cast(JsonObject, value).items()
            return {_without_surrogates(name): _without_surrogates(item) for name, item in members}
        case list():
            return [_without_surrogates(item) for item in cast("list[Any]", value)]
        case _:
            return value


def find_schema_problem(schema: Any) -> str:
    """Return why a schema cannot be used, as the end of a sentence about its tool; empty if it can be."""
    if as_object(schema).get("type") != "object":
        return "has an input schema that is not of type object"
    if depth_of(schema) > _MAX_DEPTH or len(encode(schema)) > MAX_SCHEMA:
        return "has an input schema that is too large"
    if _refers_outside(schema):
        return "has an input schema that refers to another document"
    try:
        compile_schema(schema)
    except SchemaFault as fault:
        text = " ".join(str(fault).rstrip(".").split())
        return f"has an input schema that is not valid ({text if len(text) <= _MAX_FAULT else text[:_MAX_FAULT] + '…'})"
    return ""


def _refers_outside(schema: Any) -> bool:
    pending = [schema]
    while pending:
        item = pending.pop()
        for key, value in as_object(item).items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(value, str) and value[:1] != "#":
                return True
        pending += [*as_object(item).values(), *as_list(item)]
    return False
