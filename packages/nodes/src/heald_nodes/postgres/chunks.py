"""The chunks of a log: its events in their stored form.

The events that one append brought are a chunk, one compressed row. A line of a chunk is the JSON of an event, and
behind a tab the places of its large contents, which are blobs. Neither can hold a line break or a tab. In a chunk that
was thinned out, a line `=7` stands for seven empty deltas after the event before it.

Where no node of an older Heald is left, the lines are rows as in a SQLite log (`heald.sessions.event_rows`): a run of
deltas is one short line that names an earlier delta of its block, its anchor, which may lie in an earlier chunk.

The last short rows of a log are its tail, in the row of the session, until they are enough for a chunk. A tail is read
as a chunk whose lines are in reverse order, or as packed rows (`packed_tail`).
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence

from heald.core.envelope import Event
from heald.sessions.event_codec import DeltaRun, decode_stored, encode_stored
from heald.sessions.event_rows import RowPacker, RowReader
from heald.sessions.store import EncodedEvents
from heald.sessions.store_errors import NoSuchBlob, StoreCorrupt
from heald_nodes.postgres.packed_tail import is_packed, unpack_tail

PLAIN, ZLIB, RUNS, ROWS, ROWS_ZLIB, TAIL = 0, 1, 2, 3, 4, 5
_LEVEL = 1
_SHORT = 256
"""Bytes of rows that are not worth compressing."""
PACKED = "="
"""Begins the text of compressed rows in a notice."""
_MOST_ANCHORS = 4096
_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, NoSuchBlob, AssertionError)


class EncodedChunk:
    """Events in their stored form: the chunk, the JSON of each event, and their large contents by digest."""

    __slots__ = ("_form", "_is_of_rows", "blobs", "has_refs", "json", "lines")

    def __init__(self, events: Sequence[Event], packer: RowPacker | None = None) -> None:
        """A packer makes rows of the events, for nodes that can read them."""
        self.json: EncodedEvents
        """The JSON of each event; None for one that is not encoded by itself."""
        self.blobs: dict[str, bytes]
        self.has_refs = False
        self.lines: list[bytes]
        self._form: tuple[int, bytes] | None = None
        self._is_of_rows = packer is not None
        if packer is None:
            self._pack_events(events)
        else:
            self._pack_rows(events, packer)

    @property
    def codec(self) -> int:
        return self._stored_form[0]

    @property
    def body(self) -> bytes:
        """UTF-8 if it is not compressed: half a character of a model's text is written as its escape."""
        return self._stored_form[1]

    @property
    def _stored_form(self) -> tuple[int, bytes]:
        """The codec and the body. Most appends to a tail need neither."""
        if self._form is None:
            self._form = pack_rows(self.lines) if self._is_of_rows else pack_lines(self.lines)
        return self._form

    @property
    def notice_rows(self) -> bytes:
        """The chunk as a notice carries it."""
        return notice_rows(self.codec, self.body)

    def _pack_events(self, events: Sequence[Event]) -> None:
        forms = [encode_stored(event) for event in events]
        self.json = [form.json for form in forms]
        self.blobs = {digest: data for form in forms for digest, data in form.blobs.items()}
        self.lines = [join_line(form.body, form.refs) for form in forms]

    def _pack_rows(self, events: Sequence[Event], packer: RowPacker) -> None:
        packed = packer.pack(events[0].session, events)
        self.json, self.blobs = packed.json, packed.blobs
        self.has_refs = any(refs is not None for _, _, refs in packed.rows)
        self.lines = [join_line(body, refs) for _, body, refs in packed.rows]


def join_line(body: bytes, refs: bytes | None) -> bytes:
    return body if refs is None else body + b"\t" + refs


def pack_lines(lines: Sequence[bytes]) -> tuple[int, bytes]:
    """Return the codec and the body of a chunk."""
    plain = b"\n".join(lines)
    packed = zlib.compress(plain, _LEVEL)
    return (ZLIB, packed) if len(packed) < len(plain) else (PLAIN, plain)


def pack_rows(lines: Sequence[bytes]) -> tuple[int, bytes]:
    """Return the codec and the body of a chunk of rows."""
    body = b"\n".join(lines)
    if len(body) > _SHORT:
        short = zlib.compress(body, _LEVEL)
        if len(short) < len(body):
            return ROWS_ZLIB, short
    return ROWS, body


def pack_runs(lines: Sequence[tuple[bytes, int]]) -> tuple[int, bytes]:
    """Return the codec and the body of a chunk whose lines are followed by empty deltas."""
    flat = [part for line, empty in lines for part in ((line, b"=%d" % empty) if empty else (line,))]
    return RUNS, zlib.compress(b"\n".join(flat), _LEVEL)


def unpack_lines(codec: int, body: bytes) -> list[bytes]:
    """Return the lines of a chunk. Raises ValueError if it is damaged."""
    if codec == TAIL:
        return tail_lines(body)
    if codec not in (PLAIN, ZLIB, RUNS, ROWS, ROWS_ZLIB):
        raise ValueError(codec)
    try:
        return (body if codec in (PLAIN, ROWS) else zlib.decompress(body)).split(b"\n")
    except zlib.error as error:
        raise ValueError(str(error)) from None


def tail_lines(tail: bytes) -> list[bytes]:
    """Return the rows of a tail, the oldest first. Raises ValueError if it is damaged."""
    return unpack_tail(tail) if is_packed(tail) else tail.split(b"\n")[::-1]


def notice_rows(codec: int, body: bytes) -> bytes:
    """Return a chunk of rows as the text that a notice carries."""
    return body if codec == ROWS else PACKED.encode() + b64encode(body)


def notice_lines(rows: str) -> list[bytes]:
    """Return the lines of a chunk that a notice has carried. Raises ValueError if it is damaged."""
    if rows.startswith(PACKED):
        return unpack_lines(ROWS_ZLIB, b64decode(rows.removeprefix(PACKED), validate=True))
    return unpack_lines(ROWS, rows.encode())


def split_line(line: bytes) -> tuple[bytes, bytes | None]:
    """Return the JSON of an event, and the places of its large contents if it has any."""
    body, tab, refs = line.partition(b"\t")
    return body, refs if tab else None


def decode_chunk(first_seq: int, codec: int, body: bytes, blob: Callable[[str], bytes]) -> Iterator[Event]:
    """Yield the events of a chunk. Raises StoreCorrupt where it is damaged."""
    seq = first_seq
    before: Event | None = None
    try:
        for line in unpack_lines(codec, body):
            if codec == RUNS and line.startswith(b"=") and before is not None:
                empty = list(DeltaRun(before, int(line[1:])).events())[1:]
                yield from empty
                seq += len(empty)
                continue
            before = decode_stored(*split_line(line), blob)
            if before.seq != seq:
                raise ValueError(before.seq)
            yield before
            seq += 1
    except _DAMAGE:
        raise damaged(seq) from None


def is_of_rows(codec: int) -> bool:
    return codec in (ROWS, ROWS_ZLIB, TAIL)


def find_anchors(codec: int, body: bytes) -> Iterator[int]:
    """Yield the seqs of the anchors of a chunk of rows. Raises ValueError if it is damaged."""
    for line in unpack_lines(codec, body):
        if line.startswith(b"["):
            yield int(line[1:].partition(b",")[0])


def decode_rows(first_seq: int, lines: Sequence[bytes], reader: RowReader) -> list[Event]:
    """Return the events of a chunk of rows. Raises StoreCorrupt where it is damaged or an anchor is missing."""
    events: list[Event] = []
    try:
        for line in lines:
            events += reader.decode_from(first_seq + len(events), *split_line(line))
    except _DAMAGE:
        raise damaged(first_seq + len(events)) from None
    return events


def find_delta(codec: int, body: bytes, seq: int) -> Event | None:
    """Return the delta with a seq that has a row of its own in a chunk."""
    start = b'{"seq":%d,' % seq
    line = next((line for line in unpack_lines(codec, body) if line.startswith(start)), None)
    return decode_stored(line, None, _no_blob) if line is not None else None


def _no_blob(digest: str) -> bytes:
    raise NoSuchBlob(digest)


class AnchorCache:
    """The last anchor of each session that was read, by the key of the session."""

    def __init__(self) -> None:
        self._anchors: dict[int, Event] = {}

    def reader(self, key: int, blob: Callable[[str], bytes] = _no_blob) -> RowReader:
        """Return a reader of the rows of a session that knows its last anchor."""
        reader = RowReader(_no_row, blob)
        anchor = self._anchors.get(key)
        if anchor is not None:
            reader.anchors[anchor.seq] = anchor
        return reader

    def keep(self, key: int, reader: RowReader) -> None:
        """Remember the last anchor that a reader knows."""
        if reader.anchors:
            self._anchors.pop(key, None)
            self._anchors[key] = reader.anchors[max(reader.anchors)]
            if len(self._anchors) > _MOST_ANCHORS:
                del self._anchors[next(iter(self._anchors))]


def _no_row(seq: int) -> None:
    """All anchors that rows need are found before they are decoded."""


def damaged(seq: int) -> StoreCorrupt:
    return StoreCorrupt(f"The log of the session is damaged at event {seq}; restore the database.")
