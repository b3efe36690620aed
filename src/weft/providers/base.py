"""The contract between a model and the loop that runs turns on it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import msgspec

from weft.core.errors import WeftError
from weft.core.json import JsonObject
from weft.core.messages import Message, ResultPart, Text, ToolCall, ToolDefinition, ToolResult, tool_results
from weft.core.payload import Payload
from weft.core.turn import Cost, Settings, StopReason, TokenLogprob, Usage

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
    billed_usd: float | None = None
    """The cost, if the provider reports it."""
    unread_call: bool = False
    """The text holds a call in a form that could not be read."""
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


Judge = Callable[[str, JsonObject], str | None]
"""Returns why a subagent's call, which is in no message of the log, may not run; None if it may."""


class Outcome(msgspec.Struct, frozen=True):
    """The result of a call that the host ran."""

    content: str | list[ResultPart]
    is_error: bool = False


class OutcomeLost(WeftError):
    """The host's loop ended before it reported the outcome of a call."""


class LimitReached(WeftError):
    """The host's loop reached a limit of its own: `turns` or `usd`."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@runtime_checkable
class ToolHost(Protocol):
    """A `ProviderSession` whose model runs in a loop of its own, with tools of its own.

    The session still runs turn by turn. Its loop waits at each call until Weft has decided on it. A call of a tool
    of Weft runs in Weft, and its result is delivered at once: the loop may need it before the next call. A call of the
    host's own tool is run by `perform`; a refused call gets a result without having been performed.
    """

    judge: Judge | None

    async def perform(self, call: str, arguments: JsonObject, say: Callable[[str], object]) -> Outcome:
        """Let the host run a call and wait for its outcome. `say` receives its output. Raises `OutcomeLost`."""
        ...

    def deliver_result(self, result: ToolResult) -> None:
        """Pass the result of a call to the host."""
        ...

    async def end_exchange(self, *, cut: bool) -> None:
        """End the exchange. If it was `cut` off, the host's loop has ended on return. Never raises."""
        ...


class ConversationBase:
    """A `ProviderSession` except for the turn: it keeps the history and costs nothing."""

    reports_cost: bool = False
    """Every turn has its cost, although `cost` does not know a price beforehand."""

    def __init__(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> None:
        self.messages = list(messages)
        self.tools = tools
        self.settings = settings

    @property
    def used_ids(self) -> set[str]:
        """The ids of all calls in the history."""
        return {call.id for message in self.messages for call in message.tool_calls}

    def append_tool_results(self, turn: ProviderTurn, results: list[ToolResult]) -> None:
        self.messages.append(turn.message)
        if results:
            self.messages.append(tool_results(results))

    def append(self, message: Message) -> None:
        self.messages.append(message)

    def cost(self, usage: Usage) -> Cost:
        return Cost(usd=0.0, source="catalogue")

    @property
    def prices_ready(self) -> bool:
        return True

    async def load_prices(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
