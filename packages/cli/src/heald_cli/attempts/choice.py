"""Chooses the attempt that is applied: the named one, the first that passes the check, or the one the person names."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from heald.commands.terminal import Colours, print_note
from heald_cli.approval_view import diff_lines
from heald_cli.attempts.attempt import Attempt, AttemptSetup, run_in_thread
from heald_cli.questions import read_line

_MAX_DIFF_LINES = 400


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen attempt, or the reason why there is none."""

    attempt: Attempt | None
    reason: str = ""


def choose_named(attempts: Sequence[Attempt], number: int) -> Choice:
    """Choose an attempt by its number."""
    chosen = next((attempt for attempt in attempts if attempt.number == number), None)
    if chosen is None:
        return Choice(None, f"There is no attempt {number}; there are {len(attempts)}.")
    if not chosen.files:
        return Choice(None, f"Attempt {number} changed nothing{f': {chosen.error}' if chosen.error else '.'}")
    return Choice(chosen)


def choose_passing(attempts: Sequence[Attempt]) -> Choice:
    """Choose the first attempt whose changes pass the check."""
    passing = next((attempt for attempt in attempts if attempt.passed), None)
    if passing is not None:
        return Choice(passing)
    if not any(attempt.files for attempt in attempts):
        return Choice(None, "No attempt changed a file.")
    return Choice(None, "No attempt passed the check.")


async def ask_choice(attempts: Sequence[Attempt], setup: AttemptSetup) -> Choice:
    """Ask the person at the terminal. The first attempt that passes the check is the default."""
    if not any(attempt.files for attempt in attempts):
        return Choice(None, "No attempt changed a file.")
    default = choose_passing(attempts).attempt
    hint = f"; Enter applies {default.number}" if default is not None else ""
    while True:
        line = await read_line(f"apply which? [1-{len(attempts)}], d1 shows the diff of 1, n none{hint}: ")
        answer = line.strip().lower()
        if not answer and default is not None:
            return Choice(default)
        if answer in ("n", "no", "none"):
            return Choice(None, "You chose none.")
        number = answer.removeprefix("d").strip()
        if not number.isdecimal():
            continue
        chosen = choose_named(attempts, int(number))
        if chosen.attempt is None:
            print_note(chosen.reason)
        elif answer.startswith("d"):
            await show_diff(chosen.attempt, setup)
        else:
            return chosen


async def show_diff(attempt: Attempt, setup: AttemptSetup) -> None:
    """Print what an attempt changed."""
    saved = attempt.saved
    assert saved is not None
    diff = await run_in_thread(lambda: attempt.worktree.checkpoints.diff(setup.base, saved))
    for line in diff_lines(diff, Colours(sys.stderr), most=_MAX_DIFF_LINES, heads=True):
        print(line, file=sys.stderr)
