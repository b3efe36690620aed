"""Shows what would be committed and with which message, and lets the person choose, edit and decide."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress

from heald.commands.terminal import BOLD, DIM, GREEN, RED, YELLOW, Colours
from heald.core.errors import ConfigurationError, HealdError
from heald.tools.git.repository import GitRepository
from heald.tools.process_environment import environment_without_keys
from heald.tools.sanitize import sanitize_text
from heald_cli.approval_view import diff_lines
from heald_cli.questions import read_line
from heald_cli.repository.changed_hunks import UncommittedChanges, parse_selection
from heald_cli.repository.commit import CommitResult, changed_hooks, commit_hunks

_MAX_HUNKS = 60
_MAX_DIFF_LINES = 400
_MAX_CHARACTERS = 100_000
WriteMessage = Callable[[frozenset[int]], Awaitable[str]]
"""Writes the message for chosen hunks."""


class CommitDialog:
    """One commit that a person is asked about. `print_line` shows a line; answers are read from standard input."""

    def __init__(
        self,
        repository: GitRepository,
        changes: UncommittedChanges,
        write_message: WriteMessage,
        *,
        paint: Colours,
        is_signed_off: bool = False,
    ) -> None:
        self._repository = repository
        self._changes = changes
        self._write_message = write_message
        self._paint = paint
        self._is_signed_off = is_signed_off

    def show(self, numbers: frozenset[int], message: str) -> None:
        """Print the hunks, those that are chosen with a mark, and the message."""
        count = len(self._changes.hunks)
        what = f"{'staged ' * self._changes.is_staged}hunk{'s' * (count != 1)}"
        self._print(self._paint(f"{len(numbers)} of {count} {what}:", DIM))
        for number, hunk in list(enumerate(self._changes.hunks, 1))[:_MAX_HUNKS]:
            mark = self._paint("✓", GREEN) if number in numbers else " "
            self._print(f"{mark} {number:>3}  {sanitize_text(hunk.describe())}")
        left = count - _MAX_HUNKS
        if left > 0:
            self._print(self._paint(f"      … and {left} more", DIM))
        for path in changed_hooks(self._changes):
            self._print(
                self._paint(f"  {sanitize_text(path)} is a hook and is changed: read it before git runs it.", YELLOW)
            )
        self._print("", *(f"  {self._paint(sanitize_text(line), BOLD)}" for line in message.splitlines()), "")

    async def run(self, numbers: frozenset[int], message: str = "") -> CommitResult | None:
        """Ask until the person commits or declines. Returns None if nothing was committed."""
        message = message or await self._write_message(numbers)
        self.show(numbers, message)
        while True:
            question = "commit? [y]es, [e]dit, [1,3-5] hunks, [d]iff, [w]rite it anew, [n]o: "
            answer = (await read_line(question)).strip()
            try:
                match answer.lower():
                    case "y" | "yes":
                        result = await self.commit(numbers, message)
                        if result.commit:
                            return result
                        self.show(numbers, message)
                    case "n" | "no" | "q":
                        return None
                    case "e" | "edit":
                        message = edit_message(message) or message
                        self.show(numbers, message)
                    case "d" | "diff":
                        self._print(
                            *diff_lines(self._changes.diff(numbers), self._paint, most=_MAX_DIFF_LINES, heads=True)
                        )
                    case "w" | "write":
                        message = await self._write_message(numbers)
                        self.show(numbers, message)
                    case text if text[:1].isdecimal():
                        numbers = parse_selection(text, len(self._changes.hunks))
                        message = await self._write_message(numbers)
                        self.show(numbers, message)
                    case _:
                        continue
            except HealdError as error:
                self._print(self._paint(sanitize_text(str(error)), RED))

    async def commit(self, numbers: frozenset[int], message: str) -> CommitResult:
        """Commit, and print what git and the hooks wrote."""
        result = await commit_hunks(
            self._repository, self._changes, numbers, message, is_signed_off=self._is_signed_off
        )
        self._print(*(f"  {self._paint(line, DIM)}" for line in result.output.splitlines()))
        if not result.commit:
            self._print(
                self._paint("Nothing was committed: git or a hook refused it, as it says above.", RED),
                self._paint("The files and the index are as the hook left and found them.", DIM),
            )
        return result

    def _print(self, *lines: str) -> None:
        for line in lines:
            print(line, file=sys.stderr)


def edit_message(message: str) -> str:
    """Let the person edit a message in $GIT_EDITOR, $VISUAL or $EDITOR. Returns "" if nothing is left of it."""
    names = ("GIT_EDITOR", "VISUAL", "EDITOR")
    editor = next((os.environ[name] for name in names if os.environ.get(name)), "vi")
    handle, path = tempfile.mkstemp(prefix="heald-commit-", suffix=".txt")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{message}\n")
        try:
            subprocess.call([*shlex.split(editor), path], env=environment_without_keys())
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"The editor {editor!r} cannot be started ({error}); set EDITOR.") from None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_CHARACTERS).strip()
    finally:
        with suppress(OSError):
            os.unlink(path)
