"""The tails of the logs that a node writes.

A short append is added to the tail of its log, in the row of the session, whose end is written anyway: a chunk of its
own costs twice as much WAL. Where all nodes can read it, a tail is packed. When a tail is full, or an append is long,
both become a chunk. So whoever appends has to know the tail; one that this node has not written is read first.
"""

from collections.abc import Iterable, Sequence

import msgspec

from heald_nodes.postgres.chunks import ROWS, EncodedChunk, pack_rows, tail_lines
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.packed_tail import PackedTail, is_packed

TAIL_BYTES = 500
"""Bytes in a tail. Longer rows of sessions share a page with fewer others, which costs more than it saves."""
_MOST_PLAIN_BYTES = 1000
"""Bytes of rows that may be added to a packed tail at once."""
_MOST_ROW_BYTES = 8000
"""Bytes of the rows of a packed tail: whoever reads it reads all of them."""
_MOST_TAILS = 4096
_MOST_STREAMS = 1000
"""Packed tails that can be continued without packing their rows again. Each has 16 KiB."""


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
    is_packed: bool
    """Whether the tail is packed."""
    codec: int | None = None
    body: bytes | None = None


class _LogTail(msgspec.Struct):
    epoch: int
    after: int
    lines: list[bytes]
    """Its rows, the oldest first."""
    bytes: int
    """Its size, as it is stored."""
    is_packed: bool = False


class LogTails:
    """The tails of the sessions that were written last."""

    def __init__(self) -> None:
        self._tails: dict[str, _LogTail] = {}
        self._streams: dict[str, PackedTail] = {}

    def keep(self, session: str, epoch: int, kept: KeptAppend, last: int) -> None:
        """An append was stored, with which the log ends at `last`."""
        if kept.tail is None:
            tail = _LogTail(epoch, last, [], 0)
            self._streams.pop(session, None)
        else:
            tail = _LogTail(epoch, kept.after, kept.lines, kept.tail_bytes + len(kept.tail), kept.is_packed)
        self._tails.pop(session, None)
        self._tails[session] = tail
        if len(self._tails) > _MOST_TAILS:
            self.forget(next(iter(self._tails)))

    def forget(self, session: str) -> None:
        """An append may not be stored, or is not the last one."""
        self._tails.pop(session, None)
        self._streams.pop(session, None)

    async def read_missing(self, connection: PostgresConnection, appends: Iterable[tuple[str, int, int]]) -> None:
        """Read the tails that are not known, for appends given by their sessions, epochs and the seqs before them."""
        missing: list[str] = []
        for session, epoch, before in appends:
            if (stored := self._tails.get(session)) is not None and stored.epoch == epoch:
                continue
            self.forget(session)
            self._tails[session] = _LogTail(epoch, before, [], 0)
            if before:
                missing.append(session)
        if not missing:
            return
        rows = await connection.fetch(
            "SELECT id, epoch, tail_after, tail FROM sessions WHERE id = ANY($1) AND length(tail) > 0", missing
        )
        for session, epoch, after, tail in rows:
            try:
                self._tails[session] = _LogTail(epoch, after, tail_lines(tail), len(tail), is_packed(tail))
            except ValueError:  # it is damaged, which its readers report
                self._tails[session] = _LogTail(epoch, after, [tail], len(tail))

    def place(
        self, session: str, epoch: int, before: int, chunk: EncodedChunk, *, writes_tails: bool, packs_tails: bool
    ) -> KeptAppend:
        """Return how an append is to be kept. `keep` or `forget` must follow."""
        tail = self._tails.get(session)
        if tail is None or tail.epoch != epoch:  # the session has another writer, so the append will be refused
            tail = _LogTail(epoch, before, [], 0)
        lines, size = tail.lines + chunk.lines, tail.bytes
        added = None
        if not tail.lines or tail.is_packed == packs_tails:
            if packs_tails:
                added = self._pack(session, tail, chunk)
            elif writes_tails and chunk.codec == ROWS:
                added = _newest_first(chunk.lines, is_first=not tail.lines)
        if added is not None and size + len(added) <= TAIL_BYTES:
            return KeptAppend(tail.after, size, lines, added, packs_tails)
        if not tail.lines:
            return KeptAppend(tail.after, size, lines, None, False, chunk.codec, chunk.body)
        return KeptAppend(tail.after, size, lines, None, False, *pack_rows(lines))

    def _pack(self, session: str, tail: _LogTail, chunk: EncodedChunk) -> bytes | None:
        """Return what a packed tail grows by; None if it is too much."""
        size = sum(map(len, chunk.lines))
        if size > _MOST_PLAIN_BYTES:
            return None
        stream = self._streams.get(session)
        if stream is None or stream.count != len(tail.lines):
            stream = self._streams[session] = PackedTail(tail.lines)
            if len(self._streams) > _MOST_STREAMS:
                del self._streams[next(iter(self._streams))]
        return stream.pack(chunk.lines) if stream.bytes + size <= _MOST_ROW_BYTES else None


def _newest_first(lines: Sequence[bytes], *, is_first: bool) -> bytes:
    """Return rows as they are put in front of a plain tail."""
    text = b"\n".join(reversed(lines))
    return text if is_first else text + b"\n"
