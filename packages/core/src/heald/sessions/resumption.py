"""Resumes a session that another process has written: its open exchange and its queued requests."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

from msgspec import UNSET

from heald.agent.agent import Agent
from heald.agent.engine import AgentEngine
from heald.agent.exchange import Exchange
from heald.agent.interface import ExchangeInterface
from heald.agent.result import AgentResult
from heald.agent.typed_output import SchemaShape, read_output
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, SessionResumed
from heald.core.json import JsonObject
from heald.sessions.history import AnsweredRequest, SessionHistory
from heald.sessions.request_settings import apply_request_settings
from heald.sessions.rerun import may_rerun, rerun_calls
from heald.sessions.store_errors import StoreError
from heald.tools.type_schema import TypeSchema

AfterCrash = Literal["continue", "close"]
"""Whether an exchange that a crashed process left open is continued, or closed as failed."""
DEFAULT_AFTER_CRASH: AfterCrash = "continue"
"""The default of every program, command and server: a call whose effect is not known is never repeated."""


class SessionResumption:
    """Resumes one session from its history. `flush` waits until its events are stored."""

    def __init__(
        self, agent: Agent[Any], engine: AgentEngine, history: SessionHistory, flush: Callable[[], Awaitable[None]]
    ) -> None:
        self.waiting_events: Sequence[Event] = ()
        """The events of the approvals, questions and client calls that still wait."""
        self._agent = agent
        self._engine = engine
        self._conversation = engine.conversation
        self._history = history
        self._flush = flush

    async def run(self, broken_by: Exception | None, after_crash: AfterCrash, node: str) -> list[ExchangeInterface]:
        """Close or continue the open exchange and start the queued requests. Returns the exchanges that run.

        They are started at the end and nothing is awaited after that, so the caller can subscribe to all their events.
        """
        history, engine = self._history, self._engine
        unfinished = history.unfinished
        continues = (after_crash == "continue" or unfinished.is_forked) and unfinished.may_continue
        if unfinished.exchange is not None or history.waiting:
            resumed = SessionResumed(
                history.seq,
                [queued.request for queued in history.waiting],
                unfinished.exchange if continues else None,
                crashed=broken_by is None and not unfinished.is_released,
                node=node,
            )
            why = broken_by.happened if isinstance(broken_by, StoreError) else unfinished.describe_end()
            await self._record(resumed, why)
        for request, earlier in history.requests.items():
            if earlier.response is not None:
                engine.requests.add_finished(request, earlier.exchange, self._read_outcome(earlier, earlier.response))
        started: list[ExchangeInterface] = [self._continue()] if continues else []
        for queued in history.waiting:
            if queued.message is not None:
                exchange = engine.submit(
                    queued.message,
                    shape=self._shape(queued.output_schema),
                    cause=queued.cause,
                    client_request_id=queued.client_request_id,
                    exchange_id=queued.request,
                    is_queued=True,
                    budget=queued.budget,
                    deps=self._agent.deps,
                )
                started.append(exchange)
        return started

    async def _record(self, resumed: SessionResumed, why: str) -> None:
        """Record that this writer resumes the session. Close the open exchange, or prepare its continuation."""
        agent, history, bus = self._agent, self._history, self._conversation.bus
        following = agent.subscribe(lambda event: history.feed(event) if event.session == agent.session else None)
        agent.publish(resumed)
        if resumed.continues is not None:
            bus.exchange = resumed.continues
            may_run = partial(may_rerun, self._conversation.runtime)
            bus.publish_all(list(history.unfinished.resuming_payloads(why, may_run)))
        elif history.unfinished.exchange is not None:
            await self._close_exchange(history.unfinished.exchange, why)
        await self._flush()
        following.close()
        self._conversation.messages[:] = history.state.context

    async def _close_exchange(self, exchange: str, why: str) -> None:
        bus, unfinished = self._conversation.bus, self._history.unfinished
        bus.exchange = exchange
        if unfinished.repeatable:
            bus.publish_all(list(unfinished.preview_resets()))
            await rerun_calls(self._conversation.runtime, unfinished.repeatable, bus.publish)
            await self._flush()
        bus.publish_all(list(unfinished.closing_payloads(why)))
        bus.exchange = None

    def _continue(self) -> Exchange:
        """Start the exchange that is open in the log."""
        unfinished, messages = self._history.unfinished, self._conversation.messages
        recorded = unfinished.open_exchange()
        first = len(messages)
        if recorded.is_begun:
            first = max((at for at, message in enumerate(messages) if message == recorded.request.message), default=0)
        shape = self._shape(recorded.request.output_schema)
        if self._history.settings.request:
            apply_request_settings(self._agent, self._history.settings.request)
        exchange = self._engine.resume(recorded, first_message=first, shape=shape, deps=self._agent.deps)
        for request, earlier in self._history.requests.items():
            if earlier.exchange == recorded.id:
                self._engine.requests.add(request, exchange)
        self.waiting_events = unfinished.waiting_events
        for event in self.waiting_events:
            self._conversation.bus.dispatch(event)  # the callbacks of the application have to see what still waits
        return exchange

    def _shape(self, schema: JsonObject | None) -> TypeSchema | None:
        """Return the type of the output that a recorded request asks for."""
        agent_shape = self._agent.output_shape
        return (
            agent_shape
            if schema is None or (agent_shape is not None and agent_shape.schema == schema)
            else SchemaShape(schema)
        )

    def _read_outcome(self, earlier: AnsweredRequest, response: ExchangeResponse) -> AgentResult[Any]:
        """Return the result of an exchange of an earlier process. The agent adds the files as they are now."""
        value: object = None
        if earlier.request.output_schema is not None and (shape := self._shape(earlier.request.output_schema)):
            value = UNSET
            with suppress(ValueError):
                value = read_output(earlier.text, shape) if response.status == "completed" else UNSET
        return AgentResult.from_response(
            response, text=earlier.text, files={}, messages=[], exchange=earlier.exchange, output=value
        )
