"""500 generated lines, run under a recorder of `execve`: nothing runs that the rules did not see."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import pytest
from exec_recorder import ExecRecorder, Started, recorder_problem
from line_generator import MARKERS, PROGRAMS, LineGenerator

from heald.tools.families import named_tools
from heald.tools.permissions import Permissions
from heald.tools.shell.command_line import CommandLine, LineCommand
from heald.tools.shell.words import Expansion

LINES = 300
SEED = 34
_WORKERS = 2
[RUN] = named_tools(["run_command"])
DENY = Permissions("auto", ["deny run_command(danger)", "deny run_command(danger *)"])
ALLOWED = ["fine", *(program for program in PROGRAMS if program not in ("perl", "make"))]
"""Without programs that are there to run code: a rule that allows them allows what it does."""
_BUILTINS = "builtin command echo eval exec false test trap true wait"
ALLOW = Permissions(
    "ask", [f"allow run_command({name}{end})" for name in [*ALLOWED, *_BUILTINS.split()] for end in ("", " *")]
)


@pytest.fixture(scope="module")
def recorders(tmp_path_factory: pytest.TempPathFactory) -> list[ExecRecorder]:
    problem = recorder_problem()
    if problem is not None:
        pytest.skip(problem)
    return [ExecRecorder(tmp_path_factory.mktemp("execve"), MARKERS, PROGRAMS) for _ in range(_WORKERS)]


def test_the_recorder_sees_what_runs(recorders: list[ExecRecorder]) -> None:
    recorder = recorders[0]
    started = recorder.run(f"timeout 5 danger 'a b'; {recorder.shims}/fine; echo x; nothing")
    programs = {(item.name, item.arguments[1:]) for item in started}
    assert programs == {("timeout", ("5", "danger", "a b")), ("danger", ("a b",)), ("fine", ())}


def test_nothing_runs_that_the_rules_did_not_see(recorders: list[ExecRecorder]) -> None:
    share = LINES // _WORKERS
    seeds = range(SEED, SEED + _WORKERS)
    with ThreadPoolExecutor(_WORKERS) as pool:
        outcomes = list(pool.map(check_lines, recorders, seeds, repeat(share)))
    counts = sum((outcome for outcome, _ in outcomes), Counter[str]())
    faults = [fault for _, faults in outcomes for fault in faults]
    print(dict(counts))
    assert faults == []
    assert counts["lines"] == LINES
    # the lines must be worth something: many are read, many would run what is denied, some are allowed
    assert counts["read"] > LINES // 3
    assert counts["runs danger"] > LINES // 5
    assert counts["allowed"] > LINES // 25
    assert counts["passed the denial"] > LINES // 5


def check_lines(recorder: ExecRecorder, seed: int, count: int) -> tuple[Counter[str], list[str]]:
    """Run lines whether they are denied or not, and return counts and what went wrong."""
    generator = LineGenerator(seed, str(recorder.shims))
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for line in (generator.line() for _ in range(count)):
        read = CommandLine.read(line)
        denied = DENY.decide(RUN, {"command": line}).verdict == "deny"
        allowed = ALLOW.decide(RUN, {"command": line}).verdict == "allow"
        started = recorder.run(line)
        runs_danger = any(item.name == "danger" for item in started)
        counts += Counter(
            {
                "lines": 1,
                "read": not read.unreadable,
                "runs danger": runs_danger,
                "denied": denied,
                "passed the denial": not denied,
                "allowed": allowed,
                "programs": len(started),
            }
        )
        if runs_danger and not denied:
            faults.append(f"a denial was passed: {line!r}")
        if allowed and not {item.name for item in started} <= {*ALLOWED, *_BUILTINS.split()}:
            faults.append(f"more ran than was allowed: {line!r}: {started}")
        if not read.unreadable and not any(command.opaque for command in read.commands):
            unseen = [item for item in started if not any(is_same(command, item) for command in read.commands)]
            if unseen:
                faults.append(f"it ran without being read: {line!r}: {unseen}")
    return counts, faults


def is_same(command: LineCommand, started: Started) -> bool:
    """Whether a command that was read is a program that was started, with its arguments."""
    if command.words[0].text.rpartition("/")[2] != started.name:
        return False
    pattern = ""
    for word in command.words[1:]:
        text = "".join(".*" if isinstance(piece, Expansion) else re.escape(piece) for piece in word.pieces)
        pattern += f"\x1f{text}" if word.is_single else f"(?:\x1f{text})?"
    return (
        re.fullmatch(pattern, "".join(f"\x1f{argument}" for argument in started.arguments[1:]), re.DOTALL) is not None
    )
