"""The interface of strategies: parts of the loop that not every agent needs."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache, partial
from typing import Literal, NamedTuple

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

    def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> Awaitable[ProviderTurn]:
        """Wrap the request of a turn: `stream` sends it. `on_event` publishes the payloads of the answer; pass `stream`
        another function to see them first. Raise HealdError to end the exchange."""
        return stream(on_event)

    def read_text(self, text: str) -> Sequence[ToolCall]:
        """Return the calls that the text of the final answer stands for. They run after it, with permissions like all
        calls; the model does not see them."""
        return ()

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        """Decide how the exchange continues. The results of the calls are the last message of the conversation."""
        return None

    async def after_exchange(self, *, completed: bool) -> None:
        """Called when the last turn has ended, before the exchange is closed."""


class QuickStrategy(Strategy):
    """A strategy that changes most requests at once, without a coroutine."""

    def prepare_turn(self, request: NextRequest) -> Awaitable[None] | None:
        """Change the next request. What takes longer is returned, and awaited before the next strategy."""
        raise NotImplementedError

    async def before_turn(self, request: NextRequest) -> None:
        waiting = self.prepare_turn(request)
        if waiting is not None:
            await waiting


StrategyFactory = Callable[[], Strategy]
"""A class of strategies, or a function that returns an instance for one conversation."""


class _Hooks(NamedTuple):
    """For each hook, the numbers of the strategies that override it, and the functions that are called."""

    before_turn: list[tuple[int, Callable[[Strategy, NextRequest], Awaitable[None] | None]]]
    stream_turn: list[tuple[int, Callable[[Strategy, StreamTurn, OnEvent], Awaitable[ProviderTurn]]]]
    read_text: list[tuple[int, Callable[[Strategy, str], Sequence[ToolCall]]]]
    after_turn: list[tuple[int, Callable[[Strategy, ProviderTurn], Verdict]]]
    after_exchange: list[tuple[int, Callable[..., Awaitable[None]]]]


@lru_cache(maxsize=256)
def _hooks_of(kinds: tuple[type[Strategy], ...]) -> _Hooks:
    """Return the hooks that strategies of these classes override."""
    hooks = _Hooks([], [], [], [], [])
    for number, kind in enumerate(kinds):
        for name, overriding in zip(_Hooks._fields, hooks, strict=True):
            if getattr(kind, name) is not getattr(Strategy, name):
                is_quick = name == "before_turn" and issubclass(kind, QuickStrategy)
                overriding.append((number, getattr(kind, "prepare_turn" if is_quick else name)))
    return hooks


class StrategyList:
    """The strategies of one conversation. Only the hooks that a strategy overrides are called."""

    def __init__(self, conversation: Conversation, strategies: Sequence[Strategy] = ()) -> None:
        self._conversation = conversation
        self._strategies = strategies
        for strategy in strategies:
            strategy.attach(conversation)
        self._hooks = _hooks_of(tuple(map(type, strategies)))

    @property
    def act_at_end(self) -> bool:
        """Whether there are hooks at the end of an exchange."""
        return bool(self._hooks.after_exchange)

    def add(self, strategy: Strategy) -> None:
        """Add a strategy. Its hooks are called after those of the others."""
        strategy.attach(self._conversation)
        self._strategies = [*self._strategies, strategy]
        self._hooks = _hooks_of(tuple(map(type, self._strategies)))

    async def before_turn(self) -> NextRequest:
        """Return the next request as the strategies want it."""
        conversation = self._conversation
        conversation.runtime.refresh_tools()
        request = NextRequest(conversation.definitions, conversation.settings.system)
        await self.change_request(request)
        return request

    async def change_request(self, request: NextRequest) -> None:
        """Let the strategies change a request."""
        for number, change in self._hooks.before_turn:
            waiting = change(self._strategies[number], request)
            if waiting is not None:
                await waiting

    def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> Awaitable[ProviderTurn]:
        """Run a turn within the hooks around it."""
        for number, wrap in reversed(self._hooks.stream_turn):
            stream = partial(wrap, self._strategies[number], stream)
        return stream(on_event)

    def read_text(self, text: str) -> list[ToolCall]:
        """Return the calls that strategies read in the final answer."""
        return [call for number, read in self._hooks.read_text for call in read(self._strategies[number], text)]

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        """Return the first decision on how the exchange continues."""
        for number, decide in self._hooks.after_turn:
            verdict = decide(self._strategies[number], turn)
            if verdict is not None:
                return verdict
        return None

    async def after_exchange(self, *, completed: bool) -> None:
        """Call the hooks at the end of an exchange. One that raises is logged: the exchange is closed all the same."""
        for number, end in self._hooks.after_exchange:
            strategy = self._strategies[number]
            try:
                await end(strategy, completed=completed)
            except Exception:
                _log.exception("The strategy %s failed at the end of an exchange.", type(strategy).__name__)
