"""Rules for objects. They say nothing about anything else."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.core.json import JsonObject
from weft.schema.node import MAX_STEPS, Marks, Node, Path, Report, Rule, Run, TooMuch
from weft.schema.patterns import Pattern
from weft.schema.sizes import sizes
from weft.schema.values import OBJECT
from weft.schema.wording import counted, listed, nearest, shown


class Members:
    """The rule of properties, patternProperties and additionalProperties, which belong together."""

    def __init__(
        self, named: Mapping[str, Node], patterns: Sequence[tuple[Pattern, Node]], others: Node | None, closed: bool
    ) -> None:
        self._named = named
        self._tests = {name: node.test for name, node in named.items()}
        self._patterns = patterns
        self._others = others
        self._closed = closed
        """No other member may be there."""

    def rule(self) -> Rule:
        return Rule(self._test_patterns if self._patterns else self._test_named(), self._explain, self._mark)

    def _test_named(self) -> Any:
        tests, closed = self._tests, self._closed
        others = self._others.test if self._others is not None and not closed else None

        def test(value: Any, run: Run) -> bool:
            if not isinstance(value, OBJECT):
                return True
            run.steps += len(value)
            if run.steps > MAX_STEPS:
                raise TooMuch
            for name, item in value.items():
                known = tests.get(name)
                if known is not None:
                    if not known(item, run):
                        return False
                elif closed or (others is not None and not others(item, run)):
                    return False
            return True

        return test

    def _test_patterns(self, value: Any, run: Run) -> bool:
        if not isinstance(value, OBJECT):
            return True
        for name, item in value.items():
            for node in self._nodes(name, run):
                if not node.test(item, run):
                    return False
        return True

    def _nodes(self, name: str, run: Run) -> list[Node]:
        """The schemas that a member is under."""
        found = [node for pattern, node in self._patterns if pattern.matches(name, run)]
        if name in self._named:
            found.append(self._named[name])
        if not found and self._others is not None:
            found.append(self._others)
        return found

    def _explain(self, value: Any, path: Path, report: Report) -> None:
        for name, item in value.items():
            for node in self._nodes(name, report.run):
                if report.full:
                    return
                if node.test(item, report.run):
                    continue
                if self._closed and node is self._others:
                    report.add(path, self._unknown(name, value))
                else:
                    node.explain(item, (*path, name), report)

    def _unknown(self, name: str, value: JsonObject) -> str:
        known = [each for each in self._named if each not in value]
        meant = nearest(name, known)
        if meant is not None:
            return f"{shown(name)} is not known here, perhaps you mean {shown(meant)}"
        if not self._named:
            return f"{shown(name)} is not known here" + ("" if self._patterns else ", no property is")
        return f"{shown(name)} is not known here, the properties are {listed(self._named)}"

    def _mark(self, value: Any, run: Run, marks: Marks) -> None:
        if isinstance(value, OBJECT):
            everything = self._others is not None
            marks.seen.update(value if everything else [name for name in value if self._nodes(name, run)])


def required(names: Sequence[str]) -> Rule:
    needed = tuple(names)

    def test(value: Any, _run: Run) -> bool:
        if isinstance(value, OBJECT):
            for name in needed:
                if name not in value:
                    return False
        return True

    def explain(value: Any, path: Path, report: Report) -> None:
        for name in needed:
            if name not in value and not report.full:
                report.add(path, f"{shown(name)} is required")

    return Rule(test, explain)


def needing(wanted: Mapping[str, Sequence[str]]) -> Rule:
    """The rule of dependentRequired: who gives one member gives others too."""

    def test(value: Any, run: Run) -> bool:
        if isinstance(value, OBJECT):
            run.spend(len(wanted))
            for name, names in wanted.items():
                if name in value and any(each not in value for each in names):
                    return False
        return True

    def explain(value: Any, path: Path, report: Report) -> None:
        for name, names in wanted.items():
            missing = [each for each in names if each not in value] if name in value else []
            if missing and not report.full:
                verb = "is" if len(missing) == 1 else "are"
                report.add(path, f"{listed(missing)} {verb} required beside {shown(name)}")

    return Rule(test, explain)


def naming(node: Node) -> Rule:
    """The rule of propertyNames."""

    def test(value: Any, run: Run) -> bool:
        if isinstance(value, OBJECT):
            run.spend(len(value))
            for name in value:
                if not node.test(name, run):
                    return False
        return True

    def explain(value: Any, path: Path, report: Report) -> None:
        for name in value:
            if not node.test(name, report.run) and not report.full:
                aside = report.aside(1)
                node.explain(name, (), aside)
                reasons = [problem.message for problem in aside.problems] or [f"{shown(name)} is not allowed"]
                report.add(path, f"as the name of a property, {reasons[0]}")

    return Rule(test, explain)


def counts(schema: JsonObject) -> list[Rule]:
    return sizes(schema, "Properties", OBJECT, lambda value: counted(len(value), "property", "properties"))
