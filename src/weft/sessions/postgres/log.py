"""Reads the logs of sessions from their chunks, and thins out those that nobody has written for a while."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.core.envelope import Event
from weft.sessions.event_codec import DeltaRun, blob_digests, encode_stored, thin_out
from weft.sessions.postgres.connection import PostgresConnection, PostgresPool
from weft.sessions.postgres.schema import NOW
from weft.sessions.postgres.writer import (
    LOCK_BLOBS,
    damaged,
    decode_chunk,
    keep_blobs,
    pack_runs,
    split_line,
    unpack_lines,
)
from weft.sessions.store import NoSuchBlob, StoreCorrupt

_PAGE_BYTES = 4 * 1024 * 1024
"""The size in bytes at which a page of events is full."""
_PAGE_CHUNKS = 100
"""Chunks of one session that are read together with those of others."""

Chunk = Sequence[Any]
"""The first seq, the codec and the body of a chunk."""
_RUNS = 1000
"""Runs of deltas and other events in one chunk."""


class LogReader:
    """Decodes chunks, with the blobs that belong to their events."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def read(self, key: int, end: int, *, after: int, upto: int | None, limit: int) -> Sequence[Event]:
        """Return events of the session with a key, whose log ends at `end`."""
        after, last = max(after, 0), upto if upto is not None else 2**62
        rows = await self._pool.fetch(
            "SELECT first_seq, codec, body FROM (SELECT *, sum(length(body)) OVER (ORDER BY last_seq) AS size"
            " FROM (SELECT * FROM chunks WHERE session = $1 AND last_seq > $2 AND first_seq <= $3"
            " ORDER BY last_seq LIMIT $4) AS found) AS sized"
            " WHERE size - length(body) <= $5 ORDER BY last_seq",
            key,
            after,
            last,
            limit,
            _PAGE_BYTES,
        )
        blobs = await self._read_blobs([(key, row) for row in rows])
        found = [event for event in _decode(after, rows, blobs.get(key, {})) if event.seq <= last][:limit]
        if not found and after < min(last, end):
            raise lacking(after + 1)
        return found

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        """Return the next events of several sessions with one query."""
        rows = await self._pool.fetch(
            "SELECT w.id, w.after, s.key, f.first_seq, f.codec, f.body"
            " FROM unnest($1::text[], $2::bigint[]) AS w(id, after) JOIN sessions s ON s.id = w.id"
            " CROSS JOIN LATERAL (SELECT first_seq, last_seq, codec, body FROM chunks"
            " WHERE session = s.key AND last_seq > w.after ORDER BY last_seq LIMIT $3) AS f"
            " ORDER BY w.id, f.last_seq",
            list(cursors),
            list(cursors.values()),
            _PAGE_CHUNKS,
        )
        blobs = await self._read_blobs([(row[2], row[3:]) for row in rows])
        chunks: dict[tuple[str, int], list[Chunk]] = {}
        for row in rows:
            chunks.setdefault((row[0], row[2]), []).append(row[3:])
        return {session: _decode(cursors[session], own, blobs.get(key, {})) for (session, key), own in chunks.items()}

    async def _read_blobs(self, chunks: Sequence[tuple[int, Chunk]]) -> dict[int, dict[str, bytes]]:
        """Read the large contents of chunks, by the key of the session."""
        wanted: set[tuple[int, str]] = set()
        for key, (first_seq, codec, body) in chunks:
            try:
                refs = [refs for line in unpack_lines(codec, body) if (refs := split_line(line)[1]) is not None]
                wanted |= {(key, digest) for each in refs for digest in blob_digests(each)}
            except ValueError:
                raise damaged(first_seq) from None
        found: dict[int, dict[str, bytes]] = {}
        if not wanted:
            return found
        pairs = sorted(wanted)
        rows = await self._pool.fetch(
            "SELECT k.session, b.digest, b.data FROM unnest($1::bigint[], $2::text[]) AS w(session, digest)"
            " JOIN session_blobs k USING (session, digest) JOIN blobs b USING (digest)",
            [key for key, _ in pairs],
            [digest for _, digest in pairs],
        )
        for key, digest, data in rows:
            found.setdefault(key, {})[digest] = data
        return found


def lacking(seq: int) -> StoreCorrupt:
    return StoreCorrupt(f"The log of the session lacks event {seq}; restore the database.")


def _decode(after: int, chunks: Sequence[Chunk], blobs: Mapping[str, bytes]) -> list[Event]:
    """Return the events of chunks after a seq. Raises StoreCorrupt at a gap."""

    def blob(digest: str) -> bytes:
        if digest not in blobs:
            raise NoSuchBlob(digest)
        return blobs[digest]

    found: list[Event] = []
    for first_seq, codec, body in chunks:
        if first_seq > after + 1:
            raise lacking(after + 1)
        for event in decode_chunk(first_seq, codec, body, blob):
            if event.seq == after + 1:
                found.append(event)
                after = event.seq
    return found


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
        events = []  # it is named by `weft store check`, and stays as it is
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
            if runs:
                await connection.execute("DELETE FROM chunks WHERE session = $1 AND first_seq > $2", key, thinned)
            for start in range(0, len(runs), _RUNS):
                await _insert(connection, key, runs[start : start + _RUNS])
            await connection.execute("UPDATE sessions SET thinned = $2 WHERE key = $1", key, last)
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
