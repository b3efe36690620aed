"""Rules for strings. They say nothing about anything else. Lengths are counted in code points."""

from typing import Any

from weft.core.json import JsonObject
from weft.schema.node import Path, Report, Rule, Run
from weft.schema.patterns import Pattern
from weft.schema.wording import counted, shown


def lengths(schema: JsonObject) -> list[Rule]:
    rules: list[Rule] = []
    if "minLength" in schema:
        rules.append(_shortest(schema["minLength"]))
    if "maxLength" in schema:
        rules.append(_longest(schema["maxLength"]))
    return rules


def _shortest(limit: int) -> Rule:
    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} has {_length(value)}, the least is {int(limit)}")

    return Rule(lambda value, _: not isinstance(value, str) or len(value) >= limit, explain)


def _longest(limit: int) -> Rule:
    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} has {_length(value)}, the most is {int(limit)}")

    return Rule(lambda value, _: not isinstance(value, str) or len(value) <= limit, explain)


def matching(pattern: Pattern) -> Rule:
    def test(value: Any, run: Run) -> bool:
        return not isinstance(value, str) or pattern.matches(value, run)

    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} does not match the pattern {shown(pattern.source)}")

    return Rule(test, explain)


def _length(text: str) -> str:
    return counted(len(text), "character", "characters")
