"""Saves a checkpoint before and after each exchange of a session."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.tools.runtime import Invocation, Next
from heald.tools.sanitize import sanitize_text
from heald_cli.repository.checkpoint_store import MEGABYTE
from heald_cli.repository.checkpoints import MAX_BYTES, Checkpoint, Checkpoints
from heald_cli.repository.status import describe_outside_changes

_log = logging.getLogger("heald.undo")


class ExchangeCheckpoints:
    """Saves a checkpoint before and after each exchange. A failure ends the saving, not the exchange."""

    def __init__(self, checkpoints: Checkpoints | None, deleted: int = 0) -> None:
        """`deleted` is how many old conversations lost their checkpoints in the user's `.git`."""
        self.checkpoints = checkpoints
        self._deleted = deleted
        self._named: set[str] = set()  # files of which a note says that they are in no checkpoint
        self.problem = ""
        """The reason why no checkpoint is saved any more."""
        self._saving: asyncio.Task[None] | None = None
        self._last_after: Checkpoint | None = None

    def on_event(self, event: Event) -> None:
        """Begin to save (reactor)."""
        if isinstance(event.data, ExchangeRequest):
            self._save(f"before {event.exchange}")
        elif isinstance(event.data, ExchangeResponse):
            self._save(f"after {event.exchange}")

    async def wait_until_saved(self, invocation: Invocation, run: Next) -> Any:
        """Run a call when the state before its exchange is saved (middleware)."""
        await self.finish()
        return await run(invocation)

    async def finish(self) -> None:
        """Wait for the checkpoint that is being saved."""
        if self._saving is not None:
            await asyncio.shield(self._saving)

    def collect_notes(self) -> list[str]:
        """Return sentences about the checkpoints that were not returned before."""
        notes: list[str] = []
        if self._deleted:
            notes.append(
                f"Checkpoints of {self._deleted} old conversations are deleted from .git, where older versions of "
                "Heald stored them; `git gc` frees their space."
            )
        left_out = self.checkpoints.left_out if self.checkpoints is not None else {}
        new = {path: size for path, size in left_out.items() if path not in self._named}
        if new:
            notes.append(describe_left_out(new))
        self._deleted = 0
        self._named |= new.keys()
        return notes

    async def describe_outside_changes(self) -> str:
        """Describe the files that somebody else changed since the last exchange of this process; empty if none did."""
        await self.finish()
        last, checkpoints = self._last_after, self.checkpoints
        if last is None or checkpoints is None or self.problem:
            return ""
        try:
            now = await asyncio.to_thread(checkpoints.save, "sent")
            return await asyncio.to_thread(describe_outside_changes, checkpoints, last, now)
        except (HealdError, OSError) as error:
            _log.warning("The changes of the folder are not known: %s", error)
            return ""

    def _save(self, label: str) -> None:
        if self.checkpoints is None or self.problem:
            return
        saving = self._save_after(self._saving, self.checkpoints, label)
        self._saving = asyncio.get_running_loop().create_task(saving, name="heald-checkpoint")

    async def _save_after(self, earlier: asyncio.Task[None] | None, checkpoints: Checkpoints, label: str) -> None:
        if earlier is not None:
            await earlier
        try:
            done = await asyncio.to_thread(checkpoints.save, label)
            if label.startswith("after "):
                self._last_after = done
                await asyncio.to_thread(checkpoints.tidy)
        except (HealdError, OSError) as error:
            self.problem = str(error)
            _log.warning("No checkpoint was saved: %s", error)


def describe_left_out(sizes: Mapping[str, int]) -> str:
    """Describe the files that are in no checkpoint because they are large."""
    (path, size), *others = sorted(sizes.items(), key=lambda item: -item[1])
    more = f" and {len(others)} more files" if others else ""
    return (
        f"{sanitize_text(path)} ({size // MEGABYTE} MB){more}: files above {MAX_BYTES // MEGABYTE} MB are in no "
        "checkpoint, and /undo does not restore them."
    )
