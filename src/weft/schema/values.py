"""What a value is: its type, and the values it may equal. true is not 1, and 1.0 is 1."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from weft.core.json import JsonObject
from weft.schema.node import Path, Report, Rule, Run, Test
from weft.schema.wording import kinds_named, listed, shown

NUMERIC = (int, float)
ARRAY: Any = list
OBJECT: Any = dict
"""To ask for without narrowing: what is in them may be anything."""


def kind_of(value: Any) -> str:
    """The JSON type of a value. A whole number is an integer, however it is written."""
    match value:
        case str():
            return "string"
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case dict():
            return "object"
        case list():
            return "array"
        case _:
            return ""


def canonical(value: Any) -> Any:
    """A hashable stand-in: two values have the same one if JSON takes them for equal."""
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, list):
        return (list, tuple([canonical(item) for item in cast("list[Any]", value)]))
    if isinstance(value, dict):
        return (dict, frozenset([(name, canonical(item)) for name, item in cast(JsonObject, value).items()]))
    return value


def typed(kinds: Sequence[str], *, whole_floats: bool) -> Rule:
    tests = [_whole if kind == "integer" and whole_floats else _TYPES[kind] for kind in kinds]
    test = tests[0] if len(tests) == 1 else _any_of(tuple(tests))

    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} is not {kinds_named(kinds)}")

    return Rule(test, explain)


def one_of(values: Sequence[Any]) -> Rule:
    """The rule of `enum` and of `const`."""
    plain = all(isinstance(value, str) for value in values)
    test = _among_texts(frozenset(values)) if plain else _among(frozenset(canonical(value) for value in values))

    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, not_among(value, values), tuple(values))

    return Rule(test, explain)


def not_among(value: Any, values: Sequence[Any]) -> str:
    if len(values) == 1:
        return f"{shown(value)} is not {shown(values[0])}"
    return f"{shown(value)} is not one of {listed(values)}"


def refused() -> Rule:
    """The rule of the schema `false`."""

    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} is not allowed here")

    return Rule(lambda _value, _: False, explain)


def _whole(value: Any, _run: Run) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, float) and value.is_integer()


def _integer(value: Any, _run: Run) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any, _run: Run) -> bool:
    return isinstance(value, NUMERIC) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any, Run], bool]] = {
    "string": lambda value, _: isinstance(value, str),
    "integer": _integer,
    "number": _number,
    "boolean": lambda value, _: isinstance(value, bool),
    "null": lambda value, _: value is None,
    "array": lambda value, _: isinstance(value, list),
    "object": lambda value, _: isinstance(value, dict),
}


def _any_of(tests: tuple[Test, ...]) -> Test:
    def any_of(value: Any, run: Run) -> bool:
        for test in tests:  # noqa: SIM110 - one frame, not two
            if test(value, run):
                return True
        return False

    return any_of


def _among_texts(texts: frozenset[str]) -> Test:
    return lambda value, _: isinstance(value, str) and value in texts


def _among(known: frozenset[Any]) -> Test:
    return lambda value, _: canonical(value) in known
