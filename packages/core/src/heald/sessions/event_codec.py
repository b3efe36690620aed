"""The stored form of an event: large contents are kept apart, by hash; the deltas of finished messages can be thinned
out.

Deltas repeat the text of the message, and are most bytes of a log. A run of deltas of one block becomes one delta
with the whole text, and a count of empty ones, which cost nothing. The log keeps its numbers without gaps, and the
texts of its deltas together stay what they were.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, cast

import msgspec

from heald.core.envelope import Event, decode_event
from heald.core.events import (
    ApprovalResolved,
    AssistantMessage,
    ConversationQueued,
    ConversationSteered,
    ExchangeRequest,
    InputJsonDelta,
    QuestionAnswered,
    TextDelta,
    ThinkingDelta,
    ToolOutputDelta,
    UserMessage,
)
from heald.core.json import encode, loads
from heald.core.messages import ToolResult
from heald.sessions.store_errors import UnreadableEvent

MAX_EVENT_BYTES = 256 * 1024
"""An event whose JSON is larger is searched for large texts."""
MAX_TEXT = 16 * 1024
"""The longest text in characters that stays in such an event."""

MAX_FRAME_BYTES = 1024 * 1024
"""The largest message that a client gets."""

JsonPath = list[str | int]


class BlobRef(msgspec.Struct, frozen=True, array_like=True):
    """A path in an event's data, and the blob that belongs there: a text, or JSON."""

    path: JsonPath
    digest: str
    is_json: bool = False


class StoredEvent(msgspec.Struct, frozen=True):
    json: bytes
    """The whole event."""
    body: bytes
    refs: bytes | None
    blobs: dict[str, bytes]


_refs = msgspec.json.Decoder(list[BlobRef])
_FROM_OUTSIDE = frozenset(
    {
        ApprovalResolved,
        AssistantMessage,
        ConversationQueued,
        ConversationSteered,
        ExchangeRequest,
        QuestionAnswered,
        ToolResult,
        UserMessage,
    }
)
"""Payloads with values that do not come from the engine. They are decoded once before they are stored, in 2 to 4 µs."""


def encode_stored(event: Event) -> StoredEvent:
    """Encode an event. Large contents become blobs. Raises UnreadableEvent for one that could not be read again."""
    body = _encode_readable(event) if type(event.data) in _FROM_OUTSIDE else encode(event)
    if len(body) <= MAX_TEXT or (len(body) <= MAX_EVENT_BYTES and b'"data":"' not in body):  # it holds no picture
        return StoredEvent(body, body, None, {})
    plain = loads(body)
    refs: list[BlobRef] = []
    blobs: dict[str, bytes] = {}
    plain["data"] = _without_large(plain["data"], refs, blobs)
    if not refs and len(body) <= MAX_EVENT_BYTES:
        return StoredEvent(body, body, None, {})
    slim = encode(plain)
    if len(slim) > MAX_EVENT_BYTES:  # many small values: all of the data becomes a blob
        blobs = {}
        refs = [BlobRef([], _add_blob(encode(loads(body)["data"]), blobs), is_json=True)]
        slim = encode(plain | {"data": None})
    return StoredEvent(body, slim, encode(refs), blobs)


def _encode_readable(event: Event) -> bytes:
    """Encode an event whose data comes from programs, clients or models: msgspec checks only what it decodes."""
    try:
        body = encode(event)
        decode_event(body)
    except (ValueError, TypeError, RecursionError) as error:
        raise UnreadableEvent(
            f"The event {event.seq} of {event.session!r} ({event.type}) could not be read again, so it was not stored: "
            f"{str(error)[:200]}."
        ) from None
    return body


def decode_stored(body: bytes, refs: bytes | None, blob: Callable[[str], bytes]) -> Event:
    """Decode a stored event, with its blobs."""
    if refs is None:
        return decode_event(body)
    plain = loads(body)
    for ref in _refs.decode(refs):
        data = blob(ref.digest)
        value = loads(data) if ref.is_json else data.decode("utf-8", "surrogatepass")
        _set_value(plain, ["data", *ref.path], value)
    return decode_event(encode(plain))


def blob_digests(refs: bytes) -> list[str]:
    """Return the digests of the large contents that a stored event names."""
    return [ref.digest for ref in _refs.decode(refs)]


def encode_frame(event: Event, json: bytes | None = None) -> bytes:
    """Encode an event for a client. One of more than 1 MiB has `blobs`: paths in it and the blobs to put there."""
    json = encode(event) if json is None else json
    if len(json) <= MAX_FRAME_BYTES:
        return json
    stored = encode_stored(event)
    refs = _refs.decode(stored.refs or b"[]")
    blobs = [{"path": ["data", *ref.path], "blob": ref.digest, "is_json": ref.is_json} for ref in refs]
    return encode(loads(stored.body) | {"blobs": blobs})


def _set_value(plain: Any, path: JsonPath, value: Any) -> None:
    for step in path[:-1]:
        plain = plain[step]
    plain[path[-1]] = value


def _add_blob(data: bytes, blobs: dict[str, bytes]) -> str:
    digest = sha256(data).hexdigest()
    blobs[digest] = data
    return digest


def _without_large(data: Any, refs: list[BlobRef], blobs: dict[str, bytes]) -> Any:
    """Replace each large text in the data by an empty one."""
    pending: list[tuple[Any, JsonPath]] = [(data, [])]
    while pending:
        item, path = pending.pop()
        for key, value in _members(item):
            if isinstance(value, str) and len(value) > MAX_TEXT:
                refs.append(BlobRef([*path, key], _add_blob(value.encode("utf-8", "surrogatepass"), blobs)))
                item[key] = ""
            else:
                pending.append((value, [*path, key]))
    return data


def _members(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(cast("dict[str | int, Any]", value).items())
    return list(enumerate(cast("list[Any]", value))) if isinstance(value, list) else []


# --- thinning out ----------------------------------------------------------------------------------------------------


Delta = TextDelta | ThinkingDelta | InputJsonDelta | ToolOutputDelta


class DeltaRun(msgspec.Struct, frozen=True):
    """An event, and how many empty deltas of the same block follow it."""

    event: Event
    empty: int = 0

    def events(self) -> Iterator[Event]:
        """Yield the event and the empty deltas."""
        yield self.event
        if self.empty:
            yield from empty_deltas(self.event, self.event.seq + 1, self.event.seq + self.empty)


def empty_deltas(event: Event, first: int, last: int) -> Iterator[Event]:
    """Yield empty deltas of the block of a delta, from one seq to another."""
    nothing = _with_text(_delta(event), "")
    name = event.id.rpartition("-")[0]
    for seq in range(first, last + 1):
        yield msgspec.structs.replace(event, seq=seq, id=f"{name}-{seq}", data=nothing)


def thin_out(events: Sequence[Event]) -> list[DeltaRun]:
    """Join the runs of deltas in a log. The messages in it must be finished."""
    runs: list[DeltaRun] = []
    pending: list[Event] = []
    for event in events:
        if pending and not _continues(pending[-1], event):
            runs.append(_join(pending))
            pending = []
        if isinstance(event.data, Delta):
            pending.append(event)
        else:
            runs.append(DeltaRun(event))
    return [*runs, _join(pending)] if pending else runs


def _continues(before: Event, event: Event) -> bool:
    """Whether an event is a delta of the same block in the same exchange and epoch."""
    if (before.type, before.exchange, before.epoch) != (event.type, event.exchange, event.epoch):
        return False
    return isinstance(event.data, Delta) and _block(event.data) == _block(_delta(before))


def _join(run: Sequence[Event]) -> DeltaRun:
    text = "".join(_text(_delta(event)) for event in run)
    first = msgspec.structs.replace(run[0], data=_with_text(_delta(run[0]), text))
    return DeltaRun(first, len(run) - 1)


def _delta(event: Event) -> Delta:
    assert isinstance(event.data, Delta)
    return event.data


def _block(delta: Delta) -> tuple[str, str]:
    if isinstance(delta, ToolOutputDelta):
        return delta.id, delta.channel
    return delta.block, ""


def _text(delta: Delta) -> str:
    return delta.partial_json if isinstance(delta, InputJsonDelta) else delta.text


def _with_text(delta: Delta, text: str) -> Delta:
    if isinstance(delta, InputJsonDelta):
        return msgspec.structs.replace(delta, partial_json=text)
    return msgspec.structs.replace(delta, text=text)
