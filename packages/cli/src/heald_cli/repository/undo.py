"""Undoes and redoes exchanges of a session that works in a folder: the conversation and the files together.

In a git repository each exchange has a checkpoint before it and one after it, so that changes by commands are undone
too. Elsewhere, and for files that git ignores, the changes in the log are undone.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256

from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import FileChanged
from heald.sessions.session import Session
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault
from heald_cli.repository.checkpoints import Checkpoint
from heald_cli.repository.exchange_checkpoints import ExchangeCheckpoints, describe_left_out
from heald_cli.repository.exchange_history import UndoableExchange, find_redo, list_exchanges

_UNDO = "undo"


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
    lines = [f"Undone: {exchange.words[:60]}" for exchange in reversed(dropped)]
    files = _Restoration(session.workspace, saved)
    restored = await asyncio.to_thread(files.restore, dropped, forward=False)
    left_out = saved.checkpoints.left_out if saved.checkpoints is not None else {}
    return [*lines, *restored, *([describe_left_out(left_out)] if left_out else [])]


async def redo(session: Session, events: Sequence[Event], saved: ExchangeCheckpoints) -> list[str]:
    """Repeat what the last undo removed, with its files. Returns lines that describe it."""
    seq = find_redo(events)
    if seq is None:
        return ["There is nothing to redo."]
    before = {exchange.id for exchange in list_exchanges(events)}
    back = [
        exchange
        for exchange in list_exchanges([event for event in events if event.seq <= seq])
        if exchange.id not in before
    ]
    await saved.finish()
    await session.rewind(seq)
    files = _Restoration(session.workspace, saved)
    return [
        *(f"Redone: {exchange.words[:60]}" for exchange in back),
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
        saved_paths: frozenset[str] = frozenset()
        states = self._states_of(exchange.id)
        if self._checkpoints is not None and states is not None:
            before, after = states
            source, target = (before, after) if forward else (after, before)
            try:
                saved_paths = self._checkpoints.files(before) | self._checkpoints.files(after)
                lines = dict(self._checkpoints.move(source, target))
            except (HealdError, OSError) as error:
                return {"": f"The files stay as they are: {error}"}
        by_path: dict[str, list[FileChanged]] = {}
        for change in exchange.changes:
            by_path.setdefault(change.path, []).append(change)
        for path, changes in by_path.items():
            if path not in saved_paths:
                lines[path] = self._restore_from_log(path, changes, forward=forward)
        return lines

    def _states_of(self, exchange: str) -> tuple[Checkpoint, Checkpoint] | None:
        """The checkpoints around an exchange. After a crash the one after it is missing: the next one stands in."""
        labels = [checkpoint.label for checkpoint in self._saved]
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
            digest = sha256(start).hexdigest() if start is not None else None
            return self._replace(path, digest, self._workspace.content_at(path, last.revision))
        except (PathFault, HealdError) as error:
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
