"""Rules for strings. They say nothing about anything else. Lengths are counted in code points."""

from typing import Any

from weft.core.json import JsonObject
from weft.schema.node import Path, Report, Rule, Run
from weft.schema.patterns import Pattern
from weft.schema.sizes import sizes
from weft.schema.wording import counted, shown


def lengths(schema: JsonObject) -> list[Rule]:
    return sizes(schema, "Length", str, _said)


def matching(pattern: Pattern) -> Rule:
    def test(value: Any, run: Run) -> bool:
        return not isinstance(value, str) or pattern.matches(value, run)

    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} does not match the pattern {shown(pattern.source)}")

    return Rule(test, explain)


def _said(text: str) -> str:
    return f"{shown(text)} has {counted(len(text), 'character', 'characters')}"
