"""One exchange as its events tell it: what was said last, what it added to the conversation, how it ended."""

from collections.abc import Iterable

from weft.agent.result import AgentResult
from weft.agent.state import ConversationState
from weft.agent.tracker import ExchangeTracker
from weft.core.content import Text
from weft.core.envelope import Event
from weft.core.events import ExchangeRequest, ExchangeResponse
from weft.core.messages import Message


class ExchangeRecord:
    """Feed it the events of one exchange, in order. One whose beginning is not known holds what comes until `begin`."""

    def __init__(self, exchange: str) -> None:
        self.exchange = exchange
        self.response: ExchangeResponse | None = None
        """How it ended, once it has."""
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
        """What happened before the first event that came."""
        held, self._held = self._held, None
        for event in (*earlier, *(held or ())):
            self.feed(event)

    @property
    def messages(self) -> list[Message]:
        """What it has added to the conversation."""
        return list(self._state.messages)

    def drop(self) -> None:
        """It was cancelled while it waited for its turn."""
        self.response = self.response or ExchangeTracker().response("cancelled", 0.0)

    def result(self, files: dict[str, str]) -> AgentResult:
        assert self.response is not None
        messages = self.messages
        said = next((message for message in reversed(messages) if message.role == "assistant"), None)
        text = _text(said) if said is not None else ""
        return AgentResult.of(self.response, text=text, files=files, messages=messages, exchange=self.exchange)


def _text(message: Message) -> str:
    """What the model said, a refusal left out."""
    return "".join(block.text for block in message.content if isinstance(block, Text) and not block.refusal)
