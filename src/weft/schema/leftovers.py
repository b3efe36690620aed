"""The rules of unevaluatedProperties and unevaluatedItems: for what no other keyword of the schema has looked at."""

from collections.abc import Sequence
from typing import Any

from weft.schema.node import Marks, Node, Path, Report, Rule, Run
from weft.schema.values import ARRAY, OBJECT
from weft.schema.wording import shown


def unevaluated(kind: type, others: Sequence[Rule], node: Node, *, closed: bool) -> Rule:
    """`kind` is dict or list; `others` are the rules of the same schema; `closed`: nothing may be left."""

    def left(value: Any, run: Run) -> list[tuple[str | int, Any]]:
        marks = Marks()
        for rule in others:
            if rule.mark is not None:
                rule.mark(value, run, marks)
        members: Any = value.items() if isinstance(value, OBJECT) else enumerate(value)
        return [(key, item) for key, item in members if key not in marks.seen]

    def test(value: Any, run: Run) -> bool:
        if not isinstance(value, kind):
            return True
        for _, item in left(value, run):  # noqa: SIM110 - one frame, not two
            if not node.test(item, run):
                return False
        return True

    def explain(value: Any, path: Path, report: Report) -> None:
        if report.problems:
            return  # what is invalid has looked at nothing, so everything would be left
        for key, item in left(value, report.run):
            if report.full:
                return
            if node.test(item, report.run):
                continue
            if closed:
                report.add(path, f"{shown(key)} is not known here" if kind is dict else f"item {key} is one too many")
            else:
                node.explain(item, (*path, key), report)

    def mark(value: Any, _run: Run, marks: Marks) -> None:
        if isinstance(value, kind):
            marks.seen.update(value if isinstance(value, OBJECT) else range(len(value)))

    assert kind in (ARRAY, OBJECT)
    return Rule(test, explain, mark)
