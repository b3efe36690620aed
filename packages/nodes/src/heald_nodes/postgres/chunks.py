"""The chunks of a log: its events in their stored form.

The events that one append brought are a chunk, one compressed row. A line of a chunk is the JSON of an event, and
behind a tab the places of its large contents, which are blobs. Neither can hold a line break or a tab. In a chunk that
was thinned out, a line `=7` stands for seven empty deltas after the event before it.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence

from heald.core.envelope import Event
from heald.sessions.event_codec import DeltaRun, decode_stored, encode_stored
from heald.sessions.store_errors import NoSuchBlob, StoreCorrupt

PLAIN, ZLIB, RUNS = 0, 1, 2
_LEVEL = 1


class EncodedChunk:
    """Events in their stored form: the chunk, the JSON of each event, and their large contents by digest."""

    __slots__ = ("blobs", "body", "codec", "json")

    def __init__(self, events: Sequence[Event]) -> None:
        self.json: list[bytes] = []
        self.blobs: dict[str, bytes] = {}
        lines: list[bytes] = []
        for event in events:
            form = encode_stored(event)
            self.json.append(form.json)
            self.blobs.update(form.blobs)
            lines.append(form.body if form.refs is None else form.body + b"\t" + form.refs)
        self.codec, self.body = pack_lines(lines)


def pack_lines(lines: Sequence[bytes]) -> tuple[int, bytes]:
    """Return the codec and the body of a chunk."""
    plain = b"\n".join(lines)
    packed = zlib.compress(plain, _LEVEL)
    return (ZLIB, packed) if len(packed) < len(plain) else (PLAIN, plain)


def pack_runs(lines: Sequence[tuple[bytes, int]]) -> tuple[int, bytes]:
    """Return the codec and the body of a chunk whose lines are followed by empty deltas."""
    flat = [part for line, empty in lines for part in ((line, b"=%d" % empty) if empty else (line,))]
    return RUNS, zlib.compress(b"\n".join(flat), _LEVEL)


def unpack_lines(codec: int, body: bytes) -> list[bytes]:
    """Return the lines of a chunk. Raises ValueError if it is damaged."""
    if codec not in (PLAIN, ZLIB, RUNS):
        raise ValueError(codec)
    try:
        return (body if codec == PLAIN else zlib.decompress(body)).split(b"\n")
    except zlib.error as error:
        raise ValueError(str(error)) from None


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
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, NoSuchBlob, AssertionError):
        raise damaged(seq) from None


def damaged(seq: int) -> StoreCorrupt:
    return StoreCorrupt(f"The log of the session is damaged at event {seq}; restore the database.")
