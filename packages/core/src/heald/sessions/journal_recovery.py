"""Moves the deltas in the journal of a dead process into the log. Its functions run in the thread that writes.

After the death of a process the journal has every delta that a client has seen. After a loss of power it may lack some.
The clients that have seen them hold cursors behind the end of the log, and would take other events of the same numbers
for those. So the block that was open gets empty deltas, more than can be missing. Its message was not finished and is
discarded by whoever continues the session.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from heald.core.envelope import Event, new_event
from heald.core.events import (
    InputJsonDelta,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.sessions.delta_journal import JournalEntry, fence_journal, read_journal
from heald.sessions.event_codec import decode_stored
from heald.sessions.leases import Lease
from heald.sessions.node_lock import NodeLock
from heald.sessions.sqlite_log import LogWriter, read_events
from heald.sessions.store import PAGE
from heald.sessions.store_errors import StoreCorrupt

MAX_UNSYNCED = 1000
"""Deltas of a session that may be in a journal and not in SQLite; so many may be missing after a loss of power."""

Delta = TextDelta | ThinkingDelta | InputJsonDelta
BlockStart = TextContentBlockStart | ThinkingContentBlockStart | ToolUseContentBlockStart
_BlockStop = TextContentBlockStop | ThinkingContentBlockStop | ToolUseContentBlockStop


def list_dead(folder: Path, lock: NodeLock) -> list[Path]:
    """Return the journals whose processes are dead."""
    return [path for path in folder.glob("*") if not lock.is_alive(path.name)]


def recover_journals(folder: Path, lock: NodeLock, connection: sqlite3.Connection) -> None:
    """Move the deltas of all dead processes into their logs, in a transaction, and delete their journals."""
    connection.execute("BEGIN IMMEDIATE")
    dead = list_dead(folder, lock)
    for path in dead:
        recover_journal(path, LogWriter(), connection)
    connection.execute("COMMIT")
    for path in dead:
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()  # fails while a living process has its journal there


def recover_journal(path: Path, log: LogWriter, connection: sqlite3.Connection, *, session: str = "") -> None:
    """Move the deltas of a process into the logs: all, or those of one session. It may be done again.

    The file is named after its process, which may still run: it learns that it has lost a session. The transaction must
    have begun, so that no other commit lies between that and the takeover.
    """
    if not path.exists():
        return
    fence_journal(path)
    is_of_this_boot, entries = read_journal(path)
    for name in dict.fromkeys(entry.session for entry in entries if session in ("", entry.session)):
        _append(name, [entry for entry in entries if entry.session == name], log, connection)
    if not is_of_this_boot:
        rows: list[Any] = connection.execute(
            "SELECT id FROM sessions WHERE node = ? AND work <> 'idle' AND ? IN ('', id)", (path.name, session)
        ).fetchall()
        for (name,) in rows:
            _fill(name, log, connection)


def _append(session: str, entries: Sequence[JournalEntry], log: LogWriter, connection: sqlite3.Connection) -> None:
    """Append what the log lacks. An entry of another epoch is of a writer that does not hold the session any more."""
    held = _find_lease(session, connection)
    if held is None:
        return
    lease, _, last_seq = held
    events: list[Event] = []
    for entry in entries:
        if entry.epoch != lease.epoch:
            continue
        for body in entry.bodies:
            event = decode_stored(body, None, _no_blob)
            if event.seq == last_seq + len(events) + 1:
                events.append(event)
    if events:
        log.append(lease, events, {}, None, connection)


def _fill(session: str, log: LogWriter, connection: sqlite3.Connection) -> None:
    """Append empty deltas to the block that is open at the end of a log, if there is one."""
    held = _find_lease(session, connection)
    if held is None:
        return
    lease, key, last_seq = held
    try:
        block = _find_open_block(key, last_seq, connection)
    except StoreCorrupt:
        return  # opening the session reports it
    if block is None:
        return
    start, last = block
    data = _empty_delta(cast(BlockStart, start.data))
    name = start.id.rpartition("-")[0]
    events = [
        new_event(seq, f"{name}-{seq}", session, start.exchange, data.type, data.layer, last.time, last.epoch, data)
        for seq in range(last_seq + 1, last_seq + 1 + MAX_UNSYNCED)
    ]
    log.append(lease, events, {}, None, connection)


def _find_lease(session: str, connection: sqlite3.Connection) -> tuple[Lease, int, int] | None:
    """Return the lease of a session's last writer, the session's key and its last seq."""
    row: Any = connection.execute(
        "SELECT key, last_seq, epoch, holder, expires FROM sessions WHERE id = ?", (session,)
    ).fetchone()
    if row is None:
        return None
    key, last_seq, epoch, holder, expires = row
    return Lease(session=session, epoch=epoch, holder=holder, expires=expires), key, last_seq


def _find_open_block(key: int, last_seq: int, connection: sqlite3.Connection) -> tuple[Event, Event] | None:
    """Return the start of a block that is open at the end of a log, and the last event of the log."""
    open_blocks: dict[str, Event] = {}
    last: Event | None = None
    seq = 0
    while seq < last_seq:
        page = read_events(connection, key, after=seq, upto=last_seq, limit=PAGE)
        if not page:
            break
        for last in page:
            data = last.data
            if isinstance(data, BlockStart):
                open_blocks[data.block] = last
            elif isinstance(data, _BlockStop):
                open_blocks.pop(data.block, None)
            elif last.type in ("message_start", "message_stop", "message_discarded"):
                open_blocks.clear()
        seq = page[-1].seq
    return (next(iter(open_blocks.values())), last) if open_blocks and last is not None else None


def _empty_delta(start: BlockStart) -> Delta:
    match start:
        case TextContentBlockStart():
            return TextDelta(start.index, start.block, "")
        case ThinkingContentBlockStart():
            return ThinkingDelta(start.index, start.block, "")
        case ToolUseContentBlockStart():
            return InputJsonDelta(start.index, start.block, "")


def _no_blob(digest: str) -> bytes:
    raise StoreCorrupt(f"A journal refers to the blob {digest}, which it cannot hold.")
