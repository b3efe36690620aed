"""Rules that put schemas together: all of them, any, exactly one, none, and one if another.

Where several schemas would do and none does, the one that was most likely meant is explained.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.schema.node import Marks, Node, Path, Problem, Report, Rule, Run
from weft.schema.values import OBJECT, canonical, kind_of, not_among
from weft.schema.wording import KINDS, kinds_named, listed, shown

_MAX_EXPLAINED = 5


def all_of(nodes: Sequence[Node]) -> Rule:
    def test(value: Any, run: Run) -> bool:
        run.spend(len(nodes))
        for node in nodes:  # noqa: SIM110 - one frame, not two
            if not node.test(value, run):
                return False
        return True

    def explain(value: Any, path: Path, report: Report) -> None:
        for node in nodes:
            if not report.full and not node.test(value, report.run):
                node.explain(value, path, report)

    def mark(value: Any, run: Run, marks: Marks) -> None:
        for node in nodes:
            node.mark(value, run, marks)

    return Rule(test, explain, mark)


def any_of(nodes: Sequence[Node]) -> Rule:
    def test(value: Any, run: Run) -> bool:
        run.spend(len(nodes))
        for node in nodes:  # noqa: SIM110 - one frame, not two
            if node.test(value, run):
                return True
        return False

    def explain(value: Any, path: Path, report: Report) -> None:
        _explain_none(nodes, value, path, report)

    return Rule(test, explain, _mark_valid(nodes))


def one_of(nodes: Sequence[Node]) -> Rule:
    def test(value: Any, run: Run) -> bool:
        run.spend(len(nodes))
        found = False
        for node in nodes:
            if node.test(value, run):
                if found:
                    return False
                found = True
        return found

    def explain(value: Any, path: Path, report: Report) -> None:
        fitting = [at + 1 for at, node in enumerate(nodes) if node.test(value, report.run)]
        if not fitting:
            _explain_none(nodes, value, path, report)
            return
        report.add(path, f"{shown(value)} fits the options {listed(fitting)} of {len(nodes)}, exactly one must fit")

    return Rule(test, explain, _mark_valid(nodes))


def none_of(node: Node) -> Rule:
    """The rule of `not`."""

    def explain(value: Any, path: Path, report: Report) -> None:
        if node.choices is None and node.kinds is not None:
            report.add(path, f"{shown(value)} must not be {kinds_named(sorted(node.kinds))}")
        else:
            report.add(path, f"{shown(value)} is what the schema rules out here")

    return Rule(lambda value, run: not node.test(value, run), explain)


def conditional(condition: Node, then: Node | None, otherwise: Node | None) -> Rule:
    def chosen(value: Any, run: Run) -> Node | None:
        return then if condition.test(value, run) else otherwise

    def test(value: Any, run: Run) -> bool:
        node = chosen(value, run)
        return node is None or node.test(value, run)

    def explain(value: Any, path: Path, report: Report) -> None:
        node = chosen(value, report.run)
        if node is not None:
            node.explain(value, path, report)

    def mark(value: Any, run: Run, marks: Marks) -> None:
        if condition.test(value, run):
            condition.mark(value, run, marks)
        node = chosen(value, run)
        if node is not None:
            node.mark(value, run, marks)

    return Rule(test, explain, mark)


def dependent(nodes: Mapping[str, Node]) -> Rule:
    """The rule of dependentSchemas: who gives a member comes under a schema."""

    def test(value: Any, run: Run) -> bool:
        if isinstance(value, OBJECT):
            run.spend(len(nodes))
            for name, node in nodes.items():
                if name in value and not node.test(value, run):
                    return False
        return True

    def explain(value: Any, path: Path, report: Report) -> None:
        for name, node in nodes.items():
            if name in value and not report.full and not node.test(value, report.run):
                node.explain(value, path, report)

    def mark(value: Any, run: Run, marks: Marks) -> None:
        if isinstance(value, OBJECT):
            for name, node in nodes.items():
                if name in value:
                    node.mark(value, run, marks)

    return Rule(test, explain, mark)


def _mark_valid(nodes: Sequence[Node]) -> Any:
    def mark(value: Any, run: Run, marks: Marks) -> None:
        for node in nodes:
            if node.test(value, run):
                node.mark(value, run, marks)

    return mark


def _explain_none(nodes: Sequence[Node], value: Any, path: Path, report: Report) -> None:
    """Why none of the options fits: their values, their types, or what the nearest of them lacks."""
    nodes = [node.meant for node in nodes]
    near = [node for node in nodes if node.kinds is None or _is_of(value, node.kinds)]
    if all(node.choices is not None for node in near):
        report.add(path, *_named(nodes, value))
    elif len(near) == 1:
        near[0].explain(value, path, report)
    else:
        found = _nearest(near, value, path, report)
        report.problems += found[: report.limit - len(report.problems)]
        if not found:
            report.add(path, f"{shown(value)} fits none of the {len(nodes)} options")


def _named(nodes: Sequence[Node], value: Any) -> tuple[str, tuple[Any, ...]]:
    """The values and the types that would do."""
    choices = _united(node.choices or () for node in nodes)
    kinds = {kind for node in nodes if node.choices is None for kind in node.kinds or ()}
    types = kinds_named(kind for kind in KINDS if kind in kinds) if kinds else ""
    if not choices:
        return f"{shown(value)} is not {types}", ()
    return not_among(value, choices) + (f" or {types}" if types else ""), choices


def _is_of(value: Any, kinds: frozenset[str]) -> bool:
    kind = kind_of(value)
    return kind in kinds or (kind == "integer" and "number" in kinds)


def _nearest(nodes: Sequence[Node], value: Any, path: Path, report: Report) -> list[Problem]:
    """The problems of the option that was most likely meant: it names no other value, and has the fewest.

    Where each option names another value in the same place, that is what tells them apart, and all there is to say.
    """
    found: list[list[Problem]] = []
    for node in nodes:
        if report.options <= 0:
            return []
        aside = report.aside(_MAX_EXPLAINED)
        node.explain(value, path, aside)
        report.options = aside.options
        found.append(aside.problems)
    for problem in found[0]:
        alike = [each for problems in found for each in problems if each.choices and each.path == problem.path]
        if len(alike) == len(nodes):
            choices = _united(each.choices for each in alike)
            return [Problem(problem.path, not_among(_at(value, problem.path[len(path) :]), choices), choices)]
    best = min(found, key=lambda problems: (sum(bool(each.choices) for each in problems), len(problems)))
    return [Problem(each.path, f"{each.message} (the nearest of {len(nodes)} options)", each.choices) for each in best]


def _united(several: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple({canonical(each): each for choices in several for each in choices}.values())


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value
