"""The agent: a model, tools and a conversation, behind a handful of methods."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from os import PathLike
from typing import Any, Literal

import msgspec

from weft.agent.answering import Answerer, Approver, OnApproval, OnQuestion
from weft.agent.background import Background
from weft.agent.budget import Budget
from weft.agent.bus import EventBus
from weft.agent.engine import AgentEngine
from weft.agent.exchange import Exchange
from weft.agent.instructions import Instructions, join_instructions
from weft.agent.models import ModelLike, Models
from weft.agent.reactors import QUEUE, Reactor, Subscription
from weft.agent.result import AgentResult
from weft.agent.streaming import EventStream
from weft.core.content import File, Image, Text
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.core.messages import Message, user
from weft.core.payload import Layer
from weft.core.settings import Reason, Settings
from weft.providers.retry import Retry, Timeouts
from weft.tools.approvals import Approval
from weft.tools.cache import ResultCache
from weft.tools.outcome import plain_text
from weft.tools.permissions import Mode, Permissions
from weft.tools.registry import Registry, ToolLike
from weft.tools.runtime import Middleware, ToolRuntime
from weft.tools.shape import Shape
from weft.tools.tool import Tool
from weft.tools.workspace.base import Workspace
from weft.tools.workspace.disk import DiskWorkspace
from weft.tools.workspace.memory import MemoryWorkspace

Prompt = str | Message | Sequence[str | Text | Image | File]


class Agent:
    """One conversation with a model that calls tools.

    Tools are functions, `Tool`s, or names of those that come with Weft, such as "files" and "shell". Exchanges run one
    at a time; one that is asked for meanwhile waits for its turn.
    """

    def __init__(
        self,
        model: ModelLike,
        *,
        tools: Sequence[ToolLike | str] = (),
        instructions: Instructions = None,
        default_instructions: bool = True,
        workspace: Workspace | str | PathLike[str] | None = None,
        permissions: Permissions | Mode = "auto",
        budget: Budget | None = None,
        fallbacks: Sequence[ModelLike] = (),
        output: Any = None,
        history: Sequence[Message] = (),
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        reasoning: Reason | None = None,
        settings: Settings | None = None,
        middleware: Sequence[Middleware] = (),
        cache: bool = False,
        on_approval: OnApproval | None = None,
        on_question: OnQuestion | None = None,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
        session: str | None = None,
    ) -> None:
        known = Registry(_tools(tools))
        base = settings or Settings()
        self.settings = msgspec.structs.replace(
            base,
            system=join_instructions(
                [base.system, *_listed(instructions)], default=default_instructions, tools=len(known) > 0
            ),
            temperature=temperature if temperature is not None else base.temperature,
            max_output_tokens=max_output_tokens if max_output_tokens is not None else base.max_output_tokens,
            reasoning=reasoning if reasoning is not None else base.reasoning,
        )
        self.session = session or new_id("ses")
        self.bus = EventBus(self.session)
        self.runtime = ToolRuntime(
            known,
            workspace=_workspace(workspace),
            permissions=permissions if isinstance(permissions, Permissions) else Permissions(permissions),
            middleware=middleware,
            cache=ResultCache() if cache else None,
        )
        options = {"retry": retry, "timeouts": timeouts}
        self.engine = AgentEngine(
            Models([model, *fallbacks], **{name: value for name, value in options.items() if value is not None}),
            self.runtime,
            self.bus,
            settings=self.settings,
            budget=budget,
            messages=list(history),
        )
        self.engine.models.check()
        self._shape = Shape(output, "The output") if output is not None else None
        self._background: Background | None = None
        self._answer_with(on_approval, on_question)

    # --- asking ------------------------------------------------------------------------------------------------------

    async def run(self, prompt: Prompt, *, output: Any = None) -> AgentResult:
        """Ask, and wait until everything is done. A failed exchange raises its error."""
        exchange = self.send(prompt, output=output)
        result = await exchange.result()
        if exchange.error is not None:
            raise exchange.error
        return result

    async def stream(self, prompt: Prompt, *, output: Any = None) -> AsyncIterator[Event]:
        """Ask, and hear each event as it happens; the last one is `exchange_response`. Leaving the loop cancels."""
        stream = EventStream(self.bus)
        exchange = self.send(prompt, output=output)
        try:
            told = False
            while not told:
                events = await stream.next_of(exchange)
                told = exchange.is_told
                for event in events:
                    yield event
        finally:
            stream.close()
            if exchange.cancel("The stream was left."):
                await exchange.result()

    def run_sync(self, prompt: Prompt, *, output: Any = None) -> AgentResult:
        """`run` for scripts and notebooks. All calls share one loop in the background."""
        if self._background is None:
            self._background = Background()
        return self._background.run(self.run(prompt, output=output))

    def send(
        self,
        prompt: Prompt,
        *,
        output: Any = None,
        when_busy: Literal["queue", "steer", "interrupt"] = "queue",
        client_request_id: str | None = None,
        cause: str | None = None,
    ) -> Exchange:
        """Ask without waiting. While another exchange runs, the new one waits for its turn (`queue`), joins it at the
        model's next turn (`steer`), or ends it and takes its place (`interrupt`)."""
        message = _message(prompt)
        current = self.engine.current
        if when_busy == "steer" and current is not None and current.steer(message):
            return current
        if when_busy == "interrupt":
            self.engine.cancel("A new request took its place.")
        shape = Shape(output, "The output") if output is not None else self._shape
        first = when_busy == "interrupt"
        return self.engine.submit(message, shape=shape, cause=cause, client_request_id=client_request_id, first=first)

    def cancel(self, reason: str = "") -> bool:
        """End the exchange that runs. False if none does."""
        return self.engine.cancel(reason)

    # --- being asked -------------------------------------------------------------------------------------------------

    def approve(
        self, approval: str, *, arguments: JsonObject | None = None, always: bool = False, digest: str | None = None
    ) -> None:
        """Allow a call that waits: once, or always what it is about; with other arguments if they are given."""
        self.runtime.approvals.resolve(approval, Approval(True, arguments=arguments, always=always), digest=digest)

    def deny(self, approval: str, reason: str = "") -> None:
        """Refuse a call that waits. The model is told the reason."""
        self.runtime.approvals.resolve(approval, Approval(False, reason))

    def answer(self, question: str, text: str) -> None:
        """Answer a question that a tool put."""
        self.runtime.approvals.answer(question, text)

    # --- watching ----------------------------------------------------------------------------------------------------

    def subscribe(
        self,
        reactor: Reactor,
        *,
        types: Collection[str] | None = None,
        layers: Collection[Layer] | None = None,
        queue: int = QUEUE,
    ) -> Subscription:
        """Let a reactor hear the events of this agent: all, or those of the types or layers named."""
        return self.bus.subscribe(reactor, types=types, layers=layers, queue=queue)

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        return list(self.engine.messages)

    @property
    def workspace(self) -> Workspace:
        return self.runtime.workspace

    def as_tool(self, name: str, description: str) -> Tool:
        """This agent as a tool of another one. Each call is a conversation of its own."""
        from weft.agent.delegate import delegate

        return delegate(self, name, description)

    async def close(self) -> None:
        """End what runs, and all that the tools have started."""
        background, self._background = self._background, None
        if background is None:
            await self._close()
            return
        await asyncio.wrap_future(background.start(self._close()))
        background.close()

    async def _close(self) -> None:
        await self.engine.close()
        await self.bus.close()

    async def __aenter__(self) -> "Agent":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _answer_with(self, on_approval: OnApproval | None, on_question: OnQuestion | None) -> None:
        approvals = self.runtime.approvals
        if on_approval is not None:
            self.subscribe(Approver(on_approval, approvals))
        if on_question is not None:
            self.subscribe(Answerer(on_question, approvals))


def _tools(given: Sequence[ToolLike | str]) -> list[ToolLike]:
    """Functions and tools as they are; names stand for those that come with Weft."""
    names = [tool for tool in given if isinstance(tool, str)]
    own = [tool for tool in given if not isinstance(tool, str)]
    if not names:
        return own
    from weft.tools.builtin import named_tools

    return [*named_tools(names), *own]


def _listed(instructions: Instructions) -> Sequence[Any]:
    if instructions is None:
        return []
    return list(instructions) if isinstance(instructions, list | tuple) else [instructions]


def _message(prompt: Prompt) -> Message:
    if isinstance(prompt, Message):
        if prompt.role != "user":
            raise ConfigurationError(f"An exchange begins with a user message, not with one of role {prompt.role!r}.")
        return prompt
    parts = [prompt] if isinstance(prompt, str) else prompt
    return user(*(plain_text(part) if isinstance(part, str) else part for part in parts))


def _workspace(given: Workspace | str | PathLike[str] | None) -> Workspace:
    if given is None:
        return MemoryWorkspace()
    return DiskWorkspace(given) if isinstance(given, str | PathLike) else given
