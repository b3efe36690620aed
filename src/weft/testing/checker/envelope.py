"""I01 to I05: an event's place in the log, and the JSON it is stored as."""

from math import isfinite
from typing import Any, cast

import msgspec

from weft.core.envelope import Event
from weft.core.events import (
    ConversationDequeued,
    ConversationQueued,
    ExchangeRequest,
    FileAccepted,
    FileChanged,
    SessionResumed,
    SessionRewound,
    Unknown,
    UserMessage,
)
from weft.core.json import encode
from weft.core.payload import Payload
from weft.testing.checker.group import Group, Report

MAX_EVENT_BYTES = 1024 * 1024

_SESSION_LEVEL = (ConversationQueued, ConversationDequeued, SessionResumed, SessionRewound, FileAccepted, Unknown)


class EventIds:
    """I02, over all sessions."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, int]] = {}

    def seen_at(self, event: Event) -> str | None:
        """Where the event's id was used before."""
        before = self._seen.get(event.id)
        if before is None:
            self._seen[event.id] = (event.session, event.seq)
            return None
        return f"{before[0]}:{before[1]}"


class Place(Group):
    """I01, I03, I04: number, time, and to whom an event belongs."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._seq = 0
        self._time = 0.0
        self._epoch: int | None = None
        self._opened: set[str] = set()

    def see(self, event: Event) -> None:
        self._i01_gapless(event)
        self._i03_time(event)
        self._i04_belongs(event)

    def _i01_gapless(self, event: Event) -> None:
        if event.seq != self._seq + 1:
            self.broke("I01", event, f"seq {event.seq} follows {self._seq}")
        self._seq = event.seq

    def _i03_time(self, event: Event) -> None:
        if event.epoch == self._epoch and event.time < self._time:
            self.broke("I03", event, f"the time runs back by {self._time - event.time:g} s within epoch {event.epoch}")
        self._time, self._epoch = event.time, event.epoch

    def _i04_belongs(self, event: Event) -> None:
        data = event.data
        if not event.session or not event.type or not event.id:
            self.broke("I04", event, "the event lacks its session, type or id")
        if not isinstance(data, Unknown) and (event.type, event.layer) != (data.type, data.layer):
            self.broke("I04", event, f"{event.type!r} of layer {event.layer!r} holds the payload {data.type!r}")
        exchange = event.exchange
        if exchange is None:
            if not isinstance(data, _SESSION_LEVEL) and not _is_a_persons(data):
                self.broke("I04", event, f"{event.type} belongs to no exchange")
        elif isinstance(data, ExchangeRequest):
            self._opened.add(exchange)
        elif exchange not in self._opened:
            self._opened.add(exchange)
            self.broke("I04", event, f"{event.type} belongs to {exchange!r}, which no exchange_request opened")


def _is_a_persons(data: Payload) -> bool:
    """What a person did beside any exchange, and what the model is told of it."""
    match data:
        case FileChanged(cause="user"):
            return True
        case UserMessage(message=message):
            return message.said is not None
        case _:
            return False


class StrictJson(Group):
    """I05: what is stored can be read again by any strict reader."""

    def see(self, event: Event) -> None:
        try:
            raw = encode(event)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            self.broke("I05", event, f"{event.type} is not JSON: {error}")
            return
        if len(raw) > MAX_EVENT_BYTES:
            self.broke("I05", event, f"{event.type} has {len(raw)} bytes, more than {MAX_EVENT_BYTES}")
        # NaN and infinity are written as null: only then is it worth looking closely.
        if b"null" in raw and (what := _unfit(msgspec.to_builtins(event))) is not None:
            self.broke("I05", event, f"{event.type} holds {what}")


def _unfit(value: Any) -> str | None:
    """What in a value strict JSON cannot hold. NUL and half a surrogate pair it can: as their escapes."""
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, float) and not isfinite(item):
            return f"the number {item}"
        if isinstance(item, dict):
            members = cast("dict[Any, Any]", item)
            pending += members.keys()
            pending += members.values()
        elif isinstance(item, list | tuple):
            pending += cast("list[Any]", item)
    return None
