"""The engine: the conversation, its queue of exchanges, its models and their fallbacks."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec

from weft.agent.bus import EventBus
from weft.agent.driver import Driver
from weft.agent.exchange import Exchange, ExchangeState
from weft.agent.hosted_tools import attach_tool_host
from weft.agent.tracker import Budget
from weft.core.envelope import Event
from weft.core.errors import ProviderError
from weft.core.events import ConversationQueued, ExchangeRequest, ExchangeResponse
from weft.core.messages import Block, File, Image, Message, Text, ToolDefinition, ToolResult
from weft.core.turn import Settings
from weft.providers.base import ProviderSession, ToolHost
from weft.providers.factory import Scripted, open_provider_session
from weft.providers.model import Model
from weft.tools.runtime import ToolRuntime
from weft.tools.type_schema import TypeSchema

ModelLike = str | Model | Scripted


class ModelChain:
    """A model and its fallbacks, with one provider session at a time. The next model takes over the history."""

    def __init__(self, models: Sequence[ModelLike], **options: Any) -> None:
        self._models = list(models)
        self._options = options
        self._at = 0
        self.session: ProviderSession | None = None
        """The provider session of the current model, once it is open."""

    @property
    def name(self) -> str:
        """The name of the current model."""
        model = self._models[self._at]
        return model if isinstance(model, str) else str(getattr(model, "name", "model"))

    def check(self) -> None:
        """Raise configuration errors now: an unknown model name, a missing key."""
        for model in self._models:
            open_provider_session(model, **self._options)

    def open(self, messages: list[Message], tools: list[ToolDefinition], settings: Settings) -> ProviderSession:
        """Open a session with the current model."""
        model = self._models[self._at]
        self.session = open_provider_session(model, messages=messages, tools=tools, settings=settings, **self._options)
        return self.session

    def fresh(self) -> "ModelChain":
        """Return the same models for another conversation."""
        return ModelChain(self._models, **self._options)

    async def switch_to_next(self, error: ProviderError) -> bool:
        """Switch to the next model after a failure. Returns False if there is none."""
        if self._at + 1 >= len(self._models):
            return False
        self._at += 1
        await self.close()
        return True

    async def close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            await session.close()


_KEPT = 300
"""The number of characters of an old result that stay."""
_RECENT = 4
"""The number of messages at the end that are not shortened."""
_WORTH_IT = 0.1
"""The share of the conversation that must be removed to make another attempt worthwhile."""


def compact(messages: Sequence[Message]) -> list[Message] | None:
    """Shorten old results and pictures in a conversation. Returns None if that would not help."""
    shorter = [_shortened(message) for message in messages[:-_RECENT]] + list(messages[-_RECENT:])
    before, after = sum(map(_size, messages)), sum(map(_size, shorter))
    return shorter if before - after >= before * _WORTH_IT else None


def _shortened(message: Message) -> Message:
    if message.role == "assistant":
        return message
    return msgspec.structs.replace(message, content=[_short(block) for block in message.content])


def _short(block: Block) -> Block:
    match block:
        case ToolResult():
            text = block.text
            media = not isinstance(block.content, str) and len(block.content) > 1
            if len(text) <= 2 * _KEPT and not media:
                return block
            how = f'read_result(handle="{block.whole.handle}") reads it' if block.whole else "call the tool again"
            left_out = f"{text[:_KEPT]}\n[… left out to save space; {how} if you need it]"
            return msgspec.structs.replace(block, content=left_out, truncated=True)
        case Image():
            return Text("[A picture, left out to save space.]")
        case File():
            return Text(f"[The file {block.name or 'attached'}, left out to save space.]")
        case _:
            return block


def _size(message: Message) -> int:
    return sum(map(_block_size, message.content))


def _block_size(block: Block) -> int:
    match block:
        case Image(data=data) | File(data=data):
            return len(data or "")
        case ToolResult(content=str(text)):
            return len(text)
        case ToolResult(content=list(parts)):
            return sum(_block_size(part) for part in parts)
        case Text(text=text):
            return len(text)
        case _:
            return 0


class AgentEngine:
    """Runs exchanges on a model with tools, and publishes everything on the bus."""

    def __init__(
        self,
        models: ModelChain,
        runtime: ToolRuntime,
        bus: EventBus,
        *,
        settings: Settings | None = None,
        budget: Budget | None = None,
        messages: list[Message] | None = None,
    ) -> None:
        self.models = models
        self.runtime = runtime
        self.bus = bus
        self.settings = settings or Settings()
        self.budget = budget or Budget()
        self.messages = list(messages or [])
        """The conversation so far."""
        self.current: Exchange | None = None
        self.host: ToolHost | None = None
        """The provider session, if its model runs tools in its own loop."""
        self._waiting: deque[Exchange] = deque()
        self._requests: dict[str, Exchange] = {}
        runtime.relay = self._relay
        runtime.remaining_budget = self._remaining_budget
        runtime.on_new_tool = self.update_tools

    @property
    def session(self) -> ProviderSession:
        """The provider session of the current model. It shares its history with the engine."""
        session = self.models.session
        if session is None:
            session = self.models.open(self.messages, self.runtime.registry.definitions, self.settings)
            self.messages = session.messages
        return session

    def prepare(self, shape: TypeSchema | None) -> None:
        """Set the current tools and the requested output before an exchange."""
        session = self.session
        session.tools = self.runtime.registry.definitions
        self.host = attach_tool_host(session, self.runtime)
        schema = shape.schema if shape is not None else self.settings.output_schema
        settings = msgspec.structs.replace(self.settings, output_schema=schema)
        if session.settings != settings:
            session.settings = settings

    def choose_tools(self, choice: str) -> None:
        """Change the tool choice until the next exchange."""
        session = self.session
        if session.settings.tool_choice != choice:
            session.settings = msgspec.structs.replace(session.settings, tool_choice=choice)

    def update_tools(self) -> None:
        """Offer the current tools from the next turn on."""
        if self.models.session is not None:
            self.models.session.tools = self.runtime.registry.definitions

    def compact(self) -> bool:
        """Shorten the conversation. Returns False if that would not help."""
        shorter = compact(self.messages)
        if shorter is not None:
            self.session.messages[:] = shorter
        return shorter is not None

    def append(self, message: Message) -> None:
        self.session.append(message)

    def submit(
        self,
        message: Message,
        *,
        shape: TypeSchema | None = None,
        cause: str | None = None,
        client_request_id: str | None = None,
        first: bool = False,
        exchange_id: str | None = None,
    ) -> Exchange:
        """Start an exchange, or queue it: at the end, or `first`.

        A known `client_request_id` returns its exchange. `exchange_id` is the id of a request that was queued before.
        """
        if client_request_id is not None and client_request_id in self._requests:
            return self._requests[client_request_id]
        request = ExchangeRequest(message, self.models.name, client_request_id, cause)
        exchange = Exchange(self, request, shape=shape, exchange_id=exchange_id)
        if client_request_id is not None:
            self._requests[client_request_id] = exchange
        (self._waiting.appendleft if first else self._waiting.append)(exchange)
        if self.current is None:
            self._start_next()
        else:
            exchange.move_to(ExchangeState.QUEUED)
            position = 1 if first else len(self._waiting)
            self.publish_queued(exchange, position)
        return exchange

    def find(self, client_request_id: str) -> Exchange | None:
        """Return the exchange of a request."""
        return self._requests.get(client_request_id)

    def exchange(self, exchange_id: str) -> Exchange | None:
        """Return a running or queued exchange."""
        known = (*([self.current] if self.current is not None else []), *self._waiting)
        return next((exchange for exchange in known if exchange.id == exchange_id), None)

    @property
    def waiting(self) -> int:
        """The number of queued exchanges."""
        return len(self._waiting)

    def register_request(self, client_request_id: str, exchange: Exchange) -> None:
        """Return this exchange when the request is repeated."""
        self._requests[client_request_id] = exchange

    def cancel(self, reason: str = "") -> bool:
        """Cancel the running exchange, if there is one."""
        return self.current.cancel(reason) if self.current is not None else False

    def abort_waiting(self, error: Exception) -> None:
        """Fail all queued exchanges."""
        for exchange in self._waiting:
            exchange.abort(error)

    def publish_queued(self, exchange: Exchange, position: int) -> None:
        """Publish that an exchange is queued, with all data that is needed to run it in another process."""
        request = exchange.request
        self.bus.publish_outside_exchange(
            ConversationQueued(position, exchange.id, request.message, request.client_request_id, request.cause)
        )

    def drain_queue(self) -> list[Exchange]:
        """Remove and return all queued exchanges, in order."""
        waiting, self._waiting = list(self._waiting), deque()
        return waiting

    async def close(self) -> None:
        """Cancel all exchanges and close the models and tools."""
        for exchange in (*self._waiting, *([self.current] if self.current is not None else [])):
            exchange.cancel("The agent was closed.")
        while self.current is not None and self.current.driver is not None:
            await asyncio.wait([self.current.driver.task])
            await asyncio.sleep(0)
        await self.models.close()
        await self.runtime.close()

    def _start_next(self) -> None:
        if not self._waiting:
            self.current = None
            return
        self.current = exchange = self._waiting.popleft()
        exchange.driver = Driver(exchange.run(), f"weft-{exchange.id}", self._ended)

    def _ended(self) -> None:
        if self.current is not None and not self.current.is_over:  # the task was cancelled before its first step
            self.current.close_unrun()
        self._start_next()

    def _remaining_budget(self) -> Budget:
        """Return the remaining budget of the running exchange, for agents that work for it."""
        return self.budget.remaining(self.current.tracker) if self.current is not None else self.budget

    def _relay(self, event: Event, direct: bool) -> None:
        if self.current is not None and direct and isinstance(event.data, ExchangeResponse):
            self.current.tracker.delegate(event.data)
        self.bus.relay(event)
