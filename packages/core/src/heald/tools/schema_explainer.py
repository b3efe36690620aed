"""Converts the errors of jsonschema-rs to sentences for models: the problem, its path and the expected value.

If a value fits none of several options, the problems of the most similar option are described.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from heald.core.json import JsonObject, as_list, as_object
from heald.tools.quoted_values import MAX_LISTED, MAX_SHOWN, escape, quote, quote_list
from heald.tools.schema_keywords import TYPES, count_noun, describe_keyword, join_types, not_among
from heald.tools.schema_problem import Path, Problem

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MAX_COMPARED = 100
_MAX_EXPLAINED = 5
_MAX_HOPS = 20


def _closest(name: str, choices: Sequence[str]) -> str | None:
    from difflib import get_close_matches

    names = {candidate[:MAX_SHOWN].lower(): candidate for candidate in reversed(choices[:_MAX_COMPARED])}
    matches = get_close_matches(name[:MAX_SHOWN].lower(), names, 1)
    return names[matches[0]] if matches else None


class Explainer:
    """Converts the errors of one schema to problems. `find` returns the validator of the subschema at a path."""

    def __init__(self, schema: Any, find: Callable[[Path], Any]) -> None:
        self._schema = schema
        self._find = find

    def explain(self, errors: Iterable["ValidationError"], value: Any, limit: int) -> list[Problem]:
        """Return at most `limit` distinct problems."""
        problems: list[Problem] = []
        for error in errors:
            if len(problems) >= limit:
                break
            for problem in self._problems(error, value, limit - len(problems), first=not problems):
                if problem not in problems:
                    problems.append(problem)
        return problems[:limit]

    def _problems(self, error: "ValidationError", root: Any, limit: int, *, first: bool) -> list[Problem]:
        kind, path = error.kind, tuple(error.instance_path)
        value = _value_at(root, path)
        choices: tuple[Any, ...] = ()
        match type(kind).__name__:
            case "AnyOf" | "OneOfNotValid":
                return self._explain_options(error, root, limit)
            case "AdditionalProperties":
                messages = [self._unknown_property(name, value, error) for name in cast("Any", kind).unexpected[:limit]]
            case "UnevaluatedProperties" | "UnevaluatedItems":
                # an invalid subschema evaluates nothing, so these errors are reported only if there are no others
                return self._unevaluated(error, value, limit) if first else []
            case "Required" if error.schema_path[-1:] != ["required"]:
                messages = self._required_beside(value, error)
            case "AdditionalItems":
                extra = enumerate(value[cast("Any", kind).limit :], cast("Any", kind).limit)
                return [Problem((*path, at), f"{quote(item)} is not allowed here") for at, item in extra]
            case "FalseSchema" if error.schema_path[-1:] == ["additionalProperties"]:
                messages = [self._unknown_property(name, value, error) for name in list(value)[:limit]]
            case "UniqueItems":
                at = _first_repeated(value)
                return [Problem((*path, at), f"{quote(value[at])} is there already; each item may be there once")]
            case "Contains":
                messages = [self._miscounted(value, error)]
            case "PropertyNames":
                named = cast("Any", kind).error
                (reason,) = self.explain([named], named.instance, 1) or (Problem((), "it is not allowed"),)
                messages = [f"as the name of a property, {reason.message}"]
            case "Not":
                messages = [_ruled_out(value, cast("Any", kind).schema)]
            case "OneOfMultipleValid":
                context = cast("Any", kind).context
                fitting = [number for number, errors in enumerate(context, 1) if not errors]
                options = f"{quote(value)} fits the options {quote_list(fitting)} of {len(context)}"
                messages = [f"{options}, exactly one must fit"]
            case name:
                if name in ("Enum", "Constant"):
                    choices = tuple(getattr(kind, "options", None) or [getattr(kind, "expected_value", None)])
                messages = [describe_keyword(kind, value) or escape(error.message[:MAX_LISTED])]
        return [Problem(path, message, choices, value) for message in messages]

    def _schema_at(self, path: Sequence[str | int]) -> JsonObject:
        return as_object(_value_at(self._schema, path))

    def _unknown_property(self, name: str, value: JsonObject, error: "ValidationError") -> str:
        schema = self._schema_at(error.schema_path[:-1])
        properties = list(as_object(schema.get("properties")))
        meant = _closest(name, [property_name for property_name in properties if property_name not in value])
        if meant is not None:
            return f"{quote(name)} is not known here, perhaps you mean {quote(meant)}"
        if properties:
            return f"{quote(name)} is not known here, the properties are {quote_list(properties)}"
        return f"{quote(name)} is not known here" + ("" if schema.get("patternProperties") else ", no property is")

    def _unevaluated(self, error: "ValidationError", value: Any, limit: int) -> list[Problem]:
        path, unexpected = tuple(error.instance_path), cast("Any", error.kind).unexpected
        if not isinstance(value, dict):
            return [Problem(path, f"{escape(str(item)[:MAX_SHOWN])} is one item too many") for item in unexpected]
        validator = self._find(tuple(error.schema_path))
        problems: list[Problem] = []
        for name in unexpected[:limit]:
            member: Any = cast("JsonObject", value)[name]
            reasons = self.explain(validator.iter_errors(member), member, 1) if validator is not None else []
            if reasons and _value_at(self._schema, error.schema_path) is not False:
                problems.append(Problem((*path, name, *reasons[0].path), reasons[0].message))
            else:
                problems.append(Problem(path, f"{quote(name)} is not known here"))
        return problems

    def _required_beside(self, value: JsonObject, error: "ValidationError") -> list[str]:
        """Return a message for each member whose `dependentRequired` members are missing."""
        messages: list[str] = []
        for name, names in as_object(_value_at(self._schema, error.schema_path)).items():
            missing = [required for required in as_list(names) if required not in value] if name in value else []
            if missing:
                verb = "is" if len(missing) == 1 else "are"
                messages.append(f"{quote_list(missing)} {verb} required beside {quote(name)}")
        return messages or [describe_keyword(error.kind, value) or ""]

    def _miscounted(self, value: Sequence[Any], error: "ValidationError") -> str:
        *parent, keyword = error.schema_path
        schema = self._schema_at(parent)
        validator = self._find((*parent, "contains"))
        fitting = sum(validator.is_valid(item) for item in value) if validator is not None else 0
        if keyword == "maxContains":
            bound = f"the most is {int(schema.get('maxContains', 0))}"
        else:
            bound = f"the least is {int(schema.get('minContains', 1))}"
        return f"{count_noun(fitting, 'item is', 'items are')} of the kind it must contain, {bound}"

    def _explain_options(self, error: "ValidationError", root: Any, limit: int) -> list[Problem]:
        """Explain why no option of anyOf or oneOf fits: by values, by types, or by the errors of the nearest option."""
        path = tuple(error.instance_path)
        value = _value_at(root, path)
        context = cast("Any", error.kind).context
        options = [self._follow(option) for option in as_list(_value_at(self._schema, error.schema_path))]
        options += [{}] * (len(context) - len(options))
        near = [at for at, option in enumerate(options) if _is_of(value, _types(option))]
        if all(_choices(options[at]) is not None for at in near):
            choices = _unite(_choices(option) or () for option in options)
            others = {kind for option in options if _choices(option) is None for kind in _types(option) or ()}
            types = join_types(kind for kind in TYPES if kind in others) if others else ""
            if choices:
                message = not_among(value, choices) + (f" or {types}" if types else "")
            else:
                message = f"{quote(value)} is not {types}"
            return [Problem(path, message, choices, value)]
        if len(near) == 1:
            return self.explain(context[near[0]], root, limit)
        explanations = [self.explain(context[at], root, _MAX_EXPLAINED) for at in near]
        return _nearest(explanations) or [Problem(path, f"{quote(value)} fits none of the {len(options)} options")]

    def _follow(self, option: Any) -> JsonObject:
        """Resolve a schema that consists of a local reference only."""
        for _ in range(_MAX_HOPS):
            reference = str(as_object(option).get("$ref", ""))
            if len(as_object(option)) != 1 or not reference.startswith("#/"):
                break
            option = _value_at(
                self._schema, [part.replace("~1", "/").replace("~0", "~") for part in reference[2:].split("/")]
            )
        return as_object(option)


def _nearest(options: list[list[Problem]]) -> list[Problem]:
    """Return the problems of the most similar option: fewest value mismatches, then fewest problems.

    If each option requires a different value at the same path, return only that problem: the value is a discriminator.
    """
    for problem in options[0]:
        alike = [
            mismatch
            for problems in options
            for mismatch in problems
            if mismatch.choices and mismatch.path == problem.path
        ]
        if len(alike) == len(options):
            choices = _unite(mismatch.choices for mismatch in alike)
            return [Problem(problem.path, not_among(problem.value, choices), choices, problem.value)]
    best = min(options, key=lambda problems: (sum(bool(mismatch.choices) for mismatch in problems), len(problems)))
    note = f"(the nearest of {len(options)} options)"
    return [Problem(mismatch.path, f"{mismatch.message} {note}", mismatch.choices, mismatch.value) for mismatch in best]


def _types(schema: JsonObject) -> list[str] | None:
    kind = schema.get("type")
    return None if kind is None else [kind] if isinstance(kind, str) else as_list(kind)


def _choices(schema: JsonObject) -> tuple[Any, ...] | None:
    if "const" in schema:
        return (schema["const"],)
    return tuple(as_list(schema["enum"])) if "enum" in schema else None


def _is_of(value: Any, types: list[str] | None) -> bool:
    if types is None:
        return True
    match value:
        case bool():
            return "boolean" in types
        case int():
            return "integer" in types or "number" in types
        case float():
            return "number" in types or ("integer" in types and value.is_integer())
        case str():
            return "string" in types
        case None:
            return "null" in types
        case dict():
            return "object" in types
        case _:
            return "array" in types


def _ruled_out(value: Any, schema: Any) -> str:
    types = _types(as_object(schema))
    if types and _choices(as_object(schema)) is None:
        return f"{quote(value)} must not be {join_types(sorted(types))}"
    return f"{quote(value)} is what the schema rules out here"


def _unite(several: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple({_key(choice): choice for choices in several for choice in choices}.values())


def _key(value: Any) -> Any:
    """Return a hashable key that is equal for values that are equal in JSON."""
    match value:
        case bool():
            return (bool, value)
        case list():
            return (list, tuple([_key(item) for item in cast("list[Any]", value)]))
        case dict():
            return (dict, frozenset([(name, _key(item)) for name, item in cast("JsonObject", value).items()]))
        case _:
            return value


def _first_repeated(items: Sequence[Any]) -> int:
    seen: set[Any] = set()
    for at, item in enumerate(items):
        if (key := _key(item)) in seen:
            return at
        seen.add(key)
    return 0


def _value_at(value: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path, or None."""
    for part in path:
        try:
            value = value[int(part) if isinstance(value, list) else part]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
