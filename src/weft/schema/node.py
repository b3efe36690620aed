"""What a schema becomes: nodes of rules, and what goes along while a value is checked.

A rule tests a value, and explains why a value failed. A node is one schema: the rules of its keywords. A test never
collects anything, so that the usual case, a valid value, is quick; only a failure is gone through again for words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.schema.wording import placed

Path = tuple[str | int, ...]

MAX_STEPS = 2_000_000
_MAX_OPTIONS = 200
_MAX_HOPS = 20
_UNKNOWN: Any = object()


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where in the value."""

    path: Path
    message: str
    choices: tuple[Any, ...] = ()
    """The values that would do, where the schema names them."""

    @property
    def where(self) -> str:
        """The path in words, as `steps[0].path`; empty for the whole value."""
        return placed(self.path)


class TooMuch(Exception):
    """The check would take too long."""


class Run:
    """One check of one value: what was found out about its parts, and through which resources the way went."""

    __slots__ = ("circles", "known", "scope", "steps")

    def __init__(self) -> None:
        self.known: dict[tuple[int, int, tuple[int, ...]], bool | None] = {}
        """The answer by node, value and scope; None while it is being looked for."""
        self.scope: tuple[int, ...] = ()
        self.circles = 0
        self.steps = 0

    def spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise TooMuch


class Marks:
    """Which members or items of one value some keyword has looked at."""

    __slots__ = ("seen", "visited")

    def __init__(self) -> None:
        self.seen: set[str | int] = set()
        self.visited: set[tuple[int, tuple[int, ...]]] = set()


class Report:
    """The problems found so far."""

    __slots__ = ("_visited", "limit", "options", "problems", "run")

    def __init__(self, run: Run, limit: int) -> None:
        self.run = run
        self.limit = limit
        self.problems: list[Problem] = []
        self._visited: set[tuple[int, Path, tuple[int, ...]]] = set()
        self.options = _MAX_OPTIONS
        """How many more options may be gone through in search of the nearest."""

    @property
    def full(self) -> bool:
        return len(self.problems) >= self.limit

    def add(self, path: Path, message: str, choices: tuple[Any, ...] = ()) -> None:
        if all(known.path != path or known.message != message for known in self.problems):
            self.problems.append(Problem(path, message, choices))

    def visit(self, index: int, path: Path) -> bool:
        """Whether a node has not yet been asked about the value there."""
        self.run.spend(1)
        key = (index, path, self.run.scope)
        if key in self._visited:
            return False
        self._visited.add(key)
        return True

    def aside(self, limit: int) -> "Report":
        """A report of its own, about one of several options."""
        self.options -= 1
        report = Report(self.run, limit)
        report.options = self.options
        return report


Test = Callable[[Any, Run], bool]
Explain = Callable[[Any, Path, Report], None]
Mark = Callable[[Any, Run, Marks], None]


@dataclass(frozen=True, slots=True)
class Rule:
    test: Test
    explain: Explain
    mark: Mark | None = None
    """Notes the members or items of a value that is valid under this rule."""


class Node:
    """One schema, ready to be used. A node may be referred to before its rules are known."""

    __slots__ = (
        "_rules",
        "_scope",
        "choices",
        "entry",
        "index",
        "kinds",
        "plain",
        "ready",
        "refers",
        "same_as",
        "test",
    )

    def __init__(self, index: int) -> None:
        self.index = index
        self.ready = False
        self.plain: Test = anything
        """The test, without a memory."""
        self.test: Test = anything
        """The test, as the schema around this one calls it."""
        self.entry = _entry(self)
        """The test, as references call it."""
        self.refers = False
        """Something in it is a reference, so that the way here may be one of very many."""
        self.kinds: frozenset[str] | None = None
        """The types that are allowed, where the schema names them."""
        self.choices: tuple[Any, ...] | None = None
        """The values that are allowed, where the schema names them."""
        self.same_as: Node | None = None
        """The node that this one refers to, where it says nothing else."""
        self._rules: Sequence[Rule] = ()
        self._scope: int | None = None

    def fill(self, rules: Sequence[Rule], *, remember: bool, refers: bool, scope: int | None) -> None:
        """`remember`: ask at most once about a value. `scope`: the resource it lies in, where that matters."""
        self._rules, self._scope, self.ready = rules, scope, True
        test = _all_of([rule.test for rule in rules])
        self.plain = test if scope is None else _within(scope, test)
        self.refers = refers or remember
        self.test = self.entry if remember and rules else self.plain

    @property
    def meant(self) -> "Node":
        """The node at the end of mere references."""
        node = self
        for _ in range(_MAX_HOPS):
            if node.same_as is None:
                break
            node = node.same_as
        return node

    def explain(self, value: Any, path: Path, report: Report) -> None:
        if not report.visit(self.index, path):
            return
        run = report.run
        before = run.scope
        if self._scope is not None and self._scope not in before:
            run.scope = (*before, self._scope)
        for rule in self._rules:
            if report.full:
                break
            if not rule.test(value, run):
                rule.explain(value, path, report)
        run.scope = before

    def mark(self, value: Any, run: Run, marks: Marks) -> None:
        before = run.scope
        if (self.index, before) in marks.visited:
            return
        marks.visited.add((self.index, before))
        if self._scope is not None and self._scope not in before:
            run.scope = (*before, self._scope)
        for rule in self._rules:
            if rule.mark is not None:
                rule.mark(value, run, marks)
        run.scope = before


def _entry(node: Node) -> Test:
    """The test of a node that asks once about a value. One that comes back to itself has nothing against the value."""
    index = node.index

    def entry(value: Any, run: Run) -> bool:
        if not node.refers:
            return node.plain(value, run)
        key = (index, id(value), run.scope)
        known = run.known.get(key, _UNKNOWN)
        if known is None:
            run.circles += 1
            return True
        if known is not _UNKNOWN:
            return known
        run.steps += 1
        if run.steps > MAX_STEPS:
            raise TooMuch
        circles = run.circles
        run.known[key] = None
        good = node.plain(value, run)
        if run.circles == circles:
            run.known[key] = good
        else:
            del run.known[key]
        return good

    return entry


def anything(_value: Any, _run: Run) -> bool:
    return True


def _all_of(tests: Sequence[Test]) -> Test:
    match tests:
        case []:
            return anything
        case [only]:
            return only
        case [first, second]:
            return lambda value, run: first(value, run) and second(value, run)
        case _:
            return _each(tuple(tests))


def _each(tests: tuple[Test, ...]) -> Test:
    def each(value: Any, run: Run) -> bool:
        for test in tests:  # noqa: SIM110 - one frame, not two
            if not test(value, run):
                return False
        return True

    return each


def _within(resource: int, test: Test) -> Test:
    """The test, with a resource noted as one that the way led through."""

    def within(value: Any, run: Run) -> bool:
        before = run.scope
        if resource in before:
            return test(value, run)
        run.scope = (*before, resource)
        good = test(value, run)
        run.scope = before
        return good

    return within
