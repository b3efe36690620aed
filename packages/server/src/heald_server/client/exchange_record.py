"""The record of an exchange's events."""

from collections.abc import Iterable
from typing import Any

from heald.agent.result import AgentResult
from heald.agent.state import ConversationState
from heald.agent.tracker import ExchangeTracker
from heald.core.envelope import Event
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.core.messages import Message, Text


class ExchangeRecord:
    """Folds the events of one exchange. If its beginning is unknown, events are held until `begin`."""

    def __init__(self, exchange: str) -> None:
        self.exchange = exchange
        self.response: ExchangeResponse | None = None
        """Its last event, once it is over."""
        self._state = ConversationState()
        self._held: list[Event] | None = []

    def feed(self, event: Event) -> None:
        if self._held is not None and isinstance(event.data, ExchangeRequest):
            self._held = None
        if self._held is not None:
            self._held.append(event)
            return
        self._state.feed(event)
        if isinstance(event.data, ExchangeResponse):
            self.response = event.data

    def begin(self, earlier: Iterable[Event]) -> None:
        """Feed the events before the first one that arrived."""
        held, self._held = self._held, None
        for event in (*earlier, *(held or ())):
            self.feed(event)

    @property
    def messages(self) -> list[Message]:
        """The messages that the exchange has added to the conversation."""
        return list(self._state.messages)

    def drop(self) -> None:
        """Record that the exchange was cancelled in the queue."""
        self.response = self.response or ExchangeTracker().response("cancelled", 0.0)

    def result(self, files: dict[str, str]) -> AgentResult[Any]:
        assert self.response is not None
        messages = self.messages
        last = next((message for message in reversed(messages) if message.role == "assistant"), None)
        text = _text(last) if last is not None else ""
        return AgentResult.from_response(
            self.response, text=text, files=files, messages=messages, exchange=self.exchange
        )


def _text(message: Message) -> str:
    """Return the text of a message without refusals."""
    return "".join(block.text for block in message.content if isinstance(block, Text) and not block.refusal)
