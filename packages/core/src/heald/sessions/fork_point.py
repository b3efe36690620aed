"""Finds the event after which a fork differs from its session.

A fork shares the log up to the event that was named, or up to the event before the one that the change replaces, if
that comes first: the request of the exchange, the first event of a message, the outcome of a call, a decision. The end
of an exchange is never shared while the exchange is to be continued: its cancellation, or its error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from heald.core.context_events import RequestWithdrawn
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    CancelRequested,
    ConversationInterrupted,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    MessageDiscarded,
    MessageStart,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    ToolUseMessage,
)
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.sessions.fork_change import ForkChange
from heald.sessions.store import Store, iterate_events
from heald.sessions.unfinished_exchange import UnfinishedExchange

_ENDINGS = CancelRequested | ErrorOccurred | ConversationInterrupted | RequestWithdrawn


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """The place where a fork begins to differ."""

    seq: int
    """The last shared event."""
    started: Sequence[str] = ()
    """The calls that have started up to there."""
    call: ToolCall | None = None
    """The call whose result or approval differs."""
    approval: str = ""
    """Its approval that waits there, if it has one."""
    request: ExchangeRequest | None = None
    """The request that another one replaces."""


@dataclass(slots=True)
class _CallPlace:
    """Where the log has a call."""

    call: ToolCall
    exchange: str | None
    started: int | None = None
    ended: int | None = None
    approvals: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])  # requested, with their seqs
    resolved: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class _OpenTurn:
    """The last turn of the open exchange."""

    began: int
    is_discarded: bool = False
    has_calls: bool = False
    ended: int | None = None
    """The last event of its end, which is one transaction."""


class _LogPlaces:
    """Folds a log into the places where it can be cut."""

    def __init__(self) -> None:
        self.exchange: str | None = None
        self.request: ExchangeRequest | None = None
        self.request_seq = 0
        self.turn: _OpenTurn | None = None
        self.ending: int | None = None
        """The first event of the end of the open exchange."""
        self.endings: dict[str, int] = {}
        self.calls: dict[str, _CallPlace] = {}
        self.unfinished = UnfinishedExchange()
        self.last: Event | None = None

    def feed(self, event: Event) -> None:
        self.last = event
        self.unfinished.feed(event)
        payload = event.data
        match payload:
            case ExchangeRequest():
                self.exchange, self.request, self.request_seq = event.exchange, payload, event.seq
                self.turn = self.ending = None
            case ExchangeResponse():
                self.exchange = None
            case _ if isinstance(payload, _ENDINGS) and event.exchange is not None:
                self.ending = self.ending or event.seq
                self.endings.setdefault(event.exchange, event.seq)
            case _ if self.ending is None:
                self._feed_turn(event)
            case _:
                pass
        self._feed_call(event)

    def _feed_turn(self, event: Event) -> None:
        turn = self.turn
        match event.data:
            case MessageStart():
                self.turn = _OpenTurn(event.seq)
            case MessageDiscarded() if turn is not None:
                turn.is_discarded = True
            case AssistantMessage(message=message) if turn is not None:
                turn.has_calls = bool(message.tool_calls)
            case _:
                pass
        if turn is not None and turn.has_calls and turn.ended is None and self.unfinished.is_whole:
            turn.ended = event.seq

    def _feed_call(self, event: Event) -> None:
        payload = event.data
        if isinstance(payload, ToolCall):
            self.calls[payload.id] = _CallPlace(payload, event.exchange)
            return
        place = self.calls.get(call_of(payload) or "")
        if place is None:
            return
        match payload:
            case ToolExecuting() if place.started is None:
                place.started = event.seq
            case ToolCompleted() | ToolFailed() | ToolResult() if place.ended is None:
                place.ended = event.seq
            case ApprovalRequested(approval=approval):
                place.approvals.append((approval, event.seq))
            case ApprovalResolved(approval=approval):
                place.resolved[approval] = event.seq
            case _:
                pass

    def before_turn(self, at: int) -> int:
        """Return the last event before the turn that `at` belongs to, or `at` if it belongs to none."""
        if self.exchange is None:
            return at
        at = min(at, self.ending - 1) if self.ending is not None else at
        turn = self.turn
        if turn is None or turn.is_discarded:
            return at
        is_over = turn.has_calls and turn.ended is not None and at > turn.ended
        return at if is_over else turn.began - 1

    def before_ending(self, exchange: str | None, seq: int) -> int:
        ending = self.endings.get(exchange or "")
        return seq if ending is None else min(seq, ending - 1)


async def find_fork_point(store: Store, session: str, at: int, change: ForkChange) -> ForkPoint:
    """Find the last event that a fork of a session shares. Raises HealdError if the change does not fit the event."""
    places = _LogPlaces()
    async for event in iterate_events(store, session, upto=at):
        places.feed(event)
    if change.prompt is not None:
        return _before_request(places, at)
    if change.result is None and change.approval is None:
        return _point(places, places.before_turn(at))
    event_call = call_of(places.last.data) if places.last is not None else None
    if not places.unfinished.is_whole:  # the end of a turn is shared as a whole
        async for event in iterate_events(store, session, after=at):
            places.feed(event)
            at = event.seq
            if places.unfinished.is_whole:
                break
    place = places.calls.get(change.call or event_call or "")
    if place is None and change.call is None:
        raise HealdError(f"The event {at} belongs to no call; name the call whose {change.changed[-1]} changes.")
    if place is None:
        raise HealdError(f"The log has no call {change.call!r} up to event {at}; name another call, or a later event.")
    if place.call.parent is not None:
        raise HealdError(
            f"The call {place.call.id!r} was made by the program of {place.call.parent!r}, which cannot be continued; "
            "name that call."
        )
    return _before_outcome(places, place, at) if change.result is not None else _before_decision(places, place, at)


def call_of(payload: Payload) -> str | None:
    """Return the call that an event belongs to."""
    match payload:
        case ToolUseMessage(call=ToolCall(id=call)) | FileChanged(cause=call):
            return call
        case _:
            call = getattr(payload, "call_id", None)
            return call if isinstance(call, str) else getattr(payload, "id", None)


def _before_request(places: _LogPlaces, at: int) -> ForkPoint:
    """Return the point before the request of the exchange of the last event; the last event if it belongs to none."""
    exchange = places.last.exchange if places.last is not None else None
    if exchange is None and places.exchange is None:
        return _point(places, at)
    return _point(places, places.request_seq - 1, request=places.request)


def _before_outcome(places: _LogPlaces, place: _CallPlace, at: int) -> ForkPoint:
    seq = places.before_ending(place.exchange, at if place.ended is None else min(at, place.ended - 1))
    waiting = next((name for name, asked in place.approvals if asked <= seq < place.resolved.get(name, seq + 1)), "")
    return _point(places, seq, call=place.call, approval=waiting)


def _before_decision(places: _LogPlaces, place: _CallPlace, at: int) -> ForkPoint:
    if not place.approvals:
        raise HealdError(
            f"No approval of the call {place.call.id!r} was requested up to event {at}; name another call, or a later "
            "event."
        )
    approval, _ = place.approvals[-1]
    seq = places.before_ending(place.exchange, min(at, place.resolved.get(approval, at + 1) - 1))
    return _point(places, seq, call=place.call, approval=approval)


def _point(
    places: _LogPlaces,
    seq: int,
    *,
    call: ToolCall | None = None,
    approval: str = "",
    request: ExchangeRequest | None = None,
) -> ForkPoint:
    started = [name for name, place in places.calls.items() if place.started is not None and place.started <= seq]
    return ForkPoint(seq, started, call, approval, request)
