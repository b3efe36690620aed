"""Outcomes and comparisons as lines for people."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from heald.commands.amounts import format_seconds, format_usd
from heald_evals.case_outcome import CaseOutcome
from heald_evals.checks import excerpt
from heald_evals.run_comparison import CaseChange, RunComparison

_WORDS = {"passed": "ok", "failed": "FAILED", "error": "ERROR"}


def outcome_line(outcome: CaseOutcome) -> str:
    """Return one line: the status of a case, its name, duration, tokens and cost."""
    parts = [f"{_WORDS[outcome.status]:<7} {outcome.case:<30} {format_seconds(outcome.duration_ms / 1000):>10}"]
    parts.append(f"{outcome.tokens:>9,} tokens")
    if outcome.cost_usd is not None:
        parts.append(format_usd(outcome.cost_usd))
    return "  ".join(parts)


def failure_lines(outcome: CaseOutcome, folder: Path | None) -> list[str]:
    """Return why a case did not pass, its answer, and the command that opens its log."""
    lines = [f"{check.name}: {check.reason or 'failed'}" for check in outcome.failures]
    if outcome.error:
        lines.append(outcome.error)
    if outcome.text:
        lines.append(f"answer: {excerpt(outcome.text)}")
    if outcome.session and folder is not None:
        lines.append(f"log: {log_command(outcome.session, folder)}")
    return lines


def log_command(session: str, folder: Path) -> str:
    """Return the command that prints the log of a case."""
    return shlex.join(["heald", "sessions", "show", session, "--data", str(folder)])


def summary_line(outcomes: Sequence[CaseOutcome]) -> str:
    """Return the sums of a run."""
    counts = {status: sum(outcome.status == status for outcome in outcomes) for status in _WORDS}
    parts = [f"{counts['passed']:,} passed", f"{counts['failed']:,} failed"]
    if counts["error"]:
        parts.append(f"{counts['error']:,} with an error")
    parts.append(f"{_tokens(outcomes):,} tokens")
    if (cost := _cost(outcomes)) is not None:
        parts.append(format_usd(cost))
    judge_cost = sum(outcome.judge_cost_usd or 0 for outcome in outcomes)
    if judge_tokens := sum(outcome.judge_tokens for outcome in outcomes):
        parts.append(f"judge {judge_tokens:,} tokens" + (f" {format_usd(judge_cost)}" if judge_cost else ""))
    return ", ".join(parts)


def comparison_lines(comparison: RunComparison) -> list[str]:
    """Return what got better and worse since the last run; nothing if no case ran before."""
    changes = comparison.changes
    if not changes:
        return []
    counts = f"{len(comparison.better)} better, {len(comparison.worse)} worse, {len(comparison.same)} the same"
    new = f", {len(comparison.new)} new" if comparison.new else ""
    lines = [f"Compared with the last run: {counts}{new}"]
    lines += [_change_line("worse", change) for change in comparison.worse]
    lines += [_change_line("better", change) for change in comparison.better]
    before, after = [change.before for change in changes], [change.after for change in changes]
    amounts = [f"tokens {_difference(_tokens(before), _tokens(after), '{:,.0f}')}"]
    costs = _cost(before), _cost(after)
    if costs[0] is not None and costs[1] is not None:
        amounts.append(f"cost {_difference(costs[0], costs[1], '${:.4f}')}")
    amounts.append(f"duration {_difference(_seconds(before), _seconds(after), '{:.1f} s')}")
    return [*lines, f"  {', '.join(amounts)}"]


def _change_line(word: str, change: CaseChange) -> str:
    before, after = change.before, change.after
    if before.status != after.status:
        text = f"{before.status} → {after.status}"
    else:
        text = f"{after.status}, score {before.score:.2f} → {after.score:.2f}"
    models = f" ({before.model} → {after.model})" if before.model and after.model != before.model else ""
    return f"  {word:<6} {after.case}: {text}{models}"


def _difference(before: float, after: float, form: str) -> str:
    text = f"{form.format(before)} → {form.format(after)}"
    return f"{text} ({(after - before) / before:+.0%})" if before else text


def _tokens(outcomes: Iterable[CaseOutcome]) -> int:
    return sum(outcome.tokens for outcome in outcomes)


def _cost(outcomes: Sequence[CaseOutcome]) -> float | None:
    """Return the cost of all cases. None if that of a case is not known."""
    costs = [outcome.cost_usd for outcome in outcomes if outcome.tokens]
    return None if not costs or None in costs else sum(cost or 0 for cost in costs)


def _seconds(outcomes: Iterable[CaseOutcome]) -> float:
    return sum(outcome.duration_ms for outcome in outcomes) / 1000
