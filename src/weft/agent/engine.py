"""The engine: one conversation, one exchange at a time, in the order of asking."""

import asyncio
from collections import deque

import msgspec

from weft.agent.budget import Budget
from weft.agent.bus import EventBus
from weft.agent.compaction import compact
from weft.agent.driver import Driver
from weft.agent.exchange import Exchange
from weft.agent.hosted import welcome
from weft.agent.models import Models
from weft.core.envelope import Event
from weft.core.events import ConversationQueued, ExchangeRequest, ExchangeResponse
from weft.core.messages import Message
from weft.core.settings import Settings
from weft.providers.base import ProviderSession
from weft.providers.hosting import ToolHost
from weft.tools.runtime import ToolRuntime
from weft.tools.shape import Shape


class AgentEngine:
    """Runs exchanges on a model with tools. What happens is told on the bus, and nowhere else."""

    def __init__(
        self,
        models: Models,
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
        """The provider session, if its model runs tools in a loop of its own."""
        self._waiting: deque[Exchange] = deque()
        self._requests: dict[str, Exchange] = {}
        runtime.relay = self._relay
        runtime.left = self._left

    @property
    def session(self) -> ProviderSession:
        """The provider session of the model that is up. It and the engine share one history."""
        session = self.models.session
        if session is None:
            session = self.models.open(self.messages, self.runtime.registry.definitions, self.settings)
            self.messages = session.messages
        return session

    def prepare(self, shape: Shape | None) -> None:
        """Before an exchange: the tools as they are now, and the output that is asked for."""
        session = self.session
        session.tools = self.runtime.registry.definitions
        self.host = welcome(session, self.runtime)
        schema = shape.schema if shape is not None else self.settings.output_schema
        if session.settings.output_schema != schema:
            session.settings = msgspec.structs.replace(self.settings, output_schema=schema)

    def compact(self) -> bool:
        """Shorten what is sent of the conversation. False if nothing much can go."""
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
        shape: Shape | None = None,
        cause: str | None = None,
        client_request_id: str | None = None,
        first: bool = False,
        exchange_id: str | None = None,
    ) -> Exchange:
        """Start an exchange, or queue it behind the one that runs: at the end, or before all others.

        The same `client_request_id` again gives the exchange that it began. `exchange_id` names one that waited before.
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
            exchange.is_queued = True
            place = 1 if first else len(self._waiting)
            self.say_queued(exchange, place)
        return exchange

    def find(self, client_request_id: str) -> Exchange | None:
        """The exchange that a request began."""
        return self._requests.get(client_request_id)

    def exchange(self, exchange_id: str) -> Exchange | None:
        """One that runs or waits."""
        known = (*([self.current] if self.current is not None else []), *self._waiting)
        return next((exchange for exchange in known if exchange.id == exchange_id), None)

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    def remember(self, client_request_id: str, exchange: Exchange) -> None:
        """The same request, asked again, is this exchange."""
        self._requests[client_request_id] = exchange

    def cancel(self, reason: str = "") -> bool:
        """End the exchange that runs, if one does."""
        return self.current.cancel(reason) if self.current is not None else False

    def give_up(self, error: Exception) -> None:
        """Nothing that waits will be run here; whoever waits for it gets the error."""
        for exchange in self._waiting:
            exchange.give_up(error)

    def say_queued(self, exchange: Exchange, place: int) -> None:
        """Tell that an exchange waits, with all that is needed to run it elsewhere."""
        asked = exchange.request
        self.bus.publish_apart(
            ConversationQueued(place, exchange.id, asked.message, asked.client_request_id, asked.cause)
        )

    def set_aside(self) -> list[Exchange]:
        """Take what waits out of the queue, in order: it will not be run here."""
        waiting, self._waiting = list(self._waiting), deque()
        return waiting

    async def close(self) -> None:
        """End everything that runs or waits, then what the tools keep."""
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
        if self.current is not None and not self.current.is_over:  # ended from outside, before its first step
            self.current.close_unrun()
        self._start_next()

    def _left(self) -> Budget:
        """What the exchange that runs may still take, for agents that work for it."""
        return self.budget.left(self.current.tracker) if self.current is not None else self.budget

    def _relay(self, event: Event, direct: bool) -> None:
        if self.current is not None and direct and isinstance(event.data, ExchangeResponse):
            self.current.tracker.delegate(event.data)
        self.bus.relay(event)
