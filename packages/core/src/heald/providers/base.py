"""The contract between a model and the loop that runs turns on it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from heald.core.messages import Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.core.payload import Payload
from heald.core.turn import Cost, Settings, StopReason, TokenLogprob, Usage

OnEvent = Callable[[Payload], object]
"""Called with each payload as it arrives, in the task that runs the turn. It must not block. False, returned for a
`RetryScheduled`, stops the retry: the turn fails with the error of the attempt.

One that has a method `on_payloads` may get payloads that arrived together in one call of it."""

Deliver = Callable[[Sequence[Payload]], object]


def deliver_to(on_event: OnEvent) -> Deliver:
    """Return the function that passes on payloads that arrived together."""
    together: Deliver | None = getattr(on_event, "on_payloads", None)
    if together is not None:
        return together

    def deliver_each(payloads: Sequence[Payload]) -> None:
        for payload in payloads:
            on_event(payload)

    return deliver_each


class CustomModel(Protocol):
    """A model that opens its own sessions, such as a `ScriptedModel` or a model of a family."""

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> "ProviderSession": ...


_CALL_STOPS = ("tool_calls", "function_call", "tool_use")


class ProviderTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One finished answer of a model."""

    message: Message
    stop_reason: StopReason
    usage: Usage
    attempts: int = 1
    discarded: Usage = Usage()
    """The usage of failed attempts, as far as the provider reported it."""
    provider_stop_reason: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    cost_usd: float | None = None
    """The cost, if the provider reports it."""
    unread_call: bool = False
    """The text holds a call in a form that could not be read."""
    notes: Sequence[str] = ()
    """Sentences about parts of the answer that the message cannot hold, and about repairs of it."""
    logprobs: Sequence[TokenLogprob] = ()
    """The log-probabilities of the tokens of the text, if `Settings.top_logprobs` requested them."""

    @property
    def text(self) -> str:
        """The text of the answer, without a refusal."""
        text = ""
        for block in self.message.content:
            if isinstance(block, Text) and not block.refusal:
                text += block.text
        return text

    @property
    def assistant_text(self) -> str:
        return self.text

    @property
    def refusal(self) -> str | None:
        return "".join(b.text for b in self.message.content if isinstance(b, Text) and b.refusal) or None

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls in the model's order. One with `invalid` set must not run."""
        return self.message.tool_calls

    @property
    def announces_calls(self) -> bool:
        """The message ended in order to call tools, and holds no call."""
        return self.provider_stop_reason in _CALL_STOPS and not self.tool_calls

    @property
    def assistant_turn(self) -> Any:
        """The answer in the provider's own form, as it must be sent back."""
        return self.message.native.content if self.message.native is not None else None


class ProviderSession(Protocol):
    """A conversation with one model. It keeps the history; turns run one at a time."""

    messages: list[Message]
    tools: list[ToolDefinition]
    settings: Settings

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        """Request one turn and stream it. Raises a `ProviderError` when every attempt failed."""
        ...

    def append_tool_results(self, turn: ProviderTurn, results: list[ToolResult]) -> None:
        """Append the message of a turn and the results of its calls."""
        ...

    def append(self, message: Message) -> None:
        """Append a message to the history."""
        ...

    def cost(self, usage: Usage) -> Cost:
        """Return the cost of a usage of this model."""
        ...

    @property
    def prices_ready(self) -> bool:
        """`cost` does not block. If not, await `load_prices` first: it reads the list in a thread."""
        ...

    async def load_prices(self) -> None: ...

    async def close(self) -> None: ...
