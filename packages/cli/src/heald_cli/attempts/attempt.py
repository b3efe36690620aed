"""One attempt at a request: its agent in a worktree, what it changed, and the result of the check."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import TypeVar

from heald.agent.result import AgentResult
from heald.core.turn import Usage
from heald.tools.shell.sandbox import PATH, Sandbox
from heald_cli.attempts.check import CheckResult, run_check
from heald_cli.repository.checkpoints import Checkpoint
from heald_cli.repository.worktrees import Worktree, Worktrees

T = TypeVar("T")


@dataclass(slots=True)
class Attempt:
    """The state of one attempt, which its run changes."""

    number: int
    model: str
    worktree: Worktree
    started: float
    activity: str = "begins"
    seconds: float = 0.0
    result: AgentResult | None = None
    error: str = ""
    saved: Checkpoint | None = None
    """The files at its end, before the check."""
    files: int = 0
    added: int = 0
    removed: int = 0
    check: CheckResult | None = None
    is_done: bool = False

    @property
    def status(self) -> str:
        """How it ended: as an exchange, or failed before one began."""
        if self.result is not None:
            return self.result.status
        return "failed" if self.is_done else "running"

    @property
    def cost_usd(self) -> float | None:
        return self.result.cost_usd if self.result is not None else None

    @property
    def usage(self) -> Usage:
        return self.result.usage if self.result is not None else Usage()

    @property
    def passed(self) -> bool:
        """Whether it changed something that the check accepts."""
        return self.files > 0 and self.check is not None and self.check.passed


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSetup:
    """The settings that all attempts at one request share."""

    worktrees: Worktrees
    base: Checkpoint
    """The state that all of them begin with."""
    sandbox: Sandbox
    check: str = ""

    def make_check_sandbox(self) -> Sandbox:
        """The sandbox of the check command, which also finds the programs of linked dependencies."""
        top, ignored = self.worktrees.repository.top, self.worktrees.ignored
        places = [os.path.join(top, path) for path in ignored.programs]
        folders = [path for path in places if os.path.isdir(path)]
        usual = os.environ.get("PATH", PATH) if self.sandbox.unsandboxed else PATH
        return replace(self.sandbox, path=":".join([*folders, usual]))


async def run_attempt(
    attempt: Attempt,
    setup: AttemptSetup,
    ask: Callable[[Attempt], Awaitable[AgentResult]],
    on_change: Callable[[], object],
) -> None:
    """Run an attempt to its end: let the agent work, save its files, and check them. `on_change` follows each step."""
    try:
        attempt.result = await ask(attempt)
        if attempt.result.error is not None:
            attempt.error = attempt.result.error.message
        checkpoints = attempt.worktree.checkpoints
        attempt.saved = saved = await run_in_thread(attempt.worktree.save)
        attempt.files, attempt.added, attempt.removed = await run_in_thread(
            lambda: checkpoints.count_lines(setup.base, saved)
        )
        attempt.seconds = monotonic() - attempt.started
        if setup.check and attempt.files:
            attempt.activity = f"check: {setup.check}"
            on_change()
            attempt.check = await run_check(setup.check, attempt.worktree.folder, setup.make_check_sandbox())
    finally:
        attempt.seconds = attempt.seconds or monotonic() - attempt.started
        attempt.is_done = True
        on_change()


async def run_in_thread(call: Callable[[], T]) -> T:
    """Run a call in a thread. If the caller is cancelled, the call still ends before this returns."""
    task = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
