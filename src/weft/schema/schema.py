"""A JSON Schema that values can be checked against."""

from enum import Enum
from typing import Any, cast

from weft.core.json import JsonObject
from weft.schema.compiling import Compiler
from weft.schema.faults import SchemaFault
from weft.schema.node import Problem, Report, Run, TooMuch
from weft.schema.references import Document

_TOO_DEEP = "nested too deeply to be checked against the schema; make it flatter"
_TOO_MUCH = "too much to be checked against the schema; make it smaller"


class Schema:
    """One schema, compiled once. SchemaFault if it is none, or leads out of its document."""

    def __init__(self, schema: Any) -> None:
        try:
            self._root = Compiler(Document(_plain(schema))).compile()
        except RecursionError:
            raise SchemaFault((), "the schema is nested too deeply; make it flatter.") from None
        self._test = self._root.entry if self._root.refers else self._root.plain

    def is_valid(self, value: Any) -> bool:
        """What cannot be checked for its size or depth is not valid."""
        try:
            return self._test(value, Run())
        except (RecursionError, TooMuch):
            return False

    def problems(self, value: Any, limit: int = 10) -> list[Problem]:
        """What is wrong with a value, the first few of it; nothing if it is valid."""
        report = Report(Run(), limit)
        try:
            if self._test(value, Run()):
                return []
            self._root.explain(value, (), report)
        except RecursionError:
            return report.problems or [Problem((), _TOO_DEEP)]
        except TooMuch:
            return report.problems or [Problem((), _TOO_MUCH)]
        return report.problems or [Problem((), "the value does not fit the schema")]


def _plain(value: Any) -> Any:
    """A copy in plain values, as it would be written to JSON: tuples are lists, members of enums are their values."""
    match value:
        case Enum():
            return _plain(value.value)
        case dict() if all(isinstance(name, str) for name in cast("dict[Any, Any]", value)):
            return {name: _plain(item) for name, item in cast(JsonObject, value).items()}
        case list() | tuple():
            return [_plain(item) for item in cast("list[Any]", value)]
        case str() | int() | float() | None:
            return value
        case _:
            raise SchemaFault((), "the schema holds something that is no JSON; use what JSON has.")
