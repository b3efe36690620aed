"""Rules for how much there is of something: characters, items, properties. They say nothing about anything else."""

from collections.abc import Callable
from typing import Any

from weft.core.json import JsonObject
from weft.schema.node import Path, Report, Rule


def sizes(schema: JsonObject, of: str, kind: Any, said: Callable[[Any], str]) -> list[Rule]:
    """The rules of `min…` and `max…`; `said` tells the size of a value that is too small or too large."""
    rules: list[Rule] = []
    if f"min{of}" in schema:
        rules.append(_least(schema[f"min{of}"], kind, said))
    if f"max{of}" in schema:
        rules.append(_most(schema[f"max{of}"], kind, said))
    return rules


def _least(limit: int, kind: Any, said: Callable[[Any], str]) -> Rule:
    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{said(value)}, the least is {int(limit)}")

    return Rule(lambda value, _: not isinstance(value, kind) or len(value) >= limit, explain)


def _most(limit: int, kind: Any, said: Callable[[Any], str]) -> Rule:
    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{said(value)}, the most is {int(limit)}")

    return Rule(lambda value, _: not isinstance(value, kind) or len(value) <= limit, explain)
