"""The interface of strategies: parts of the loop that not every agent needs."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Literal

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


_HOOKS = ("before_turn", "stream_turn", "read_text", "after_turn", "after_exchange")


@cache
def _overridden_hooks(kind: type[Strategy]) -> list[tuple[int, str]]:
    """Return the hooks that a class of strategies overrides: the place of each, and the method that is called."""
    hooks = [(place, hook) for place, hook in enumerate(_HOOKS) if getattr(kind, hook) is not getattr(Strategy, hook)]
    is_quick = issubclass(kind, QuickStrategy)
    return [(place, "prepare_turn" if is_quick and hook == "before_turn" else hook) for place, hook in hooks]


@lru_cache(maxsize=256)
def _hooks_of(kinds: tuple[type[Strategy], ...]) -> tuple[list[tuple[int, str]], ...]:
    """Return, for each hook, the strategies of these classes that override it, and the method that is called."""
    hooks: tuple[list[tuple[int, str]], ...] = tuple([] for _ in _HOOKS)
    for number, kind in enumerate(kinds):
        for place, hook in _overridden_hooks(kind):
            hooks[place].append((number, hook))
    return hooks


class StrategyList:
    """The strategies of one conversation. Only the hooks that a strategy overrides are called."""

    def __init__(self, conversation: Conversation, strategies: Sequence[Strategy] = ()) -> None:
        self._conversation = conversation
        for strategy in strategies:
            strategy.attach(conversation)
        hooks: list[list[Any]] = [
            [getattr(strategies[number], hook) for number, hook in overridden]
            for overridden in _hooks_of(tuple(map(type, strategies)))
        ]
        self._hooks = hooks  # in the order of _HOOKS
        self._before_turn: list[Callable[[NextRequest], Awaitable[None] | None]] = hooks[0]
        self._stream_turn: list[Callable[[StreamTurn, OnEvent], Awaitable[ProviderTurn]]] = hooks[1]
        self._read_text: list[Callable[[str], Sequence[ToolCall]]] = hooks[2]
        self._after_turn: list[Callable[[ProviderTurn], Verdict]] = hooks[3]
        self._after_exchange: list[Callable[..., Awaitable[None]]] = hooks[4]

    @property
    def act_at_end(self) -> bool:
        """Whether there are hooks at the end of an exchange."""
        return bool(self._after_exchange)

    def add(self, strategy: Strategy) -> None:
        """Add a strategy. Its hooks are called after those of the others."""
        strategy.attach(self._conversation)
        for place, hook in _overridden_hooks(type(strategy)):
            self._hooks[place].append(getattr(strategy, hook))

    async def before_turn(self) -> NextRequest:
        """Return the next request as the strategies want it."""
        conversation = self._conversation
        conversation.runtime.refresh_tools()
        request = NextRequest(conversation.definitions, conversation.settings.system)
        for change in self._before_turn:
            waiting = change(request)
            if waiting is not None:
                await waiting
        return request

    async def change_request(self, request: NextRequest) -> None:
        """Let the strategies change a request."""
        for change in self._before_turn:
            waiting = change(request)
            if waiting is not None:
                await waiting

    def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> Awaitable[ProviderTurn]:
        """Run a turn within the hooks around it."""
        for wrap in reversed(self._stream_turn):
            stream = partial(wrap, stream)
        return stream(on_event)

    def read_text(self, text: str) -> list[ToolCall]:
        """Return the calls that strategies read in the final answer."""
        return [call for read in self._read_text for call in read(text)]

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        """Return the first decision on how the exchange continues."""
        for decide in self._after_turn:
            verdict = decide(turn)
            if verdict is not None:
                return verdict
        return None

    async def after_exchange(self, *, completed: bool) -> None:
        """Call the hooks at the end of an exchange. One that raises is logged: the exchange is closed all the same."""
        for end in self._after_exchange:
            try:
                await end(completed=completed)
            except Exception:
                name = type(getattr(end, "__self__", end)).__name__
                _log.exception("The strategy %s failed at the end of an exchange.", name)
