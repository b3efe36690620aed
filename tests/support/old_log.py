"""Logs that version 0.1 wrote, with ids in fields that have other names now."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from heald.sessions.session_info import SessionInfo
from heald.sessions.sqlite import SqliteStore

_LOGS = Path(__file__).parent / "old_logs"
OLD_ARCHIVE = _LOGS / "session.heald"
"""An exported session. Its writer stopped while its second exchange waited for an approval."""
OLD_EVENTS: Sequence[bytes] = (_LOGS / "events.jsonl").read_bytes().splitlines()
"""An event of each type whose fields have other names now."""
OLD_LOG: Sequence[bytes] = OLD_ARCHIVE.read_bytes().splitlines()[1:]
"""The events of the exported session."""
OLD_EXCHANGE = OLD_LOG[: 1 + next(at for at, line in enumerate(OLD_LOG) if b'"exchange_response"' in line)]
"""Its first exchange, which is finished."""


async def write_old_store(file: Path) -> str:
    """Write the exported session into a new SQLite store, byte for byte. Returns the session's id."""
    last = json.loads(OLD_LOG[-1])
    store = SqliteStore(file)
    await store.create(SessionInfo(id=last["session"], title="Two changes"))
    await store.close()
    with sqlite3.connect(file) as connection:
        rows = [(seq, body) for seq, body in enumerate(OLD_LOG, 1)]
        connection.executemany("INSERT INTO events SELECT key, ?, ?, NULL FROM sessions", rows)
        connection.execute(
            "UPDATE sessions SET last_seq = ?, epoch = ?, work = 'running'", (last["seq"], last["epoch"])
        )
    connection.close()
    return last["session"]
