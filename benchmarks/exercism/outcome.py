"""One exercise done by one row: its tries, and what they cost."""

import ast
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from benchmarks.exercism.limited_process import run_limited
from benchmarks.exercism.rows import Assignment, Row, Try, environment
from benchmarks.tasks.proxy import CountingProxy
from benchmarks.tasks.runners import Place

TRY_SECONDS = 600
_LOG_CHARACTERS = 2000
_ADDED = re.compile(r"Added \S+ to the chat\.?")


@dataclass(frozen=True)
class TryOutcome:
    """What one try did."""

    solved: bool
    exit_code: int | None
    """None if its time was over."""
    requests: int
    tokens_in: int
    tokens_out: int
    seconds: float
    damaged: tuple[str, ...]
    """Files that parsed before the try and do not after it, or are gone."""
    idle: bool
    """It exited with 0 and changed no file."""
    test_output: str
    log: str
    """The end of what the agent printed."""


@dataclass(frozen=True)
class Outcome:
    """The tries of a row at an exercise: the second one only if the first did not solve it."""

    exercise: str
    row: str
    tries: tuple[TryOutcome, ...]


def run_exercise(
    exercise: Assignment, row: Row, model: str, base_url: str, transcript: Path | None, *, most_tries: int = 2
) -> Outcome:
    """Let a row do an exercise in a folder of its own, through a proxy of its own."""
    tries: list[TryOutcome] = []
    with tempfile.TemporaryDirectory(prefix="exercism-") as name, CountingProxy(base_url, transcript) as proxy:
        folder, home = Path(name) / "work", Path(name) / "home"
        folder.mkdir()
        home.mkdir()
        exercise.prepare(folder)
        attempt = Try(exercise, Place(model, proxy.url), home)
        tries.append(_run_try(attempt, row, folder, proxy))
        if not tries[0].solved and most_tries > 1:
            second = Try(exercise, attempt.place, home, tries[0].test_output or "The tests failed.")
            tries.append(_run_try(second, row, folder, proxy))
    return Outcome(exercise.slug, row.name, tuple(tries))


def _run_try(attempt: Try, row: Row, folder: Path, proxy: CountingProxy) -> TryOutcome:
    before = _read_files(folder)
    began = monotonic()
    ended = run_limited(
        [row.path or row.program, *row.command(attempt)],
        folder=folder,
        environment=environment(attempt),
        log=attempt.home / "log",
        seconds=TRY_SECONDS,
    )
    seconds = monotonic() - began
    counts = proxy.reset()
    after = _read_files(folder)
    tested = attempt.exercise.test(folder, _without_notices(ended.output))
    return TryOutcome(
        solved=tested.passed,
        exit_code=ended.exit_code,
        requests=counts.requests,
        tokens_in=counts.tokens_in,
        tokens_out=counts.tokens_out,
        seconds=round(seconds, 1),
        damaged=tuple(path for path, data in before.items() if _is_damaged(path, data, after.get(path))),
        idle=ended.exit_code == 0 and before == after,
        test_output=tested.output,
        log=ended.output[-_LOG_CHARACTERS:],
    )


def _read_files(folder: Path) -> dict[str, bytes]:
    """The files of a folder, hidden folders left out."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {
        str(path): (folder / path).read_bytes()
        for path in paths
        if not any(part.startswith((".", "__pycache__")) for part in path.parts)
    }


def _without_notices(output: str) -> str:
    """What an agent printed, without the names of files that aider was given: a check looks for words of the answer."""
    return "\n".join(line for line in output.splitlines() if not _ADDED.fullmatch(line.strip()))


def _is_damaged(path: str, before: bytes, after: bytes | None) -> bool:
    return after is None or (path.endswith(".py") and _parses(before) and not _parses(after))


def _parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True
