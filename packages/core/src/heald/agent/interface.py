"""The interface of an agent, whether it runs here (`heald.Agent`), is stored in a session, or runs on a server."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from typing import Any, Generic, Literal, Protocol, Self, overload, runtime_checkable

from heald.agent.agent_stream import AgentStream, StreamedExchange
from heald.agent.background_loop import BackgroundLoop
from heald.agent.reactors import QUEUE, Reactor, Subscription
from heald.agent.request_message import Prompt
from heald.agent.result import AgentResult
from heald.core.arguments import checks_keywords
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import ApprovalRequested, ClientToolRequested, QuestionAsked
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald.core.payload import Layer
from heald.core.type_parameters import OutputT, RequestT, TypeForm
from heald.tools.client_tools import ClientToolLike
from heald.tools.definitions import Tool

WhenBusy = Literal["queue", "steer", "interrupt"]


class ExchangeInterface(Protocol[OutputT]):
    """A running request. Await `result()`, end it with `cancel()`, add to it with `steer()`."""

    error: HealdError | None

    @property
    def id(self) -> str: ...
    @property
    def is_over(self) -> bool: ...
    @property
    def is_delivered(self) -> bool: ...
    def on_end(self, callback: Callable[[], object]) -> None: ...
    async def result(self) -> AgentResult[OutputT]: ...
    def cancel(self, reason: str = "") -> bool: ...
    def steer(self, prompt: Prompt) -> bool: ...


@runtime_checkable
class AgentInterface(Protocol[OutputT]):
    """One conversation with a model that calls tools. See `heald.Agent` for the methods.

    `AgentInterface[Advice]` is an agent whose answers are of the type `Advice`, `AgentInterface[object]` any agent.

    `session` is None for a remote agent before its first use. A remote agent sends a decision (`approve`, `deny`,
    `answer`) in the background; the events `approval_resolved` and `question_answered` confirm it.
    """

    @property
    def session(self) -> str | None: ...
    @property
    def messages(self) -> list[Message]: ...
    @property
    def current(self) -> ExchangeInterface[Any] | None: ...
    @property
    def approvals(self) -> list[ApprovalRequested]: ...
    @property
    def questions(self) -> list[QuestionAsked]: ...
    @property
    def client_calls(self) -> list[ClientToolRequested]: ...
    @overload
    async def run(self, prompt: Prompt, *, output: None = None, deps: object = None) -> AgentResult[OutputT]: ...
    @overload
    async def run(
        self, prompt: Prompt, *, output: TypeForm[RequestT], deps: object = None
    ) -> AgentResult[RequestT]: ...
    @overload
    def stream(self, prompt: Prompt, *, output: None = None, deps: object = None) -> AgentStream[OutputT]: ...
    @overload
    def stream(self, prompt: Prompt, *, output: TypeForm[RequestT], deps: object = None) -> AgentStream[RequestT]: ...
    @overload
    def run_sync(self, prompt: Prompt, *, output: None = None, deps: object = None) -> AgentResult[OutputT]: ...
    @overload
    def run_sync(self, prompt: Prompt, *, output: TypeForm[RequestT], deps: object = None) -> AgentResult[RequestT]: ...
    @overload
    def send(
        self,
        prompt: Prompt,
        *,
        output: None = None,
        when_busy: WhenBusy = "queue",
        client_request_id: str | None = None,
        deps: object = None,
    ) -> ExchangeInterface[OutputT]: ...
    @overload
    def send(
        self,
        prompt: Prompt,
        *,
        output: TypeForm[RequestT],
        when_busy: WhenBusy = "queue",
        client_request_id: str | None = None,
        deps: object = None,
    ) -> ExchangeInterface[RequestT]: ...
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
    def as_tool(self, name: str, description: str) -> Tool: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...


class AgentBase(Generic[OutputT]):
    """The methods that local and remote agents share."""

    _background: BackgroundLoop | None = None

    def send(self, prompt: Prompt, *, output: Any = None, deps: object = None) -> ExchangeInterface[Any]:
        raise NotImplementedError

    def subscribe(self, reactor: Reactor) -> Subscription:
        raise NotImplementedError

    @overload
    async def run(self, prompt: Prompt, *, output: None = None, deps: object = None) -> AgentResult[OutputT]: ...
    @overload
    async def run(
        self, prompt: Prompt, *, output: TypeForm[RequestT], deps: object = None
    ) -> AgentResult[RequestT]: ...
    @checks_keywords
    async def run(self, prompt: Prompt, *, output: Any = None, deps: object = None) -> AgentResult[Any]:
        """Run one exchange and return its result. Raises the error of a failed exchange.

        `output` is the type of the answer: a class, or another type such as `list[str]`. `deps` is an object for the
        tools, which get it as `ToolContext.deps`.
        """
        exchange = self.send(prompt, output=output, deps=deps)
        result = await exchange.result()
        if exchange.error is not None:
            raise exchange.error
        return result

    @overload
    def run_sync(self, prompt: Prompt, *, output: None = None, deps: object = None) -> AgentResult[OutputT]: ...
    @overload
    def run_sync(self, prompt: Prompt, *, output: TypeForm[RequestT], deps: object = None) -> AgentResult[RequestT]: ...
    @checks_keywords
    def run_sync(self, prompt: Prompt, *, output: Any = None, deps: object = None) -> AgentResult[Any]:
        """`run` for scripts and notebooks. All calls share one event loop in a background thread."""
        return self._run_in_background(prompt, output, deps)

    def _run_in_background(self, prompt: Prompt, output: Any, deps: object) -> AgentResult[Any]:
        if self._background is None:
            self._background = BackgroundLoop()
        return self._background.run(self.run(prompt, output=output, deps=deps))

    @overload
    def stream(self, prompt: Prompt, *, output: None = None, deps: object = None) -> AgentStream[OutputT]: ...
    @overload
    def stream(self, prompt: Prompt, *, output: TypeForm[RequestT], deps: object = None) -> AgentStream[RequestT]: ...
    @checks_keywords
    def stream(self, prompt: Prompt, *, output: Any = None, deps: object = None) -> AgentStream[Any]:
        """Run one exchange and return its events, for `async for`; the last one is `exchange_response`. Leaving the
        loop cancels. `event.type == "text_delta"` tells a type checker the type of `event.data`."""
        streamed = StreamedExchange()
        return AgentStream(self._read_events(streamed, prompt, output, deps), streamed)

    def _read_events(
        self, streamed: StreamedExchange, prompt: Prompt, output: Any, deps: object
    ) -> AsyncGenerator[Event]:
        """Send a request, and yield the events of its exchange."""
        raise NotImplementedError

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
