"""Thins out the deltas of finished messages: they repeat what the message itself says, and are most bytes of a log.

A run of deltas of one block becomes one delta with the whole text, and a count of empty ones, which cost nothing. The
log keeps its numbers without gaps, and the texts of its deltas together stay what they were.
"""

from collections.abc import Iterator, Sequence

import msgspec

from weft.core.envelope import Event
from weft.core.events import InputJsonDelta, TextDelta, ThinkingDelta, ToolOutputDelta

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
