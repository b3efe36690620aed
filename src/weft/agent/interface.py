"""The interface of an agent, whether it runs here (`weft.Agent`), is stored in a session, or runs on a server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Any, Literal, Protocol, Self, runtime_checkable

from weft.agent.driver import BackgroundLoop
from weft.agent.reactors import QUEUE, Reactor, Subscription
from weft.agent.result import AgentResult
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import ApprovalRequested, QuestionAsked
from weft.core.json import JsonObject
from weft.core.messages import File, Image, Message, Text, user_message
from weft.core.payload import Layer
from weft.tools.definitions import Tool
from weft.tools.results import plain_text

Prompt = str | Message | Sequence[str | Text | Image | File]
WhenBusy = Literal["queue", "steer", "interrupt"]


class ExchangeInterface(Protocol):
    """A running request. See `Exchange` for the methods."""

    error: WeftError | None

    @property
    def id(self) -> str: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def is_delivered(self) -> bool: ...
    def on_end(self, callback: Callable[[], object]) -> None: ...
    async def result(self) -> AgentResult: ...
    def cancel(self, reason: str = "") -> bool: ...
    def steer(self, prompt: Prompt) -> bool: ...


@runtime_checkable
class AgentInterface(Protocol):
    """One conversation with a model that calls tools. See `weft.Agent` for the methods.

    `session` is None for a remote agent before its first use. A remote agent sends a decision (`approve`, `deny`,
    `answer`) in the background; the events `approval_resolved` and `question_answered` confirm it.
    """

    @property
    def session(self) -> str | None: ...
    @property
    def messages(self) -> list[Message]: ...
    @property
    def current(self) -> ExchangeInterface | None: ...
    @property
    def approvals(self) -> list[ApprovalRequested]: ...
    @property
    def questions(self) -> list[QuestionAsked]: ...
    async def run(self, prompt: Prompt, *, output: Any = None) -> AgentResult: ...
    def stream(self, prompt: Prompt, *, output: Any = None) -> AsyncIterator[Event]: ...
    def run_sync(self, prompt: Prompt, *, output: Any = None) -> AgentResult: ...
    def send(
        self,
        prompt: Prompt,
        *,
        output: Any = None,
        when_busy: WhenBusy = "queue",
        client_request_id: str | None = None,
    ) -> ExchangeInterface: ...
    def cancel(self, reason: str = "") -> bool: ...
    def approve(
        self, approval: str, *, arguments: JsonObject | None = None, always: bool = False, digest: str | None = None
    ) -> None: ...
    def deny(self, approval: str, reason: str = "") -> None: ...
    def answer(self, question: str, text: str) -> None: ...
    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription: ...
    def as_tool(self, name: str, description: str) -> Tool: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...


class AgentBase:
    """The methods that local and remote agents share."""

    _background: BackgroundLoop | None = None

    def send(self, prompt: Prompt, *, output: Any = None) -> ExchangeInterface:
        raise NotImplementedError

    async def run(self, prompt: Prompt, *, output: Any = None) -> AgentResult:
        """Run one exchange and return its result. Raises the error of a failed exchange."""
        exchange = self.send(prompt, output=output)
        result = await exchange.result()
        if exchange.error is not None:
            raise exchange.error
        return result

    def run_sync(self, prompt: Prompt, *, output: Any = None) -> AgentResult:
        """`run` for scripts and notebooks. All calls share one event loop in a background thread."""
        if self._background is None:
            self._background = BackgroundLoop()
        return self._background.run(self.run(prompt, output=output))

    async def close(self) -> None:
        """Close the agent, and the background loop if it has one."""
        background, self._background = self._background, None
        if background is None:
            await self._close()
            return
        await asyncio.wrap_future(background.start(self._close()))
        background.close()

    async def _close(self) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def as_user_message(prompt: Prompt) -> Message:
    if isinstance(prompt, Message):
        if prompt.role != "user":
            raise ConfigurationError(f"An exchange begins with a user message, not with one of role {prompt.role!r}.")
        return prompt
    parts = [prompt] if isinstance(prompt, str) else prompt
    return user_message(*(plain_text(part) if isinstance(part, str) else part for part in parts))


def is_in_loop(loop: asyncio.AbstractEventLoop | None = None) -> bool:
    """Return whether the caller runs in this event loop, or in any."""
    try:
        return asyncio.get_running_loop() is loop or loop is None
    except RuntimeError:
        return False
