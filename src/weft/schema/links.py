"""Rules of references: what is said elsewhere in the document holds here.

A reference asks its target late, so that a schema may hold itself.
"""

from collections.abc import Mapping
from typing import Any

from weft.schema.node import Marks, Node, Path, Report, Rule, Run


def link(target: Node) -> Rule:
    """The rule of $ref."""
    return Rule(target.entry, target.explain, target.mark)


def scoped_link(targets: Mapping[int, Node], otherwise: Node) -> Rule:
    """The rule of $dynamicRef: of the resources on the way here, the outermost that has the name says what holds."""

    def target(run: Run) -> Node:
        for resource in run.scope:
            node = targets.get(resource)
            if node is not None:
                return node
        return otherwise

    def test(value: Any, run: Run) -> bool:
        return target(run).entry(value, run)

    def explain(value: Any, path: Path, report: Report) -> None:
        target(report.run).explain(value, path, report)

    def mark(value: Any, run: Run, marks: Marks) -> None:
        target(run).mark(value, run, marks)

    return Rule(test, explain, mark)
