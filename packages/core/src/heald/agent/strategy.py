"""The interface of strategies: parts of the loop that not every agent needs."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from typing import Literal

from heald.agent.conversation import Conversation
from heald.core.messages import Message, ToolCall, ToolDefinition
from heald.providers.base import OnEvent, ProviderTurn

_log = logging.getLogger("heald")

Verdict = Message | Literal["end"] | None
"""The decision of a strategy after a turn: a message that asks the model for another turn, `end` to end the exchange
although tools were called, or None for the usual: another turn follows if, and only if, tools were called."""

StreamTurn = Callable[[OnEvent], Awaitable[ProviderTurn]]
"""Requests one turn, and calls the function with each payload of its answer."""


class NextRequest:
    """The next request to the model. Strategies change it before it is sent; the next one begins anew."""

    __slots__ = ("shows_files", "system", "tools")

    def __init__(self, tools: list[ToolDefinition], system: str) -> None:
        self.tools = tools
        """The tools that the model is offered."""
        self.system = system
        """The instructions."""
        self.shows_files = False
        """Whether a strategy has shown the model the files that it needs."""


class Strategy:
    """A part of the loop that not every agent needs. Override the hooks that yours needs.

    Every conversation has its own instance, so a strategy may keep state. Give `Agent` the class, or a function that
    returns an instance: `Agent(model, strategies=[CheckTests])`.
    """

    conversation: Conversation
    """The conversation of the agent. It is set before the first hook is called."""

    def attach(self, conversation: Conversation) -> None:
        """Called once, when the conversation is made."""
        self.conversation = conversation

    async def before_turn(self, request: NextRequest) -> None:
        """Change the next request: its tools or its instructions. Called before each turn, and before each attempt
        with another model."""

    async def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> ProviderTurn:
        """Wrap the request of a turn: `stream` sends it. `on_event` publishes the payloads of the answer; pass `stream`
        another function to see them first. Raise HealdError to end the exchange."""
        return await stream(on_event)

    def read_text(self, text: str) -> Sequence[ToolCall]:
        """Return the calls that the text of the final answer stands for. They run after it, with permissions like all
        calls; the model does not see them."""
        return ()

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        """Decide how the exchange continues. The results of the calls are the last message of the conversation."""
        return None

    async def after_exchange(self, *, completed: bool) -> None:
        """Called when the last turn has ended, before the exchange is closed."""


StrategyFactory = Callable[[], Strategy]
"""A class of strategies, or a function that returns an instance for one conversation."""


_HOOKS = ("before_turn", "stream_turn", "read_text", "after_turn", "after_exchange")


@cache
def _overridden_hooks(kind: type[Strategy]) -> list[int]:
    """Return the indexes of the hooks that a class of strategies overrides."""
    return [at for at, hook in enumerate(_HOOKS) if getattr(kind, hook) is not getattr(Strategy, hook)]


class StrategyList:
    """The strategies of one conversation. Only the hooks that a strategy overrides are called."""

    def __init__(self, conversation: Conversation, strategies: Sequence[Strategy] = ()) -> None:
        self._conversation = conversation
        self._before_turn: list[Strategy] = []
        self._stream_turn: list[Strategy] = []
        self._read_text: list[Strategy] = []
        self._after_turn: list[Strategy] = []
        self._after_exchange: list[Strategy] = []
        self._users = (
            self._before_turn,
            self._stream_turn,
            self._read_text,
            self._after_turn,
            self._after_exchange,
        )  # in the order of _HOOKS
        for strategy in strategies:
            self.add(strategy)

    def add(self, strategy: Strategy) -> None:
        """Add a strategy. Its hooks are called after those of the others."""
        strategy.attach(self._conversation)
        for hook in _overridden_hooks(type(strategy)):
            self._users[hook].append(strategy)

    async def before_turn(self) -> NextRequest:
        """Return the next request as the strategies want it."""
        conversation = self._conversation
        conversation.runtime.refresh_tools()
        request = NextRequest(conversation.definitions, conversation.settings.system)
        await self.change_request(request)
        return request

    async def change_request(self, request: NextRequest) -> None:
        """Let the strategies change a request."""
        for strategy in self._before_turn:
            await strategy.before_turn(request)

    def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> Awaitable[ProviderTurn]:
        """Run a turn within the hooks around it."""
        for strategy in reversed(self._stream_turn):
            stream = partial(strategy.stream_turn, stream)
        return stream(on_event)

    def read_text(self, text: str) -> list[ToolCall]:
        """Return the calls that strategies read in the final answer."""
        return [call for strategy in self._read_text for call in strategy.read_text(text)]

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        """Return the first decision on how the exchange continues."""
        for strategy in self._after_turn:
            verdict = strategy.after_turn(turn)
            if verdict is not None:
                return verdict
        return None

    async def after_exchange(self, *, completed: bool) -> None:
        """Call the hooks at the end of an exchange. One that raises is logged: the exchange is closed all the same."""
        for strategy in self._after_exchange:
            try:
                await strategy.after_exchange(completed=completed)
            except Exception:
                _log.exception("The strategy %s failed at the end of an exchange.", type(strategy).__name__)
