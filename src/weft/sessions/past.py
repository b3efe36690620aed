"""What a session was when it was last left: read from its log, and closed where a dead writer left it open."""

from dataclasses import dataclass, field

from weft.agent.bus import EventBus
from weft.agent.engine import AgentEngine
from weft.agent.exchange import Exchange
from weft.agent.state import ConversationState
from weft.agent.tracker import ExchangeTracker
from weft.core.envelope import Event
from weft.core.events import (
    AssistantMessage,
    ConversationDequeued,
    ConversationQueued,
    ExchangeRequest,
    ExchangeResponse,
    FileAccepted,
    FileChanged,
    SessionResumed,
)
from weft.sessions.errors import NoSuchBlob
from weft.sessions.faults import reach
from weft.sessions.lease import Lease
from weft.sessions.recovery import Unfinished
from weft.sessions.settings import SessionSettings
from weft.sessions.store import Store, events_of

_COPIED = "The session was copied without what waited."


@dataclass(slots=True)
class PastRequest:
    """A request that was answered before."""

    exchange: str
    request: ExchangeRequest
    response: ExchangeResponse | None = None
    text: str = ""


@dataclass(slots=True)
class Past:
    """A session's log, folded."""

    settings: SessionSettings
    seq: int = 0
    time: float = 0.0
    state: ConversationState = field(init=False)
    unfinished: Unfinished = field(default_factory=Unfinished)
    changes: list[FileChanged] = field(default_factory=list[FileChanged])
    accepted: list[FileAccepted] = field(default_factory=list[FileAccepted])
    requests: dict[str, PastRequest] = field(default_factory=dict[str, PastRequest])
    """By `client_request_id`."""
    waiting: list[ConversationQueued] = field(default_factory=list[ConversationQueued])
    """Requests that never began, in the order of their turns."""
    _current: PastRequest | None = None

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
                self._current = PastRequest(event.exchange or "", event.data)
                if request is not None:
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
        """It was cancelled: asked again by the same id, it stays so."""
        queued = self._unqueue(exchange)
        if queued is None or queued.message is None or queued.client_request_id is None:
            return
        request = ExchangeRequest(queued.message, "", queued.client_request_id, queued.cause)
        ended = ExchangeTracker().response("cancelled", 0.0)
        self.requests[queued.client_request_id] = PastRequest(exchange, request, ended)


async def read_past(store: Store, session: str, settings: SessionSettings, *, upto: int | None = None) -> Past:
    """The log, or the beginning of it."""
    past = Past(settings)
    async for event in events_of(store, session, upto=upto):
        past.feed(event)
    return past


async def recover(store: Store, lease: Lease, past: Past, *, drop_waiting: bool = False) -> list[Event]:
    """Close what a dead writer left open, in one transaction. Gives the events that say so.

    Requests that wait are left to whoever opens the session, or are dropped: those of a copy are not its own.
    """
    exchange = past.unfinished.exchange
    dropped = list(past.waiting) if drop_waiting else []
    if exchange is None and not dropped:
        return []
    reach("recovery.before")
    events: list[Event] = []
    bus = EventBus(lease.session, seq=past.seq, epoch=lease.epoch)
    bus.subscribe(events.append)
    bus.publish(SessionResumed(past.seq))
    bus.publish_all(ConversationDequeued(queued.request, _COPIED) for queued in dropped)
    bus.exchange = exchange
    bus.publish_all(past.unfinished.closing())
    await store.append(lease, events)
    for event in events:
        past.feed(event)
    reach("recovery.after")
    return events


async def contents_of(store: Store, session: str, past: Past) -> dict[str, bytes]:
    """The contents that the session's files had, by hash, as far as they are kept."""
    found: dict[str, bytes] = {}
    digests = {change.hash for change in past.changes if change.hash is not None}
    for digest in digests | set(past.settings.files.values()):
        try:
            found[digest] = await store.blob(session, digest)
        except NoSuchBlob:
            continue
    return found


class PastExchange(Exchange):
    """An exchange of an earlier process, for whoever asks for it again."""

    def __init__(self, engine: AgentEngine, past: PastRequest, response: ExchangeResponse) -> None:
        super().__init__(engine, past.request, exchange_id=past.exchange)
        self._over = self._told = self._begun = True
        self._text = past.text
        self._history = len(engine.messages)
        self._done.set_result(self._outcome(response))
