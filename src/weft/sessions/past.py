"""What a session was when it was last left: read from its log, and closed where a dead writer left it open."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.agent.bus import EventBus
from weft.agent.engine import AgentEngine
from weft.agent.exchange import Exchange
from weft.agent.state import ConversationState
from weft.core.envelope import Event
from weft.core.events import AssistantMessage, ExchangeRequest, ExchangeResponse, FileChanged, SessionResumed
from weft.sessions.errors import NoSuchBlob
from weft.sessions.faults import reach
from weft.sessions.lease import Lease
from weft.sessions.recovery import Unfinished
from weft.sessions.settings import SessionSettings
from weft.sessions.store import Store, events_of


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
    state: ConversationState = field(default_factory=ConversationState)
    unfinished: Unfinished = field(default_factory=Unfinished)
    changes: list[FileChanged] = field(default_factory=list[FileChanged])
    requests: dict[str, PastRequest] = field(default_factory=dict[str, PastRequest])
    """By `client_request_id`."""
    _current: PastRequest | None = None

    def feed(self, event: Event) -> None:
        self.seq, self.time = event.seq, event.time
        self.unfinished.feed(event)
        if not self.settings.is_dropped(event.seq):
            self.state.feed(event)
        match event.data:
            case FileChanged():
                self.changes.append(event.data)
            case ExchangeRequest(client_request_id=request):
                self._current = PastRequest(event.exchange or "", event.data)
                if request is not None:
                    self.requests[request] = self._current
            case AssistantMessage(message=message) if self._current is not None:
                self._current.text = message.text
            case ExchangeResponse() if self._current is not None:
                self._current.response = event.data
            case _:
                pass


async def read_past(store: Store, session: str, settings: SessionSettings) -> Past:
    past = Past(settings)
    past.state.messages.extend(settings.history)
    async for event in events_of(store, session):
        past.feed(event)
    return past


async def recover(store: Store, lease: Lease, past: Past) -> list[Event]:
    """Close what a dead writer left open, in one transaction. Gives the events that say so."""
    exchange = past.unfinished.exchange
    if exchange is None:
        return []
    reach("recovery.before")
    events: list[Event] = []
    bus = EventBus(lease.session, seq=past.seq, epoch=lease.epoch)
    bus.subscribe(events.append)
    bus.publish(SessionResumed(past.seq))
    bus.exchange = exchange
    bus.publish_all(past.unfinished.closing())
    await store.append(lease, events)
    for event in events:
        past.feed(event)
    reach("recovery.after")
    return events


async def contents_of(store: Store, session: str, past: Past) -> Mapping[str, bytes]:
    """The contents that the session's files had, by hash, as far as they are kept."""
    found: dict[str, bytes] = {}
    for digest in {change.hash for change in past.changes if change.hash is not None}:
        try:
            found[digest] = await store.blob(session, digest)
        except NoSuchBlob:
            continue
    return found


class PastExchange(Exchange):
    """An exchange of an earlier process, for whoever asks for it again."""

    def __init__(self, engine: AgentEngine, past: PastRequest, response: ExchangeResponse) -> None:
        super().__init__(engine, past.request.message, client_request_id=past.request.client_request_id)
        self.id = past.exchange
        self._over = self._told = self._begun = True
        self._text = past.text
        self._history = len(engine.messages)
        self._done.set_result(self._outcome(response))
