"""Thins out the logs of sessions that nobody has written for a while."""

from heald.core.envelope import Event
from heald.sessions.event_codec import DeltaRun, encode_stored, thin_out
from heald.sessions.store_errors import StoreCorrupt
from heald_nodes.postgres.chunks import TAIL, pack_runs
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.log import LogReader
from heald_nodes.postgres.pool import PostgresPool
from heald_nodes.postgres.schema import NOW
from heald_nodes.postgres.writer import LOCK_BLOBS, keep_blobs

_RUNS = 1000
"""Runs of deltas and other events in one chunk."""
_TAIL_TO_CHUNK = f"""INSERT INTO chunks (session, last_seq, first_seq, codec, body)
    SELECT key, last_seq, tail_after + 1, {TAIL}, tail FROM sessions WHERE key = $1 AND length(tail) > 0"""


async def thin_sessions(pool: PostgresPool, log: LogReader, *, seconds: float, limit: int) -> int:
    """Thin out sessions that are idle and were not changed for `seconds`. Returns how many were."""
    rows = await pool.fetch(
        "SELECT key FROM sessions WHERE work = 'idle' AND holder = '' AND thinned < last_seq AND NOT draft"
        f" AND updated < {NOW} - $1::float8 ORDER BY updated LIMIT $2",
        seconds,
        limit,
    )
    count = 0
    for row in rows:
        count += await _thin_session(pool, log, row[0])
    return count


async def _thin_session(pool: PostgresPool, log: LogReader, key: int) -> bool:
    """Replace the chunks of a session by thinner ones, unless somebody has come to write it."""
    row = await pool.fetchrow("SELECT thinned, last_seq FROM sessions WHERE key = $1", key)
    if row is None:
        return False
    thinned, last = row
    events: list[Event] = []
    try:
        while thinned + len(events) < last:
            events += await log.read(key, last, after=thinned + len(events), upto=last, limit=1000)
    except StoreCorrupt:
        events = []  # it is named by `heald store check`, and stays as it is
    runs = thin_out(events)

    async def replace(connection: PostgresConnection) -> bool:
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
            await connection.execute(_TAIL_TO_CHUNK, key)
            if runs:
                await connection.execute("DELETE FROM chunks WHERE session = $1 AND first_seq > $2", key, thinned)
            for start in range(0, len(runs), _RUNS):
                await _insert(connection, key, runs[start : start + _RUNS])
            await connection.execute("UPDATE sessions SET thinned = $2, tail = '' WHERE key = $1", key, last)
            return True

    return await pool.run(replace)


async def _insert(connection: PostgresConnection, key: int, runs: list[DeltaRun]) -> None:
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
