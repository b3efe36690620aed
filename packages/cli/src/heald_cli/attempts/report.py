"""The outcome of all attempts at a request."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from heald.commands.terminal import print_note
from heald.core.json import encode_text
from heald_cli.attempts.attempt import Attempt
from heald_cli.attempts.choice import Choice
from heald_cli.attempts.view import attempt_as_json, cost_table, sum_usage


@dataclass(frozen=True, slots=True)
class AttemptReport:
    """The outcome of all attempts, and what was done with it."""

    attempts: Sequence[Attempt]
    choice: Choice
    paths: Sequence[str]
    """The files that were changed in the user's folder, below the top of the repository."""
    is_kept: bool

    @property
    def exit_code(self) -> int:
        return 1 if self.choice.reason else 0

    def print(self, options: argparse.Namespace) -> None:
        """Print the answer of the applied attempt, or why none is applied."""
        choice, paths = self.choice, self.paths
        if options.json:
            listed = [attempt_as_json(attempt, is_kept=self.is_kept) for attempt in self.attempts]
            number = choice.attempt.number if choice.attempt is not None else None
            outcome = {"attempts": listed, "applied": number, "files": paths, "reason": choice.reason or None}
            tokens, cost = sum_usage(self.attempts)
            print(encode_text({**outcome, "tokens": tokens, "cost_usd": cost}))
            return
        for line in cost_table(self.attempts) if len(self.attempts) > 1 else ():
            print(line, file=sys.stderr)
        if choice.attempt is not None:
            if choice.attempt.result is not None and choice.attempt.result.text.strip():
                print(choice.attempt.result.text.strip())
            count = f"{len(paths)} file{'s' * (len(paths) != 1)}"
            print_note(
                f"Attempt {choice.attempt.number} is applied: {count}. `heald undo` restores the state before it."
            )
        elif choice.reason:
            print_note(f"Nothing is applied. {choice.reason}")
        for attempt in self.attempts if self.is_kept else ():
            folder = attempt.worktree.top
            print_note(f"Attempt {attempt.number} is in {folder}; `git worktree remove --force {folder}` removes it.")
