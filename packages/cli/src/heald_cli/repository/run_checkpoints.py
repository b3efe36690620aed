"""Saves the state of a repository before and after `heald run`, so that `heald undo` restores it."""

import asyncio
from contextlib import suppress
from typing import Any

from heald.commands.terminal import print_note
from heald.core.errors import HealdError
from heald.tools.runtime import Invocation, Next
from heald_cli.repository.applied_attempts import AppliedAttempts
from heald_cli.repository.checkpoints import Checkpoint


class RunCheckpoints:
    """The states around one run. They are saved beside its first request; no call runs before the first is saved.

    A failure ends the saving, not the run.
    """

    def __init__(self, applied: AppliedAttempts, title: str) -> None:
        self._applied = applied
        self._title = title
        self._saving: asyncio.Task[Checkpoint | None] | None = None

    def start(self) -> None:
        """Begin to save the state before the run."""
        self._saving = asyncio.get_running_loop().create_task(self._save_before(), name="heald-run-checkpoint")

    async def wait_until_saved(self, invocation: Invocation, run: Next) -> Any:
        """Run a call when the state before the run is saved (middleware)."""
        await self.wait()
        return await run(invocation)

    async def wait(self) -> None:
        if self._saving is not None:
            await asyncio.shield(self._saving)

    async def finish(self) -> None:
        """Save the state after the run, if the run changed files."""
        before = await self._saving if self._saving is not None else None
        if before is None:
            return
        with suppress(HealdError, OSError):  # the state before it was saved; `heald undo` finds no run
            await asyncio.to_thread(self._applied.save_after, before, self._title)

    async def _save_before(self) -> Checkpoint | None:
        try:
            return await asyncio.to_thread(self._applied.save_before, self._title)
        except (HealdError, OSError) as error:
            print_note(f"`heald undo` cannot restore the state before this run: {error}")
            return None
