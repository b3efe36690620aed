"""The tails of the logs that a node writes.

A short append is added to the tail of its log, in the row of the session, whose end is written anyway: a chunk of its
own costs twice as much WAL. When a tail is full, or an append is long, both become a chunk. So whoever appends has to
know the tail; one that this node has not written is read first.
"""

from collections.abc import Iterable, Sequence

import msgspec

from heald_nodes.postgres.chunks import ROWS, EncodedChunk, pack_rows
from heald_nodes.postgres.driver import PostgresConnection

TAIL_BYTES = 500
"""Bytes of rows in a tail. Longer rows of sessions share a page with fewer others, which costs more than it saves."""
_MOST_TAILS = 4096


class KeptAppend(msgspec.Struct):
    """How an append is kept: in front of a tail, or as a chunk together with the tail."""

    after: int
    """The seq before the tail; the end of the log if it has none."""
    tail_bytes: int
    """The size of the tail before the append. A tail of another size is not the one that is known here."""
    lines: list[bytes]
    """The rows of the tail and of the append."""
    tail: bytes | None
    """What is put in front of the tail; None for a chunk."""
    codec: int | None = None
    body: bytes | None = None


class _LogTail(msgspec.Struct):
    epoch: int
    after: int
    lines: list[bytes]
    """Its rows, the oldest first."""
    bytes: int
    """Its size, with the line breaks between its rows."""


class LogTails:
    """The tails of the sessions that were written last."""

    def __init__(self) -> None:
        self._tails: dict[str, _LogTail] = {}

    def keep(self, session: str, epoch: int, kept: KeptAppend, last: int) -> None:
        """An append was stored, with which the log ends at `last`."""
        if kept.tail is None:
            tail = _LogTail(epoch, last, [], 0)
        else:
            tail = _LogTail(epoch, kept.after, kept.lines, kept.tail_bytes + len(kept.tail))
        self._tails.pop(session, None)
        self._tails[session] = tail
        if len(self._tails) > _MOST_TAILS:
            del self._tails[next(iter(self._tails))]

    def forget(self, session: str) -> None:
        self._tails.pop(session, None)

    async def read_missing(self, connection: PostgresConnection, appends: Iterable[tuple[str, int, int]]) -> None:
        """Read the tails that are not known, for appends given by their sessions, epochs and the seqs before them."""
        missing: list[str] = []
        for session, epoch, before in appends:
            if (stored := self._tails.get(session)) is not None and stored.epoch == epoch:
                continue
            self._tails[session] = _LogTail(epoch, before, [], 0)
            if before:
                missing.append(session)
        if not missing:
            return
        rows = await connection.fetch(
            "SELECT id, epoch, tail_after, tail FROM sessions WHERE id = ANY($1) AND length(tail) > 0", missing
        )
        for session, epoch, after, tail in rows:
            self._tails[session] = _LogTail(epoch, after, tail.split(b"\n")[::-1], len(tail))

    def place(self, session: str, epoch: int, before: int, chunk: EncodedChunk, *, writes_tails: bool) -> KeptAppend:
        """Return how an append is to be kept."""
        tail = self._tails.get(session)
        if tail is None or tail.epoch != epoch:  # the session has another writer, so the append will be refused
            tail = _LogTail(epoch, before, [], 0)
        lines, size = tail.lines + chunk.lines, tail.bytes
        if writes_tails and chunk.codec == ROWS and size + len(chunk.body) < TAIL_BYTES:
            return KeptAppend(tail.after, size, lines, _newest_first(chunk.lines, is_first=not tail.lines))
        if not tail.lines:
            return KeptAppend(tail.after, size, lines, None, chunk.codec, chunk.body)
        return KeptAppend(tail.after, size, lines, None, *pack_rows(lines))


def _newest_first(lines: Sequence[bytes], *, is_first: bool) -> bytes:
    """Return rows as they are put in front of a tail."""
    text = b"\n".join(reversed(lines))
    return text if is_first else text + b"\n"
