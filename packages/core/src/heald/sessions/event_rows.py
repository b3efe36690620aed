"""The rows of a SQLite log: an event each, or a run of deltas of one block.

A row is stored under the last seq that it holds. The body of an event is its JSON object. The body of a run is a JSON
array: the seq of its anchor, then for each delta the microseconds since the delta before it, and its text. The anchor
is an earlier delta of the same block, in a row of its own; it has all that the deltas of the block share. In a log that
was thinned out, an array of an anchor and a count stands for so many empty deltas at the time of the anchor.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import msgspec

from heald.core.envelope import Event, new_event
from heald.core.events import InputJsonDelta, TextDelta, ThinkingDelta, ToolOutputDelta
from heald.core.json import encode, loads
from heald.sessions.event_codec import decode_stored, empty_deltas, encode_stored
from heald.sessions.store_errors import NoSuchBlob, StoreCorrupt

MAX_RUN = 256
"""Deltas in one row, so that reading one event decodes few others."""
MAX_RUN_TEXT = 16 * 1024
"""Characters in one row of several deltas."""
_MAX_ANCHORS = 4096
_MICRO = 1_000_000
_DELTA_BYTES = 300
"""Bytes of a delta as an event, about."""
_PAGE_BYTES = 4 * 1024 * 1024
"""The size in bytes at which a page of events is full."""

Delta = TextDelta | ThinkingDelta | InputJsonDelta
EventRow = tuple[int, bytes, bytes | None]
"""The last seq, the body, and the places of large contents."""

_kinds: dict[type, str] = {TextDelta: "text", ThinkingDelta: "text", InputJsonDelta: "partial_json"}
_runs = msgspec.json.Decoder(list[Any])


class EventRows(msgspec.Struct):
    """Events in their stored form."""

    rows: list[EventRow]
    json: list[bytes | None]
    """The JSON of each event; None for one in a run."""
    blobs: dict[str, bytes]


class _Anchor:
    """A delta that later ones refer to."""

    __slots__ = ("block", "epoch", "exchange", "index", "kind", "micros", "name", "seq")

    def __init__(self, event: Event, data: Delta, micros: int) -> None:
        self.seq = event.seq
        self.name = event.id.rpartition("-")[0]
        self.exchange = event.exchange
        self.epoch = event.epoch
        self.kind = type(data)
        self.block = data.block
        self.index = data.index
        self.micros = micros

    def fits(self, event: Event, data: Delta) -> bool:
        """Whether an event is a later delta of the same block, and differs in nothing but seq, time and text."""
        return (
            data.block == self.block
            and type(data) is self.kind
            and event.seq > self.seq
            and event.exchange == self.exchange
            and event.epoch == self.epoch
            and data.index == self.index
            and event.id == f"{self.name}-{event.seq}"
        )


class RowPacker:
    """Packs the events of appends into rows. It holds the last anchor of each session.

    `forget` must be called when a transaction is rolled back: its anchors were not stored.
    """

    def __init__(self) -> None:
        self._anchors: dict[str, _Anchor] = {}

    def forget(self, session: str | None = None) -> None:
        """Forget the anchor of a session, or all of them."""
        if session is None:
            self._anchors.clear()
        else:
            self._anchors.pop(session, None)

    def pack(self, session: str, events: Sequence[Event]) -> EventRows:
        anchor = self._anchors.get(session)
        packed = EventRows([], [], {})
        run: list[int | str] = []
        last = size = micros = 0
        for event in events:
            data = event.data
            field = _kinds.get(type(data))
            if field is not None and anchor is not None and anchor.fits(event, data):  # pyright: ignore[reportArgumentType]
                at = round(event.time * _MICRO)
                text: str = getattr(data, field)
                if at / _MICRO == event.time:
                    if run and (len(run) > 2 * MAX_RUN or size + len(text) > MAX_RUN_TEXT):
                        packed.rows.append((last, encode(run), None))
                        run = []
                    if not run:
                        run.append(anchor.seq)
                        size, micros = 0, anchor.micros
                    run += (at - micros, text)
                    last, micros = event.seq, at
                    size += len(text)
                    packed.json.append(None)
                    continue
            if run:
                packed.rows.append((last, encode(run), None))
                run = []
            anchor = self._add_event(event, packed, anchor)
        if run:
            packed.rows.append((last, encode(run), None))
        self._keep(session, anchor)
        return packed

    def _add_event(self, event: Event, packed: EventRows, anchor: _Anchor | None) -> _Anchor | None:
        """Add an event in a row of its own. Returns the anchor of what follows."""
        form = encode_stored(event)
        packed.rows.append((event.seq, form.body, form.refs))
        packed.json.append(form.json)
        packed.blobs.update(form.blobs)
        data = event.data
        if not isinstance(data, Delta) or form.refs is not None or not event.id.endswith(f"-{event.seq}"):
            return anchor
        at = round(event.time * _MICRO)
        return _Anchor(event, data, at) if at / _MICRO == event.time else anchor

    def _keep(self, session: str, anchor: _Anchor | None) -> None:
        if anchor is None or self._anchors.get(session) is anchor:
            return
        self._anchors.pop(session, None)
        self._anchors[session] = anchor
        if len(self._anchors) > _MAX_ANCHORS:
            del self._anchors[next(iter(self._anchors))]


class RowReader:
    """Reads events from the rows of one session. `find_row` returns the row of an anchor."""

    def __init__(self, find_row: Callable[[int], EventRow | None], blob: Callable[[str], bytes]) -> None:
        self._find_row = find_row
        self._blob = blob
        self.anchors: dict[int, Event] = {}
        """Anchors that are known without reading their rows."""
        self._anchor: Event | None = None

    def read(self, rows: Iterable[EventRow], *, after: int, upto: int | None, limit: int) -> list[Event]:
        """Return the events after a seq, at most a page. Raises StoreCorrupt where a row is damaged or missing."""
        page: list[Event] = []
        seq = max(after, 0) + 1
        size = 0
        for row in rows:
            try:
                events = self.decode(row)
                if events[0].seq > seq or events[-1].seq != row[0] or len(events) != row[0] + 1 - events[0].seq:
                    raise ValueError(row[0])
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError, NoSuchBlob):
                raise _damaged(seq) from None
            last = row[0] if upto is None else min(upto, row[0])
            page += events[seq - events[0].seq : last + 1 - events[0].seq]
            seq = row[0] + 1
            size += len(row[1]) if len(events) == 1 else _DELTA_BYTES * len(events)
            if len(page) >= limit or last < row[0] or size > _PAGE_BYTES:
                break
        return page[:limit]

    def decode(self, row: EventRow) -> list[Event]:
        """Return the events of a row."""
        seq, body, refs = row
        if not body.startswith(b"["):
            return [decode_stored(body, refs, self._blob)]
        anchor_seq, *run = _decode_run(body)
        anchor = self._anchor_of(anchor_seq)
        if len(run) == 1:
            return list(empty_deltas(anchor, seq + 1 - run[0], seq))
        return _run_events(anchor, seq + 1 - len(run) // 2, run)

    def decode_from(self, first: int, body: bytes, refs: bytes | None) -> list[Event]:
        """Return the events of a row that begins with a seq. A delta in a row of its own becomes an anchor. Raises
        ValueError, or another error of values, where the row is damaged or its anchor is missing."""
        if body.startswith(b"["):
            anchor_seq, *run = _decode_run(body)
            return _run_events(self._anchor_of(anchor_seq), first, run)
        event = decode_stored(body, refs, self._blob)
        if event.seq != first:
            raise ValueError(event.seq)
        if isinstance(event.data, Delta):
            self.anchors[first] = event
        return [event]

    def _anchor_of(self, seq: int) -> Event:
        anchor = self._anchor
        if anchor is None or anchor.seq != seq:
            anchor = self._anchor = self.anchors.get(seq) or self._find_anchor(seq)
        return anchor

    def _find_anchor(self, seq: int) -> Event:
        row = self._find_row(seq)
        if row is None:
            raise LookupError(seq)
        event = decode_stored(row[1], row[2], self._blob)
        if event.seq != seq or not isinstance(event.data, Delta | ToolOutputDelta):
            raise ValueError(seq)
        return event


def _run_events(anchor: Event, first: int, run: Sequence[Any]) -> list[Event]:
    """Return the deltas of a run: microseconds and texts in turn."""
    data = cast(Delta, anchor.data)
    kind = type(data)
    name, micros = anchor.id.rpartition("-")[0], round(anchor.time * _MICRO)
    events: list[Event] = []
    for number in range(0, len(run), 2):
        micros += run[number]
        at = first + number // 2
        events.append(
            new_event(
                at,
                f"{name}-{at}",
                anchor.session,
                anchor.exchange,
                anchor.type,
                anchor.layer,
                micros / _MICRO,
                anchor.epoch,
                kind(data.index, data.block, run[number + 1]),
            )
        )
    return events


def _decode_run(body: bytes) -> list[Any]:
    try:
        return _runs.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return loads(body)  # a lone surrogate, which msgspec does not read


def _damaged(seq: int) -> StoreCorrupt:
    return StoreCorrupt(f"The log of the session is damaged at event {seq}; put a backup of its file in place.")
