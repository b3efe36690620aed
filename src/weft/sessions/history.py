"""Folds the log of a session, and closes the exchange that a crashed writer left open."""

from dataclasses import dataclass, field

from weft.agent.bus import EventBus
from weft.agent.engine import AgentEngine
from weft.agent.exchange import Exchange, ExchangeState
from weft.agent.state import ConversationState
from weft.agent.tracker import ExchangeTracker
from weft.core.envelope import Event
from weft.core.events import (
    AssistantMessage,
    ConversationDequeued,
    ConversationQueued,
    ConversationSteered,
    ExchangeRequest,
    ExchangeResponse,
    FileAccepted,
    FileChanged,
    SessionResumed,
)
from weft.sessions.crash_points import reach
from weft.sessions.recovery import UnfinishedExchange
from weft.sessions.settings import SessionSettings
from weft.sessions.store import Lease, NoSuchBlob, Store, iterate_events

_COPIED = "The session was copied without what waited."


@dataclass(slots=True)
class AnsweredRequest:
    """A request of an earlier process, and its answer."""

    exchange: str
    request: ExchangeRequest
    response: ExchangeResponse | None = None
    text: str = ""


@dataclass(slots=True)
class SessionHistory:
    """The state of a session, folded from its log."""

    settings: SessionSettings
    seq: int = 0
    time: float = 0.0
    state: ConversationState = field(init=False)
    unfinished: UnfinishedExchange = field(default_factory=UnfinishedExchange)
    changes: list[FileChanged] = field(default_factory=list[FileChanged])
    accepted: list[FileAccepted] = field(default_factory=list[FileAccepted])
    requests: dict[str, AnsweredRequest] = field(default_factory=dict[str, AnsweredRequest])
    """By `client_request_id`."""
    waiting: list[ConversationQueued] = field(default_factory=list[ConversationQueued])
    """Queued requests, in order."""
    _current: AnsweredRequest | None = None

    def __post_init__(self) -> None:
        self.state = ConversationState(history=self.settings.history)

    def feed(self, event: Event) -> None:
        self.seq, self.time = event.seq, event.time
        self.unfinished.feed(event)
        if not self.settings.is_dropped(event.seq):
            self.state.feed(event)
        match event.data:
            case FileChanged():
                self.changes.append(event.data)
            case FileAccepted():
                self.accepted.append(event.data)
            case ConversationQueued():
                self._queue(event.data)
            case ConversationDequeued(request=request):
                self._dequeue(request)
            case ExchangeRequest(client_request_id=request):
                self._unqueue(event.exchange)
                self._current = AnsweredRequest(event.exchange or "", event.data)
                if request is not None:
                    self.requests[request] = self._current
            case ConversationSteered(client_request_id=str(request)) if self._current is not None:
                self.requests[request] = self._current
            case AssistantMessage(message=message) if self._current is not None:
                self._current.text = message.text
            case ExchangeResponse() if self._current is not None:
                self._current.response = event.data
            case _:
                pass

    def _queue(self, queued: ConversationQueued) -> None:
        if queued.message is not None:
            self._unqueue(queued.request)
            self.waiting.insert(max(queued.position - 1, 0), queued)

    def _unqueue(self, exchange: str | None) -> ConversationQueued | None:
        found = next((queued for queued in self.waiting if queued.request == exchange), None)
        if found is not None:
            self.waiting.remove(found)
        return found

    def _dequeue(self, exchange: str) -> None:
        """Record a request that was cancelled in the queue: the same request id stays cancelled."""
        queued = self._unqueue(exchange)
        if queued is None or queued.message is None or queued.client_request_id is None:
            return
        request = ExchangeRequest(queued.message, "", queued.client_request_id, queued.cause)
        ended = ExchangeTracker().response("cancelled", 0.0)
        self.requests[queued.client_request_id] = AnsweredRequest(exchange, request, ended)


async def read_history(
    store: Store, session: str, settings: SessionSettings, *, upto: int | None = None
) -> SessionHistory:
    """Fold the log of a session, or the beginning of it."""
    history = SessionHistory(settings)
    async for event in iterate_events(store, session, upto=upto):
        history.feed(event)
    return history


async def recover(store: Store, lease: Lease, history: SessionHistory, *, drop_waiting: bool = False) -> list[Event]:
    """Close the exchange that a crashed writer left open, in one transaction. Returns the new events.

    Queued requests stay for the next writer, or are dropped in a copy of the session.
    """
    exchange = history.unfinished.exchange
    dropped = list(history.waiting) if drop_waiting else []
    if exchange is None and not dropped:
        return []
    reach("recovery.before")
    events: list[Event] = []
    bus = EventBus(lease.session, seq=history.seq, epoch=lease.epoch)
    bus.subscribe(events.append)
    bus.publish(SessionResumed(history.seq))
    bus.publish_all(ConversationDequeued(queued.request, _COPIED) for queued in dropped)
    bus.exchange = exchange
    bus.publish_all(history.unfinished.closing_payloads())
    for event in events:
        history.feed(event)
    await store.append(lease, events, work="waiting" if history.waiting else "idle")
    reach("recovery.after")
    return events


async def read_contents(store: Store, session: str, history: SessionHistory) -> dict[str, bytes]:
    """Return the stored contents of the session's files, by hash."""
    found: dict[str, bytes] = {}
    digests = {change.hash for change in history.changes if change.hash is not None}
    for digest in digests | set(history.settings.files.values()):
        try:
            found[digest] = await store.blob(session, digest)
        except NoSuchBlob:
            continue
    return found


class FinishedExchange(Exchange):
    """An exchange of an earlier process, for a request that is repeated."""

    def __init__(self, engine: AgentEngine, history: AnsweredRequest, response: ExchangeResponse) -> None:
        super().__init__(engine, history.request, exchange_id=history.exchange)
        self.state = ExchangeState.DELIVERED
        self._text = history.text
        self._done.set_result(self._outcome(response))
