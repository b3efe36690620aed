"""The interface of an agent, whether it runs here (`weft.Agent`), is stored in a session, or runs on a server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Any, Literal, Protocol, Self, runtime_checkable

from weft.agent.driver import BackgroundLoop
from weft.agent.reactors import QUEUE, Reactor, Subscription
from weft.agent.result import AgentResult
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import ApprovalRequested, ClientToolRequested, QuestionAsked
from weft.core.json import JsonObject
from weft.core.message_forms import read_messages
from weft.core.messages import File, Image, Message, Text, ToolResult, user_message
from weft.core.payload import Layer
from weft.tools.client_tools import ClientToolLike
from weft.tools.definitions import Tool
from weft.tools.results import plain_text

Prompt = str | Message | JsonObject | Sequence[str | Text | Image | File]
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
    @property
    def client_calls(self) -> list[ClientToolRequested]: ...
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
    def send_tool_result(self, call_id: str, content: object, is_error: bool = False) -> None: ...
    async def set_client_tools(self, tools: Sequence[ClientToolLike]) -> None: ...
    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription: ...
    def react(self, reactor: Reactor) -> Callable[[], None]: ...
    def as_tool(self, name: str, description: str) -> Tool: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...


class AgentBase:
    """The methods that local and remote agents share."""

    _background: BackgroundLoop | None = None

    def send(self, prompt: Prompt, *, output: Any = None) -> ExchangeInterface:
        raise NotImplementedError

    def subscribe(self, reactor: Reactor) -> Subscription:
        raise NotImplementedError

    def react(self, reactor: Reactor) -> Callable[[], None]:
        """Subscribe handlers and return the function that unsubscribes them.

        They are a mapping or an object whose names are event types or handlers of them: `tool_result`,
        `on_tool_result` or `onToolResult`; `onEvent` is for all other events. Functions and coroutines both work.
        """
        return self.subscribe(reactor).close

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


def as_request_message(prompt: Prompt) -> Message:
    """Return the message that an exchange begins with: one of the user, or the results of the last calls."""
    prompt = _read_prompt(prompt)
    if isinstance(prompt, Message) and prompt.role == "tool":
        if not prompt.content or not all(isinstance(block, ToolResult) for block in prompt.content):
            raise ConfigurationError("A message of role 'tool' holds the results of calls and nothing else.")
        return prompt
    return as_user_message(prompt)


def _read_prompt(prompt: Prompt) -> str | Message | Sequence[str | Text | Image | File]:
    """Convert a message of another form."""
    if not isinstance(prompt, dict):
        return prompt
    messages = read_messages([prompt])
    if len(messages) != 1:
        raise ConfigurationError("The request must be one message, of the user or with results, and no system message.")
    return messages[0]


def check_continues(messages: Sequence[Message], message: Message) -> None:
    """Raise ConfigurationError if a message of results does not answer the calls of the last message."""
    if message.role != "tool":
        return
    calls = (
        {call.id for call in messages[-1].tool_calls} if messages and messages[-1].role == "assistant" else set[str]()
    )
    results = [block.id for block in message.content if isinstance(block, ToolResult)]
    if not calls or set(results) != calls or len(results) != len(calls):
        raise ConfigurationError(
            "The results do not belong to the last message; a conversation continues with one result for each of its "
            "calls."
        )


def as_user_message(prompt: Prompt) -> Message:
    prompt = _read_prompt(prompt)
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
