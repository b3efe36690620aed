"""Undoes and redoes exchanges of a session that works in a folder: the conversation and the files together.

In a git repository each exchange has a checkpoint before it and one after it, so that changes by commands are undone
too. Elsewhere, and for files that git ignores, the changes in the log are undone.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.events import ExchangeRequest, ExchangeResponse, FileChanged, SessionRewound
from weft.sessions.session import Session
from weft.tools.repository.checkpoints import Checkpoint, Checkpoints
from weft.tools.repository.status import describe_outside_changes
from weft.tools.runtime import Invocation, Next
from weft.tools.workspace.base import PathFault, Workspace
from weft.tools.workspace.disk import DiskWorkspace

_log = logging.getLogger("weft.undo")
_UNDO = "undo"


@dataclass(slots=True)
class UndoableExchange:
    """An exchange of the conversation as it is now."""

    id: str
    seq: int
    """The number of its request in the log."""
    words: str
    changes: list[FileChanged] = field(default_factory=list[FileChanged])


class ExchangeCheckpoints:
    """Saves a checkpoint before and after each exchange. A failure ends the saving, not the exchange."""

    def __init__(self, checkpoints: Checkpoints | None) -> None:
        self.checkpoints = checkpoints
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

    async def describe_outside_changes(self) -> str:
        """Describe the files that somebody else changed since the last exchange of this process; empty if none did."""
        await self.finish()
        last, checkpoints = self._last_after, self.checkpoints
        if last is None or checkpoints is None or self.problem:
            return ""
        try:
            now = await asyncio.to_thread(checkpoints.save, "sent")
            return await asyncio.to_thread(describe_outside_changes, checkpoints, last, now)
        except (WeftError, OSError) as error:
            _log.warning("The changes of the folder are not known: %s", error)
            return ""

    def _save(self, label: str) -> None:
        if self.checkpoints is None or self.problem:
            return
        saving = self._save_after(self._saving, self.checkpoints, label)
        self._saving = asyncio.get_running_loop().create_task(saving, name="weft-checkpoint")

    async def _save_after(self, earlier: asyncio.Task[None] | None, checkpoints: Checkpoints, label: str) -> None:
        if earlier is not None:
            await earlier
        try:
            done = await asyncio.to_thread(checkpoints.save, label)
            self._last_after = done if label.startswith("after ") else self._last_after
        except (WeftError, OSError) as error:
            self.problem = str(error)
            _log.warning("No checkpoint was saved: %s", error)


def list_exchanges(events: Sequence[Event]) -> list[UndoableExchange]:
    """Return the exchanges of the conversation, without those that were undone."""
    shown: list[tuple[int, list[UndoableExchange]]] = []  # the conversation after each change of it, by seq
    current: list[UndoableExchange] = []
    by_id: dict[str | None, UndoableExchange] = {}
    for event in events:
        match event.data:
            case ExchangeRequest(message=message):
                found = UndoableExchange(event.exchange or "", event.seq, " ".join(message.words.split()))
                by_id[event.exchange] = found
                current = [*current, found]
            case FileChanged() if event.exchange in by_id:
                by_id[event.exchange].changes.append(event.data)
                continue
            case SessionRewound(seq=seq):
                current = next((each for at, each in reversed(shown) if at <= seq), list[UndoableExchange]())
            case _:
                continue
        shown.append((event.seq, current))
    return current


def find_redo(events: Sequence[Event]) -> int | None:
    """Return the event to go forward to, if the last thing that happened to the conversation is an undo."""
    undone: list[int] = []
    for event in events:
        if isinstance(event.data, ExchangeRequest):
            undone.clear()
        elif isinstance(event.data, SessionRewound):
            if undone and event.data.seq == undone[-1] - 1:
                undone.pop()
            else:
                undone.append(event.seq)
    return undone[-1] - 1 if undone else None


async def undo(session: Session, events: Sequence[Event], saved: ExchangeCheckpoints, count: int = 1) -> list[str]:
    """Go back to before the last exchanges, with their files. Returns lines that describe it."""
    exchanges = list_exchanges(events)
    if not exchanges:
        return ["There is nothing to undo."]
    if not 1 <= count <= len(exchanges):
        return [f"The conversation has {len(exchanges)} exchanges; give a number from 1 to {len(exchanges)}."]
    dropped = exchanges[-count:]
    await saved.finish()
    await session.rewind(dropped[0].seq - 1)
    lines = [f"Undone: {each.words[:60]}" for each in reversed(dropped)]
    files = _Restoration(session.workspace, saved)
    return [*lines, *await asyncio.to_thread(files.restore, dropped, forward=False)]


async def redo(session: Session, events: Sequence[Event], saved: ExchangeCheckpoints) -> list[str]:
    """Repeat what the last undo removed, with its files. Returns lines that describe it."""
    seq = find_redo(events)
    if seq is None:
        return ["There is nothing to redo."]
    before = {each.id for each in list_exchanges(events)}
    back = [each for each in list_exchanges([event for event in events if event.seq <= seq]) if each.id not in before]
    await saved.finish()
    await session.rewind(seq)
    files = _Restoration(session.workspace, saved)
    return [
        *(f"Redone: {each.words[:60]}" for each in back),
        *await asyncio.to_thread(files.restore, back, forward=True),
    ]


class _Restoration:
    """Restores files, one exchange after the other. A file that was changed since stays as it is."""

    def __init__(self, workspace: Workspace, saved: ExchangeCheckpoints) -> None:
        self._workspace = workspace
        self._checkpoints = None if saved.problem else saved.checkpoints
        self._saved = list(reversed(self._checkpoints.list())) if self._checkpoints is not None else []

    def restore(self, exchanges: Sequence[UndoableExchange], *, forward: bool) -> list[str]:
        """Repeat the changes of exchanges or, with `forward=False`, undo them, the last one first."""
        lines: dict[str, str] = {}
        for exchange in exchanges if forward else reversed(exchanges):
            lines |= self._apply(exchange, forward=forward)
        return [line for line in lines.values() if line]

    def _apply(self, exchange: UndoableExchange, *, forward: bool) -> dict[str, str]:
        lines: dict[str, str] = {}
        known: frozenset[str] = frozenset()
        states = self._states_of(exchange.id)
        if self._checkpoints is not None and states is not None:
            before, after = states
            source, target = (before, after) if forward else (after, before)
            try:
                known = self._checkpoints.files(before) | self._checkpoints.files(after)
                lines = dict(self._checkpoints.move(source, target))
            except (WeftError, OSError) as error:
                return {"": f"The files stay as they are: {error}"}
        by_path: dict[str, list[FileChanged]] = {}
        for change in exchange.changes:
            by_path.setdefault(change.path, []).append(change)
        for path, changes in by_path.items():
            if path not in known:
                lines[path] = self._restore_from_log(path, changes, forward=forward)
        return lines

    def _states_of(self, exchange: str) -> tuple[Checkpoint, Checkpoint] | None:
        """The checkpoints around an exchange. After a crash the one after it is missing: the next one stands in."""
        labels = [each.label for each in self._saved]
        if self._checkpoints is None or f"before {exchange}" not in labels:
            return None
        at = labels.index(f"before {exchange}")
        end = labels.index(f"after {exchange}") if f"after {exchange}" in labels else at + 1
        return self._saved[at], self._saved[end] if end < len(labels) else self._checkpoints.save(_UNDO)

    def _restore_from_log(self, path: str, changes: Sequence[FileChanged], *, forward: bool) -> str:
        first, last = changes[0], changes[-1]
        try:
            start = self._workspace.content_at(path, first.revision - 1)
            if not forward:
                return self._replace(path, last.hash, start)
            found = sha256(start).hexdigest() if start is not None else None
            return self._replace(path, found, self._workspace.content_at(path, last.revision))
        except (PathFault, WeftError) as error:
            return f"{path} stays as it is: {error}"

    def _replace(self, path: str, expected: str | None, content: bytes | None) -> str:
        workspace = self._workspace
        now = workspace.read(path, remember=False) if workspace.exists(path) else None
        if now is None and content is None:
            return ""
        if (sha256(now).hexdigest() if now is not None else None) != expected:
            return f"{path} stays as it is: it was changed since."
        # With a workspace of its own: the session's revisions notice it like any change from outside.
        disk = DiskWorkspace(workspace.root)
        try:
            if content is None:
                disk.delete(path, on_change=id)
                return f"{path} is deleted again."
            disk.write(path, content, on_change=id)
            return f"{path} is restored."
        finally:
            disk.close()
