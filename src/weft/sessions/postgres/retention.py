"""Thins out the logs of sessions that nobody has written for a while."""

from weft.core.envelope import Event
from weft.sessions.event_codec import encode_stored
from weft.sessions.postgres.chunks import pack_runs
from weft.sessions.postgres.connection import ConnectionPool
from weft.sessions.postgres.driver import Connection
from weft.sessions.postgres.log import LogReader
from weft.sessions.postgres.schema import NOW
from weft.sessions.postgres.writer import LOCK_BLOBS, keep_blobs
from weft.sessions.store import StoreCorrupt
from weft.sessions.thinning import DeltaRun, thin_out

_RUNS = 1000
"""Runs of deltas and other events in one chunk."""


async def thin_sessions(pool: ConnectionPool, log: LogReader, *, seconds: float, limit: int) -> int:
    """Thin out sessions that are idle and were not changed for `seconds`. Returns how many were."""
    rows = await pool.run(
        lambda connection: connection.fetch(
            "SELECT key FROM sessions WHERE work = 'idle' AND holder = '' AND thinned < last_seq AND NOT draft"
            f" AND updated < {NOW} - $1::float8 ORDER BY updated LIMIT $2",
            seconds,
            limit,
        )
    )
    count = 0
    for row in rows:
        count += await _thin_session(pool, log, row[0])
    return count


async def _thin_session(pool: ConnectionPool, log: LogReader, key: int) -> bool:
    """Replace the chunks of a session by thinner ones, unless somebody has come to write it."""
    row = await pool.run(
        lambda connection: connection.fetchrow("SELECT thinned, last_seq FROM sessions WHERE key = $1", key)
    )
    if row is None:
        return False
    thinned, last = row
    events: list[Event] = []
    try:
        while thinned + len(events) < last:
            events += await log.read(key, last, after=thinned + len(events), upto=last, limit=1000)
    except StoreCorrupt:
        events = []  # it is named by `weft store check`, and stays as it is
    runs = thin_out(events)

    async def replace(connection: Connection) -> bool:
        async with connection.transaction():
            await connection.execute(LOCK_BLOBS)
            free = await connection.fetchval(
                "SELECT true FROM sessions WHERE key = $1 AND work = 'idle' AND holder = '' AND last_seq = $2"
                " AND thinned = $3 FOR UPDATE",
                key,
                last,
                thinned,
            )
            if not free:
                return False
            if runs:
                await connection.execute("DELETE FROM chunks WHERE session = $1 AND first_seq > $2", key, thinned)
            for start in range(0, len(runs), _RUNS):
                await _insert(connection, key, runs[start : start + _RUNS])
            await connection.execute("UPDATE sessions SET thinned = $2 WHERE key = $1", key, last)
            return True

    return await pool.run(replace)


async def _insert(connection: Connection, key: int, runs: list[DeltaRun]) -> None:
    lines: list[tuple[bytes, int]] = []
    blobs: dict[str, bytes] = {}
    for run in runs:
        form = encode_stored(run.event)
        blobs.update(form.blobs)
        lines.append((form.body if form.refs is None else form.body + b"\t" + form.refs, run.empty))
    codec, body = pack_runs(lines)
    await connection.execute(
        "INSERT INTO chunks (session, last_seq, first_seq, codec, body) VALUES ($1, $2, $3, $4, $5)",
        key,
        runs[-1].event.seq + runs[-1].empty,
        runs[0].event.seq,
        codec,
        body,
    )
    await keep_blobs(connection, [(key, digest, data) for digest, data in blobs.items()])
