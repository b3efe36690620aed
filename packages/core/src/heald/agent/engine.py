"""The engine: runs the exchanges of one conversation, one at a time, and queues the others."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald.agent.account import Account
from heald.agent.budget import Budget
from heald.agent.conversation import Conversation
from heald.agent.exchange import Exchange, ExchangeState
from heald.agent.finished_exchange import FinishedExchange, RequestOutcomes
from heald.agent.message_time import with_time
from heald.agent.strategy import Strategy, StrategyList
from heald.agent.trace_context import announce_exchange
from heald.core.envelope import Event
from heald.core.events import ConversationQueued, ExchangeRequest, ExchangeResponse
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald.tools.type_schema import TypeSchema

if TYPE_CHECKING:
    from heald.agent.continuation import OpenExchange


class AgentEngine:
    """Runs exchanges, and publishes everything on the bus of the conversation."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        budget: Budget | None = None,
        strategies: Sequence[Strategy] = (),
        caller: Account | None = None,
    ) -> None:
        """`caller` is the account of the exchange that this engine works for."""
        self.conversation = conversation
        self.budget = budget or Budget()
        """The limits of each exchange."""
        self.strategies = StrategyList(conversation, strategies)
        self.current: Exchange | None = None
        """The running exchange."""
        self.requests = RequestOutcomes(lambda: conversation.runtime.workspace.files())
        self._bus = conversation.bus
        self._waiting: list[Exchange] = []
        self._caller = caller
        conversation.runtime.relay = self._relay

    def submit(
        self,
        message: Message,
        *,
        shape: TypeSchema | None = None,
        cause: str | None = None,
        client_request_id: str | None = None,
        first: bool = False,
        exchange_id: str | None = None,
        is_queued: bool = False,
        budget: JsonObject | None = None,
        deps: object = None,
    ) -> Exchange | FinishedExchange:
        """Start an exchange, or queue it: at the end, or `first`.

        A repeated `client_request_id` returns its exchange. `exchange_id` is the id of a request that was queued
        before; with `is_queued` the log has the event of that. `budget` limits the exchange further. `deps`
        is for its tools.
        """
        if client_request_id is not None and (earlier := self.requests.find(client_request_id)) is not None:
            return earlier
        schema = shape.schema if shape is not None else None
        message = with_time(message) if message.role == "user" else message
        request = ExchangeRequest(message, self.conversation.models.name, client_request_id, cause, schema, budget)
        exchange = Exchange(
            self.conversation,
            self.strategies,
            request,
            budget=self.budget,
            shape=shape,
            exchange_id=exchange_id,
            caller=self._caller,
            deps=deps,
        )
        announce_exchange(exchange.id)
        if client_request_id is not None:
            self.requests.add(client_request_id, exchange)
        self._waiting.insert(0 if first else len(self._waiting), exchange)
        if self.current is None:
            self._start_next()
        else:
            exchange.move_to(ExchangeState.QUEUED)
            if not is_queued:
                self.publish_queued(exchange, 1 if first else len(self._waiting))
        return exchange

    def resume(
        self, recorded: "OpenExchange", *, first_message: int, shape: TypeSchema | None, deps: object = None
    ) -> Exchange:
        """Continue an exchange of a process that ended. The conversation holds its messages, and nothing runs yet."""
        from heald.agent.continuation import ResumedExchange

        exchange = ResumedExchange(
            self.conversation,
            self.strategies,
            recorded,
            budget=self.budget,
            first_message=first_message,
            shape=shape,
            deps=deps,
        )
        if recorded.request.client_request_id is not None:
            self.requests.add(recorded.request.client_request_id, exchange)
        self._start(exchange)
        return exchange

    def find_exchange(self, exchange_id: str) -> Exchange | None:
        """Return a running or queued exchange."""
        return next((exchange for exchange in self._open_exchanges if exchange.id == exchange_id), None)

    @property
    def queued(self) -> int:
        """The number of queued exchanges."""
        return len(self._waiting)

    def cancel(self, reason: str = "") -> bool:
        """Cancel the running exchange, if there is one."""
        return self.current.cancel(reason) if self.current is not None else False

    def abort_queued(self, error: Exception) -> None:
        """Fail all queued exchanges."""
        for exchange in self._waiting:
            exchange.abort(error)

    def publish_queued(self, exchange: Exchange, position: int) -> None:
        """Publish that an exchange is queued, with all data that is needed to run it in another process."""
        request = exchange.request
        self._bus.publish_outside_exchange(
            ConversationQueued(
                position,
                exchange.id,
                request.message,
                request.client_request_id,
                request.cause,
                request.output_schema,
                request.budget,
            )
        )

    def drain_queue(self) -> list[Exchange]:
        """Remove and return all queued exchanges, in order."""
        waiting, self._waiting = self._waiting, []
        return waiting

    async def close(self) -> None:
        """Cancel all exchanges and close the models and tools."""
        for exchange in reversed(self._open_exchanges):
            exchange.cancel("The agent was closed.")
        while self.current is not None and self.current.task is not None:
            await asyncio.wait([self.current.task])
            await asyncio.sleep(0)
        await self.conversation.models.close()
        await self.conversation.runtime.close()

    @property
    def _open_exchanges(self) -> list[Exchange]:
        """The running exchange and the queued ones."""
        return [*([self.current] if self.current is not None else []), *self._waiting]

    def _start_next(self) -> None:
        self.current = None
        if self._waiting:
            self._start(self._waiting.pop(0))

    def _start(self, exchange: Exchange) -> None:
        """Run an exchange in a task of its own, so that cancelling the exchange does not cancel the caller."""
        self.current = exchange
        exchange.task = asyncio.get_running_loop().create_task(exchange.run(), name=f"heald-{exchange.id}")
        exchange.task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            task.get_loop().call_exception_handler({"message": "An exchange broke.", "exception": error, "task": task})
        if self.current is not None and not self.current.is_over:  # the task was cancelled before its first step
            self.current.close_unrun()
        self._start_next()

    def _relay(self, event: Event, direct: bool) -> None:
        if self.current is not None and direct and isinstance(event.data, ExchangeResponse):
            self.current.account.close_delegate(event.exchange, event.data)
        self._bus.relay(event)
