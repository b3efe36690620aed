"""The state of a session, folded from its log."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from heald.agent.state import ConversationState
from heald.agent.tracker import ExchangeTracker
from heald.core.envelope import Event
from heald.core.events import (
    AssistantMessage,
    ConversationDequeued,
    ConversationQueued,
    ConversationSteered,
    ExchangeRequest,
    ExchangeResponse,
    FileAccepted,
    FileChanged,
)
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store
from heald.sessions.unfinished_exchange import UnfinishedExchange
from heald.tools.text_call_trust import TextCallTrust


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
    text_calls: TextCallTrust = field(default_factory=TextCallTrust)
    _current: AnsweredRequest | None = None

    def __post_init__(self) -> None:
        self.state = ConversationState(history=self.settings.history)

    def feed(self, event: Event) -> None:
        self.seq, self.time = event.seq, event.time
        self.unfinished.feed(event)
        if not (self.settings.dropped and self.settings.is_dropped(event.seq)):
            self.state.feed(event)
        if event.data.layer == "stream":  # most events of a log, and none that matters here
            return
        self.text_calls.feed(event.data)
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
        entry = next((queued for queued in self.waiting if queued.request == exchange), None)
        if entry is not None:
            self.waiting.remove(entry)
        return entry

    def _dequeue(self, exchange: str) -> None:
        """Record a request that was cancelled in the queue: the same request id stays cancelled."""
        queued = self._unqueue(exchange)
        if queued is None or queued.message is None or queued.client_request_id is None:
            return
        request = ExchangeRequest(queued.message, "", queued.client_request_id, queued.cause)
        ended = ExchangeTracker().response("cancelled", 0.0)
        self.requests[queued.client_request_id] = AnsweredRequest(exchange, request, ended)


async def read_history(
    store: Store,
    session: str,
    settings: SessionSettings,
    *,
    upto: int | None = None,
    first_page: Sequence[Event] | None = None,
    last_seq: int | None = None,
) -> SessionHistory:
    """Fold the log of a session, or the beginning of it. `first_page` is its first page, if it was read already, and
    `last_seq` the end of the log, if nobody else writes it."""
    history = SessionHistory(settings)
    events = await store.read(session, upto=upto) if first_page is None else first_page
    while events:
        for event in events:  # not one by one out of a generator: a long log has 100,000 of them
            history.feed(event)
        if history.seq == last_seq:
            break
        events = await store.read(session, after=history.seq, upto=upto)
    return history
