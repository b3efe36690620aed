"""Reads the logs of sessions from their chunks, and thins out those that nobody has written for a while."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from heald.core.envelope import Event
from heald.sessions.event_codec import blob_digests
from heald.sessions.store_errors import NoSuchBlob, StoreCorrupt
from heald_nodes.postgres.chunks import (
    TAIL,
    AnchorCache,
    damaged,
    decode_chunk,
    decode_rows,
    find_anchors,
    find_delta,
    is_of_rows,
    split_line,
    unpack_lines,
)
from heald_nodes.postgres.pool import PostgresPool

_PAGE_BYTES = 4 * 1024 * 1024
"""The size in bytes at which a page of events is full."""
_PAGE_CHUNKS = 100
"""Chunks of one session that are read together with those of others."""
_TAIL_ROW = f"tail_after + 1 AS first_seq, {TAIL} AS codec, tail AS body"
"""The tail of a log as the last of its chunks. Both are read by one statement: a tail may become a chunk meanwhile."""

Chunk = Sequence[Any]
"""The first seq, the codec and the body of a chunk."""


class _ChunkReader:
    """Decodes the chunks of one session."""

    def __init__(self, anchors: AnchorCache, key: int, blobs: Mapping[str, bytes]) -> None:
        self._anchors = anchors
        self._key = key
        self._blobs = blobs
        self._rows = anchors.reader(key, self._blob)

    def _blob(self, digest: str) -> bytes:
        if digest not in self._blobs:
            raise NoSuchBlob(digest)
        return self._blobs[digest]

    def find_missing(self, chunks: Sequence[Chunk]) -> set[int]:
        """Return the anchors of chunks that lie before them and are not known."""
        missing: set[int] = set()
        for first_seq, codec, body in chunks:
            if is_of_rows(codec):
                try:
                    missing.update(seq for seq in find_anchors(codec, body) if seq < chunks[0][0])
                except ValueError:
                    raise damaged(first_seq) from None
        return missing - self._rows.anchors.keys()

    def add_anchor(self, seq: int, codec: int, body: bytes) -> None:
        """Add the anchor with a seq from its chunk. One that is damaged is missed by the run that names it."""
        with suppress(ValueError, TypeError, LookupError, NoSuchBlob):
            if (anchor := find_delta(codec, body, seq)) is not None:
                self._rows.anchors[seq] = anchor

    def decode(self, chunk: Chunk) -> Iterable[Event]:
        first_seq, codec, body = chunk
        if not is_of_rows(codec):
            return decode_chunk(first_seq, codec, body, self._blob)
        try:
            lines = unpack_lines(codec, body)
        except ValueError:
            raise damaged(first_seq) from None
        return decode_rows(first_seq, lines, self._rows)

    def keep_anchor(self) -> None:
        self._anchors.keep(self._key, self._rows)


class LogReader:
    """Decodes chunks, with the blobs that belong to their events."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self.anchors = AnchorCache()

    async def read(self, key: int, end: int, *, after: int, upto: int | None, limit: int) -> Sequence[Event]:
        """Return events of the session with a key, whose log ends at `end`."""
        after, last = max(after, 0), upto if upto is not None else 2**62
        rows = await self._pool.fetch(
            "SELECT first_seq, codec, body FROM (SELECT *, sum(length(body)) OVER (ORDER BY last_seq) AS size FROM"
            " (SELECT * FROM (SELECT last_seq, first_seq, codec, body FROM chunks"
            " WHERE session = $1 AND last_seq > $2 AND first_seq <= $3 ORDER BY last_seq LIMIT $4) AS stored"
            f" UNION ALL SELECT last_seq, {_TAIL_ROW} FROM sessions"
            " WHERE key = $1 AND last_seq > $2 AND tail_after < $3 AND length(tail) > 0"
            " ORDER BY last_seq LIMIT $4) AS found) AS sized"
            " WHERE size - length(body) <= $5 ORDER BY last_seq",
            key,
            after,
            last,
            limit,
            _PAGE_BYTES,
        )
        blobs = await self._read_blobs([(key, row) for row in rows])
        readers = await self._find_readers({key: rows}, blobs)
        events = [event for event in _decode(after, rows, readers[key]) if event.seq <= last][:limit]
        if not events and after < min(last, end):
            raise lacking(after + 1)
        return events

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        """Return the next events of several sessions with one query."""
        rows = await self._pool.fetch(
            "SELECT w.id, w.after, s.key, f.first_seq, f.codec, f.body"
            " FROM unnest($1::text[], $2::bigint[]) AS w(id, after) JOIN sessions s ON s.id = w.id"
            " CROSS JOIN LATERAL (SELECT * FROM (SELECT last_seq, first_seq, codec, body FROM chunks"
            " WHERE session = s.key AND last_seq > w.after ORDER BY last_seq LIMIT $3) AS stored"
            f" UNION ALL SELECT s.last_seq, {_TAIL_ROW} WHERE s.last_seq > w.after AND length(s.tail) > 0"
            " ORDER BY last_seq LIMIT $3) AS f"
            " ORDER BY w.id, f.last_seq",
            list(cursors),
            list(cursors.values()),
            _PAGE_CHUNKS,
        )
        blobs = await self._read_blobs([(row[2], row[3:]) for row in rows])
        chunks: dict[tuple[str, int], list[Chunk]] = {}
        for row in rows:
            chunks.setdefault((row[0], row[2]), []).append(row[3:])
        readers = await self._find_readers({key: rows for (_, key), rows in chunks.items()}, blobs)
        return {
            session: _decode(cursors[session], session_chunks, readers[key])
            for (session, key), session_chunks in chunks.items()
        }

    async def _find_readers(
        self, chunks: Mapping[int, Sequence[Chunk]], blobs: Mapping[int, Mapping[str, bytes]]
    ) -> dict[int, _ChunkReader]:
        """Return a reader for the chunks of each session, by its key, that knows the anchors before them."""
        readers = {key: _ChunkReader(self.anchors, key, blobs.get(key, {})) for key in chunks}
        missing = [(key, seq) for key, rows in chunks.items() for seq in readers[key].find_missing(rows)]
        if not missing:
            return readers
        rows = await self._pool.fetch(
            "SELECT w.session, w.seq, f.codec, f.body FROM unnest($1::bigint[], $2::bigint[]) AS w(session, seq)"
            " CROSS JOIN LATERAL (SELECT codec, body FROM chunks WHERE session = w.session AND last_seq >= w.seq"
            " ORDER BY last_seq LIMIT 1) AS f",
            [key for key, _ in missing],
            [seq for _, seq in missing],
        )
        for key, seq, codec, body in rows:
            readers[key].add_anchor(seq, codec, body)
        return readers

    async def _read_blobs(self, chunks: Sequence[tuple[int, Chunk]]) -> dict[int, dict[str, bytes]]:
        """Read the large contents of chunks, by the key of the session."""
        references: set[tuple[int, str]] = set()
        for key, (first_seq, codec, body) in chunks:
            try:
                refs = [refs for line in unpack_lines(codec, body) if (refs := split_line(line)[1]) is not None]
                references |= {(key, digest) for ref in refs for digest in blob_digests(ref)}
            except ValueError:
                raise damaged(first_seq) from None
        contents: dict[int, dict[str, bytes]] = {}
        if not references:
            return contents
        pairs = sorted(references)
        rows = await self._pool.fetch(
            "SELECT k.session, b.digest, b.data FROM unnest($1::bigint[], $2::text[]) AS w(session, digest)"
            " JOIN session_blobs k USING (session, digest) JOIN blobs b USING (digest)",
            [key for key, _ in pairs],
            [digest for _, digest in pairs],
        )
        for key, digest, data in rows:
            contents.setdefault(key, {})[digest] = data
        return contents


def lacking(seq: int) -> StoreCorrupt:
    return StoreCorrupt(f"The log of the session lacks event {seq}; restore the database.")


def _decode(after: int, chunks: Sequence[Chunk], reader: _ChunkReader) -> list[Event]:
    """Return the events of chunks after a seq. Raises StoreCorrupt at a gap."""
    events: list[Event] = []
    for chunk in chunks:
        if chunk[0] > after + 1:
            raise lacking(after + 1)
        for event in reader.decode(chunk):
            if event.seq == after + 1:
                events.append(event)
                after = event.seq
    reader.keep_anchor()
    return events
