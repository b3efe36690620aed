"""The work of a session: whether an exchange is open in it, or requests wait."""

from collections.abc import Sequence
from typing import Literal

from heald.core.envelope import Event
from heald.core.events import ConversationDequeued, ConversationQueued, ExchangeRequest, ExchangeResponse

Work = Literal["idle", "running", "waiting"]
"""The work of a session: nothing, an open exchange, or requests that wait for a node."""
WORK_EVENTS = frozenset({"exchange_request", "exchange_response", "conversation_queued", "conversation_dequeued"})
"""The types of the events that change the work of a session."""


class WorkTracker:
    """Folds the events of a session into the work that is open at their end."""

    def __init__(self, exchange: str | None = None, waiting: Sequence[str] = ()) -> None:
        self._exchange = exchange
        self._waiting = set(waiting)

    @property
    def work(self) -> Work:
        if self._exchange is not None:
            return "running"
        return "waiting" if self._waiting else "idle"

    def feed(self, event: Event) -> None:
        match event.data:
            case ExchangeRequest():
                self._exchange = event.exchange
                self._waiting.discard(event.exchange or "")
            case ExchangeResponse():
                self._exchange = None
            case ConversationQueued(request=request) if event.data.message is not None:
                self._waiting.add(request)
            case ConversationDequeued(request=request):
                self._waiting.discard(request)
            case _:
                pass
