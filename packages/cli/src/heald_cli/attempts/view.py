"""Shows attempts: a row for each while it works, its outcome, and all of them as JSON."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from msgspec import to_builtins

from heald.commands.activity import describe_activity
from heald.commands.amounts import format_seconds, format_usd
from heald.commands.status_text import status_text
from heald.commands.text_columns import align_columns
from heald.core.envelope import Event
from heald.core.events import FileChanged, RetryScheduled
from heald.tools.sanitize import sanitize_text
from heald_cli.attempts.attempt import Attempt
from heald_cli.repository.ignored_files import INCLUDE_FILE, IgnoredPaths

_MARKS = {"running": "▸", "completed": "✓", "failed": "✗", "cancelled": "✗", "limit": "!"}
_MAX_NAMED = 5


class AttemptRows:
    """Follows the events of attempts. `report` is called with each line of news."""

    def __init__(self, report: Callable[[str], object] = lambda _: None) -> None:
        self.report = report
        self.attempts: Sequence[Attempt] = ()

    def follow(self, attempt: Attempt) -> Callable[[Event], None]:
        """Return the reactor that follows the agent of an attempt."""
        return lambda event: self._on_event(attempt, event)

    def report_state(self, attempt: Attempt) -> None:
        """Report that an attempt begins another part of its work, or its end."""
        text = describe_outcome(attempt) if attempt.is_done else attempt.activity
        self.report(f"{attempt.number} {attempt.model}: {sanitize_text(text)}")

    def lines(self) -> list[str]:
        """The rows of all attempts, in columns."""
        table: list[list[str]] = []
        for attempt in self.attempts:
            elapsed = format_seconds(monotonic() - attempt.started)
            text = describe_outcome(attempt) if attempt.is_done else f"{elapsed}  {attempt.activity}"
            table.append([f"{mark_of(attempt)} {attempt.number}", attempt.model, sanitize_text(text)])
        return align_columns(table)

    def _on_event(self, attempt: Attempt, event: Event) -> None:
        attempt.activity = describe_activity(event.data) or attempt.activity
        match event.data:
            case FileChanged(path=path):
                self.report(f"{attempt.number} {attempt.model}: wrote {sanitize_text(path)}")
            case RetryScheduled():
                self.report(f"{attempt.number} {attempt.model}: {attempt.activity}")
            case _:
                pass


def mark_of(attempt: Attempt) -> str:
    if attempt.is_done and attempt.check is not None and not attempt.check.passed:
        return "✗"
    return _MARKS.get(attempt.status if attempt.is_done else "running", "·")


def describe_outcome(attempt: Attempt) -> str:
    """Describe how an attempt ended: its changes, the check, time and cost."""
    if attempt.error and not attempt.files:
        return f"failed: {attempt.error}"
    parts = [describe_changes(attempt)]
    if attempt.check is not None:
        parts.append(_describe_check(attempt))
    if attempt.status != "completed":
        status = status_text(attempt.status)
        parts.append(f"{status}: {attempt.error}" if attempt.error else status)
    return ", ".join([*parts, format_seconds(attempt.seconds), format_usd(attempt.cost_usd)])


def describe_changes(attempt: Attempt) -> str:
    if not attempt.files:
        return "changed nothing"
    return f"+{attempt.added} −{attempt.removed} in {attempt.files} file{'s' * (attempt.files != 1)}"


def _describe_check(attempt: Attempt) -> str:
    check = attempt.check
    assert check is not None
    if check.exit_code is None:
        return "check did not end"
    return "check passed" if check.passed else f"check failed with exit code {check.exit_code}"


def cost_table(attempts: Sequence[Attempt]) -> list[str]:
    """Compare what the attempts used: a row for each, and their sum."""
    table = [["", "agent", "result", "tokens", "cost"]]
    for attempt in attempts:
        check = attempt.check
        result = status_text(attempt.status) if check is None else "passed" if check.passed else "check failed"
        table.append(
            [f"{attempt.number}", attempt.model, result, _tokens(attempt.usage.total), _cost(attempt.cost_usd)]
        )
    tokens, cost = sum_usage(attempts)
    unknown = sum(attempt.cost_usd is None for attempt in attempts)
    total = f"{_cost(cost)}, without {unknown}" if cost is not None and unknown else _cost(cost)
    table.append(["", "all", "", _tokens(tokens), total])
    return align_columns(table)


def sum_usage(attempts: Sequence[Attempt]) -> tuple[int, float | None]:
    """Return the tokens and the cost of all attempts, as far as they are known; None if no cost is."""
    costs = [attempt.cost_usd for attempt in attempts if attempt.cost_usd is not None]
    return sum(attempt.usage.total or 0 for attempt in attempts), sum(costs) if costs else None


def _tokens(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"


def _cost(cost: float | None) -> str:
    return "unknown" if cost is None else format_usd(cost)


def check_lines(attempt: Attempt) -> list[str]:
    """The last lines of a check that did not pass."""
    if attempt.check is None or attempt.check.passed or not attempt.check.lines:
        return []
    return [f"check of attempt {attempt.number}:", *(f"  {sanitize_text(line)}" for line in attempt.check.lines)]


def describe_missing(ignored: IgnoredPaths) -> str:
    """Describe which ignored files the attempts lack; empty if they lack none."""
    if not ignored.missing:
        return ""
    names = ", ".join(ignored.missing[:_MAX_NAMED])
    more = f" and {len(ignored.missing) - _MAX_NAMED} more" if len(ignored.missing) > _MAX_NAMED else ""
    return sanitize_text(f"The attempts do not have these ignored files: {names}{more}; {INCLUDE_FILE} can name them.")


def attempt_as_json(attempt: Attempt, *, is_kept: bool) -> dict[str, Any]:
    """Describe an attempt for programs."""
    check = attempt.check
    return {
        "number": attempt.number,
        "model": attempt.model,
        "status": attempt.status,
        "files": attempt.files,
        "added": attempt.added,
        "removed": attempt.removed,
        "check": {"exit_code": check.exit_code, "lines": list(check.lines)} if check is not None else None,
        "seconds": round(attempt.seconds, 3),
        "usage": to_builtins(attempt.usage),
        "cost_usd": attempt.cost_usd,
        "answer": attempt.result.text if attempt.result is not None else "",
        "error": attempt.error or None,
        "folder": attempt.worktree.folder if is_kept else None,
    }
