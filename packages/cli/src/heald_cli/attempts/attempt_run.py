"""Runs attempts at one request in parallel, and applies one of them."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from copy import copy
from time import monotonic
from typing import TYPE_CHECKING

from heald.agent.result import AgentResult
from heald.commands.live_lines import LiveLines
from heald.commands.terminal import print_note
from heald.config.paths import data_folder
from heald.core.errors import HealdError
from heald.core.events import ApprovalRequested, QuestionAsked
from heald.core.messages import Message
from heald.tools.approvals import Approval
from heald.tools.git.repository import GitRepository
from heald.tools.shell.sandbox import Sandbox
from heald_cli.attempts.attempt import Attempt, AttemptSetup, run_attempt, run_in_thread
from heald_cli.attempts.choice import Choice, ask_choice, choose_named, choose_passing
from heald_cli.attempts.entrant import Entrant
from heald_cli.attempts.event_file import EventFile
from heald_cli.attempts.report import AttemptReport
from heald_cli.attempts.view import AttemptRows, check_lines, describe_missing
from heald_cli.own_tools import open_own_tools, print_problems
from heald_cli.questions import ask_approval, ask_question
from heald_cli.repository.applied_attempts import AppliedAttempts, ChangedMeanwhile
from heald_cli.repository.checkpoint_store import CheckpointLimits
from heald_cli.repository.worktrees import Worktrees
from heald_cli.run_agent import AgentPlace, complete_question, make_agent

if TYPE_CHECKING:
    from heald.agent.telemetry import TelemetryReactor


class AttemptRun:
    """Attempts at one request: runs them, and applies one."""

    def __init__(
        self,
        options: argparse.Namespace,
        question: Message,
        entrants: Sequence[Entrant],
        repository: GitRepository,
        *,
        telemetry: "TelemetryReactor | None" = None,
        history: Sequence[Message] = (),
    ) -> None:
        self._options = options
        self._question = question
        self._entrants = entrants
        self._data = data_folder(getattr(options, "data", None))
        self._history = list(history)
        self._repository = repository
        self._limits = CheckpointLimits.of(options)
        self._applied = AppliedAttempts(repository, self._data, self._limits)
        self._telemetry = telemetry
        self._asking = asyncio.Lock()  # one attempt asks at a time
        self._rows = AttemptRows()
        self._live = LiveLines(self._rows.lines, silent=options.json and not sys.stderr.isatty())
        self._faults: dict[int, HealdError] = {}
        self._log = EventFile(None)
        self._is_kept: bool = options.keep

    async def run(self) -> AttemptReport:
        """Run all attempts, then choose and apply one."""
        with EventFile(self._options.attempts_log) as self._log:
            return await self._run()

    async def _run(self) -> AttemptReport:
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
        worktrees = Worktrees(self._repository, self._data, self._limits)
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
            entrant = self._entrants[at % len(self._entrants)]
            attempts.append(Attempt(worktree.number, entrant.name, worktree, monotonic()))
        self._rows.attempts = attempts
        self._rows.report = self._live.report
        async with self._live, asyncio.TaskGroup() as group:
            for attempt in attempts:
                group.create_task(self._run_one(attempt, setup), name=f"heald-attempt-{attempt.number}")
        if len(self._faults) == len(attempts):
            raise next(iter(self._faults.values()))
        return attempts

    async def _run_one(self, attempt: Attempt, setup: AttemptSetup) -> None:
        async def ask(attempt: Attempt) -> AgentResult:
            return await self._ask_agent(attempt, setup)

        try:
            await run_attempt(attempt, setup, ask, lambda: self._rows.report_state(attempt))
        except HealdError as error:
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
        entrant = self._entrants[(attempt.number - 1) % len(self._entrants)]
        options = copy(self._options)
        options.agent = entrant.agent
        async with open_own_tools(options, folders=[folder]) as own_tools:
            if attempt.number == 1:
                print_problems(own_tools)
            place = AgentPlace(
                worktree=folder,
                sandbox=setup.sandbox,
                history=self._history,
                on_approval=approve,
                on_question=answer,
            )
            agent, _ = await make_agent(options, entrant.model, own_tools, place)
            agent.subscribe(self._rows.follow(attempt))
            agent.subscribe(self._log)
            if self._telemetry is not None:
                agent.subscribe(self._telemetry)
            question, faults = await complete_question(self._question, own_tools)
            for fault in faults if attempt.number == 1 else ():
                print_note(fault)
            async with agent:
                return await agent.run(question)

    async def _choose(self, attempts: Sequence[Attempt], setup: AttemptSetup) -> Choice:
        options = self._options
        if options.apply is not None:
            return choose_named(attempts, options.apply)
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
