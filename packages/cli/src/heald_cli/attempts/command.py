"""`heald run --attempts N`: checks its options, and runs the attempts."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError
from heald.core.messages import Message
from heald.tools.git.program import GitFailed
from heald.tools.git.repository import GitRepository, find_repository
from heald.tools.shell.sandbox import Sandbox
from heald_cli.attempts.attempt_run import AttemptRun
from heald_cli.attempts.entrant import Entrant
from heald_cli.repository.worktrees import remove_leftovers
from heald_cli.run_agent import check_folder
from heald_cli.telemetry import start_telemetry

MOST = 16
"""Attempts at one request, at most."""


def run_attempts(options: argparse.Namespace, question: Message, entrants: Sequence[Entrant]) -> int:
    """Run `heald run --attempts`. Returns the exit code."""
    options.workspace = check_folder(options.workspace or ".")
    repository = check_options(options)
    try:
        return asyncio.run(_run(options, question, entrants, repository))
    except asyncio.CancelledError:
        return 130


async def _run(
    options: argparse.Namespace, question: Message, entrants: Sequence[Entrant], repository: GitRepository
) -> int:
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError, RuntimeError):  # signals work in the main thread of POSIX systems only
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    telemetry = start_telemetry(options)
    reactor = telemetry.reactor if telemetry is not None else None
    try:
        report = await AttemptRun(options, question, entrants, repository, telemetry=reactor).run()
    finally:
        if telemetry is not None:
            await telemetry.close()
    report.print(options)
    return report.exit_code


def check_options(options: argparse.Namespace) -> GitRepository:
    """Check the options before anything is paid for. Returns the repository of the workspace."""
    if not 1 <= options.attempts <= MOST:
        raise ConfigurationError(f"--attempts is a number from 1 to {MOST}.")
    if options.apply is not None and not 1 <= options.apply <= options.attempts:
        raise ConfigurationError(f"--apply is the number of an attempt, from 1 to {options.attempts}.")
    has_person = sys.stdin.isatty() and sys.stderr.isatty() and not options.json
    if not (has_person or options.check or options.keep or options.apply is not None):
        raise ConfigurationError(
            "There is no terminal to ask on which attempt to apply; name one with --apply N or a test with --check."
        )
    repository = find_repository(options.workspace)
    if repository is None:
        raise ConfigurationError(
            f"{options.workspace} is in no git repository, which attempts need for their copies; `git init` makes one."
        )
    if options.check and (reason := Sandbox(unsandboxed=options.unsandboxed).available()) is not None:
        raise ConfigurationError(f"The check cannot run. {reason} --unsandboxed does without it.")
    return repository


def clean_leftovers(data: Path) -> None:
    """Remove the worktrees that a killed process left, and print a note."""
    with suppress(GitFailed, OSError):
        if remove_leftovers(data):
            print_note("Worktrees of attempts whose process was killed are removed.")
