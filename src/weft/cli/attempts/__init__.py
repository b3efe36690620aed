"""`weft run --attempts N`: several agents at the same request, each in a worktree of the repository.

The attempts run side by side and are compared. One of them is applied to the working tree; the worktrees are removed.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from weft.agent.engine import ModelLike
from weft.agent.result import AgentResult
from weft.cli.attempts.attempt import Attempt, AttemptSetup, run_attempt, run_in_thread
from weft.cli.attempts.choice import Choice, ask_choice, choose_named, choose_passing
from weft.cli.attempts.view import AttemptRows, attempt_as_json, check_lines, describe_missing
from weft.cli.own_tools import open_own_tools, print_problems
from weft.cli.questions import ask_approval, ask_question
from weft.cli.run_agent import AgentPlace, check_folder, complete_question, make_agent
from weft.cli.telemetry import start_telemetry
from weft.cli.terminal import LiveLines, print_note
from weft.config.paths import data_folder
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import ApprovalRequested, QuestionAsked
from weft.core.json import encode_text
from weft.core.messages import Message
from weft.tools.approvals import Approval
from weft.tools.repository.git import GitFailed, GitRepository, find_repository
from weft.tools.repository.worktrees import AppliedAttempts, ChangedMeanwhile, Worktrees, remove_leftovers
from weft.tools.shell.sandbox import Sandbox

if TYPE_CHECKING:
    from weft.agent.telemetry import TelemetryReactor

MOST = 16
"""Attempts at one request, at most."""
NamedModel = tuple[str, ModelLike]
"""A model, after the name that is shown."""


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
            listed = [attempt_as_json(each, is_kept=self.is_kept) for each in self.attempts]
            number = choice.attempt.number if choice.attempt is not None else None
            print(encode_text({"attempts": listed, "applied": number, "files": paths, "reason": choice.reason or None}))
            return
        if choice.attempt is not None:
            if choice.attempt.result is not None and choice.attempt.result.text.strip():
                print(choice.attempt.result.text.strip())
            count = f"{len(paths)} file{'s' * (len(paths) != 1)}"
            print_note(
                f"Attempt {choice.attempt.number} is applied: {count}. `weft undo` restores the state before it."
            )
        elif choice.reason:
            print_note(f"Nothing is applied. {choice.reason}")
        for attempt in self.attempts if self.is_kept else ():
            folder = attempt.worktree.top
            print_note(f"Attempt {attempt.number} is in {folder}; `git worktree remove --force {folder}` removes it.")


class AttemptRun:
    """Attempts at one request: runs them, and applies one."""

    def __init__(
        self,
        options: argparse.Namespace,
        question: Message,
        models: Sequence[NamedModel],
        repository: GitRepository,
        *,
        telemetry: "TelemetryReactor | None" = None,
        history: Sequence[Message] = (),
    ) -> None:
        self._options = options
        self._question = question
        self._models = models
        self._data = data_folder(getattr(options, "data", None))
        self._history = list(history)
        self._repository = repository
        self._applied = AppliedAttempts(repository, self._data)
        self._telemetry = telemetry
        self._asking = asyncio.Lock()  # one attempt asks at a time
        self._rows = AttemptRows()
        self._live = LiveLines(self._rows.lines, silent=options.json and not sys.stderr.isatty())
        self._faults: dict[int, WeftError] = {}
        self._is_kept: bool = options.keep

    async def run(self) -> AttemptReport:
        """Run all attempts, then choose and apply one."""
        async with self._open_setup() as setup:
            attempts = await self._run_all(setup)
            for attempt in attempts:
                for line in check_lines(attempt):
                    print(line, file=sys.stderr)
            choice = await self._choose(attempts, setup)
            paths: Sequence[str] = ()
            if choice.attempt is not None:
                try:
                    paths = await self._apply(choice.attempt, setup)
                except ChangedMeanwhile as error:
                    choice = Choice(None, f"{error} The attempts are kept.")
                    self._is_kept = True
        return AttemptReport(attempts, choice, paths, self._is_kept)

    @asynccontextmanager
    async def _open_setup(self) -> AsyncGenerator[AttemptSetup]:
        """Make the worktrees. At the end they are removed, or kept if that was asked for."""
        options = self._options
        worktrees = Worktrees(self._repository, self._data)
        try:
            base = await run_in_thread(self._applied.save_base)
            await run_in_thread(lambda: worktrees.create(base, options.attempts))
            if (missing := describe_missing(worktrees.ignored)) and not options.json:
                print_note(missing)
            sandbox = Sandbox(unsandboxed=options.unsandboxed, readable=worktrees.readable)
            yield AttemptSetup(worktrees=worktrees, base=base, sandbox=sandbox, check=options.check or "")
        except BaseException:
            self._is_kept = False
            raise
        finally:
            if self._is_kept:
                worktrees.keep()
            else:
                await run_in_thread(worktrees.remove)

    async def _run_all(self, setup: AttemptSetup) -> Sequence[Attempt]:
        attempts: list[Attempt] = []
        for at, worktree in enumerate(setup.worktrees.made):
            attempts.append(Attempt(worktree.number, self._models[at % len(self._models)][0], worktree, monotonic()))
        self._rows.attempts = attempts
        self._rows.report = self._live.report
        async with self._live, asyncio.TaskGroup() as group:
            for attempt in attempts:
                group.create_task(self._run_one(attempt, setup), name=f"weft-attempt-{attempt.number}")
        if len(self._faults) == len(attempts):
            raise next(iter(self._faults.values()))
        return attempts

    async def _run_one(self, attempt: Attempt, setup: AttemptSetup) -> None:
        async def ask(attempt: Attempt) -> AgentResult:
            return await self._ask_agent(attempt, setup)

        try:
            await run_attempt(attempt, setup, ask, lambda: self._rows.report_state(attempt))
        except WeftError as error:
            self._faults[attempt.number] = error
            attempt.error = str(error)
            self._rows.report_state(attempt)

    async def _ask_agent(self, attempt: Attempt, setup: AttemptSetup) -> AgentResult:
        """Make the agent of an attempt and let it work in its worktree."""
        name = f"attempt {attempt.number} ({attempt.model})"

        async def approve(request: ApprovalRequested) -> Approval:
            async with self._asking, self._live.paused():
                return await ask_approval(request, name)

        async def answer(question: QuestionAsked) -> str:
            async with self._asking, self._live.paused():
                return await ask_question(question, name)

        folder = attempt.worktree.folder
        options = copy(self._options)
        async with open_own_tools(options, folders=[folder]) as own:
            if attempt.number == 1:
                print_problems(own)
            place = AgentPlace(
                worktree=folder,
                sandbox=setup.sandbox,
                history=self._history,
                on_approval=approve,
                on_question=answer,
            )
            model = self._models[(attempt.number - 1) % len(self._models)][1]
            agent, _ = await make_agent(options, model, own, place)
            agent.subscribe(self._rows.follow(attempt))
            if self._telemetry is not None:
                agent.subscribe(self._telemetry)
            question, faults = await complete_question(self._question, own)
            for fault in faults if attempt.number == 1 else ():
                print_note(fault)
            async with agent:
                return await agent.run(question)

    async def _choose(self, attempts: Sequence[Attempt], setup: AttemptSetup) -> Choice:
        options = self._options
        if options.take is not None:
            return choose_named(attempts, options.take)
        if sys.stdin.isatty() and sys.stderr.isatty() and not options.json:
            return await ask_choice(attempts, setup)
        if options.check:
            return choose_passing(attempts)
        return Choice(None)  # they are kept

    async def _apply(self, attempt: Attempt, setup: AttemptSetup) -> Sequence[str]:
        saved = attempt.saved
        assert saved is not None
        title = f"attempt {attempt.number} ({attempt.model}): {self._question.words}"
        return await run_in_thread(lambda: self._applied.apply(setup.base, saved, title))


def run_attempts(options: argparse.Namespace, question: Message, models: Sequence[NamedModel]) -> int:
    """Run `weft run --attempts`. Returns the exit code."""
    options.workspace = check_folder(options.workspace or ".")
    repository = check_options(options)
    try:
        return asyncio.run(_run(options, question, models, repository))
    except asyncio.CancelledError:
        return 130


async def _run(
    options: argparse.Namespace, question: Message, models: Sequence[NamedModel], repository: GitRepository
) -> int:
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError, RuntimeError):  # signals work in the main thread of POSIX systems only
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    telemetry = start_telemetry(options)
    reactor = telemetry.reactor if telemetry is not None else None
    try:
        report = await AttemptRun(options, question, models, repository, telemetry=reactor).run()
    finally:
        if telemetry is not None:
            await telemetry.close()
    report.print(options)
    return report.exit_code


def check_options(options: argparse.Namespace) -> GitRepository:
    """Check the options before anything is paid for. Returns the repository of the workspace."""
    if not 1 <= options.attempts <= MOST:
        raise ConfigurationError(f"--attempts is a number from 1 to {MOST}.")
    if options.take is not None and not 1 <= options.take <= options.attempts:
        raise ConfigurationError(f"--take is the number of an attempt, from 1 to {options.attempts}.")
    has_person = sys.stdin.isatty() and sys.stderr.isatty() and not options.json
    if not (has_person or options.check or options.keep or options.take is not None):
        raise ConfigurationError(
            "There is no terminal to ask on which attempt to apply; name one with --take N or a test with --check."
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
    """Remove the worktrees that a killed process left, and say so."""
    with suppress(GitFailed, OSError):
        if remove_leftovers(data):
            print_note("Worktrees of attempts whose process was killed are removed.")
