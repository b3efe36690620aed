"""Rules for arrays. They say nothing about anything else."""

from collections.abc import Sequence
from typing import Any

from weft.core.json import JsonObject
from weft.schema.node import Marks, Node, Path, Report, Rule, Run
from weft.schema.sizes import sizes
from weft.schema.values import ARRAY, canonical
from weft.schema.wording import counted, shown


def elements(prefix: Sequence[Node], rest: Node | None) -> Rule:
    """The first items each under a schema of its own, the others under one. `rest` is None if anything may follow."""

    def test(value: Any, run: Run) -> bool:
        if not isinstance(value, ARRAY):
            return True
        run.spend(len(value))
        for node, item in zip(prefix, value, strict=False):
            if not node.test(item, run):
                return False
        if rest is not None:
            each = rest.test
            for item in value[fixed:] if fixed else value:
                if not each(item, run):
                    return False
        return True

    def explain(value: Any, path: Path, report: Report) -> None:
        for at, item in enumerate(value):
            node = prefix[at] if at < fixed else rest
            if node is None or report.full:
                return
            if not node.test(item, report.run):
                node.explain(item, (*path, at), report)

    def mark(value: Any, _run: Run, marks: Marks) -> None:
        if isinstance(value, ARRAY):
            count = len(value)
            marks.seen.update(range(count if rest is not None else min(fixed, count)))

    fixed = len(prefix)
    return Rule(test, explain, mark)


def containing(node: Node, schema: JsonObject, *, marks_found: bool, counts: bool) -> Rule:
    """`counts`: minContains and maxContains are known."""
    least: int = schema.get("minContains", 1) if counts else 1
    most: int | None = schema.get("maxContains") if counts else None

    def test(value: Any, run: Run) -> bool:
        if not isinstance(value, ARRAY):
            return True
        run.spend(len(value))
        found, each = 0, node.test
        for item in value:
            if each(item, run):
                found += 1
                if most is None and found >= least:
                    return True
                if most is not None and found > most:
                    return False
        return found >= least

    def explain(value: Any, path: Path, report: Report) -> None:
        found = sum(node.test(item, report.run) for item in value)
        bound = f"the least is {int(least)}" if most is None or found < least else f"the most is {int(most)}"
        report.add(path, f"{counted(found, 'item is', 'items are')} of the kind it must contain, {bound}")

    def mark(value: Any, run: Run, marks: Marks) -> None:
        if isinstance(value, ARRAY):
            marks.seen.update(at for at, item in enumerate(value) if node.test(item, run))

    return Rule(test, explain, mark if marks_found else None)


def counts(schema: JsonObject) -> list[Rule]:
    rules = sizes(schema, "Items", ARRAY, lambda value: counted(len(value), "item", "items"))
    return [*rules, Rule(_unique, _explain_twice)] if schema.get("uniqueItems") else rules


def _unique(value: Any, _run: Run) -> bool:
    if not isinstance(value, ARRAY):
        return True
    return len({canonical(item) for item in value}) == len(value)


def _explain_twice(value: Any, path: Path, report: Report) -> None:
    seen: set[Any] = set()
    for at, item in enumerate(value):
        if canonical(item) in seen:
            report.add((*path, at), f"{shown(item)} is there already; each item may be there once")
            return
        seen.add(canonical(item))
