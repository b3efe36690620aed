"""An exchange that another process began, and its continuation here.

`OpenExchange` is what the log holds of it. `ResumedExchange` publishes no second request: it runs the calls of the last
message that have no result, or asks the model for the next turn, and closes the exchange like any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from weft.agent.exchange import Exchange
from weft.agent.tracker import ExchangeTracker
from weft.core.events import (
    ApprovalRequested,
    ClientToolRequested,
    ConversationStart,
    ExchangeRequest,
    QuestionAsked,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    UserMessage,
)
from weft.core.json import JsonObject
from weft.core.messages import Message, ToolCall, ToolResult, tool_results, user_message
from weft.core.payload import Payload
from weft.core.turn import StopReason, Usage
from weft.tools.approvals import Approval
from weft.tools.type_schema import TypeSchema

if TYPE_CHECKING:
    from weft.agent.engine import AgentEngine

_GO_ON = "The process that worked on this has ended. Continue where it stopped."


@dataclass(slots=True)
class UnfinishedCall:
    """A call without a result."""

    call: ToolCall
    attempt: int = 0
    """The last attempt that was started."""
    idempotent: bool = False
    resources: Sequence[str] = ()
    """The resources that it held while it ran."""
    changed: list[str] = field(default_factory=list[str])
    """The files that it is known to have changed."""
    decision: Approval | None = None
    """The decision of a person about it."""
    approval: ApprovalRequested | None = None
    """Its approval that waits for a decision."""
    question: QuestionAsked | None = None
    """Its question that waits for an answer."""
    requested: ClientToolRequested | None = None
    """Set if a client was asked to run it."""

    @property
    def started(self) -> bool:
        return self.attempt > 0

    @property
    def approved(self) -> bool:
        """A person has allowed it."""
        return self.decision is not None and self.decision.allowed

    @property
    def input(self) -> JsonObject | None:
        """The arguments that the person gave it, instead of the model's."""
        return self.decision.arguments if self.decision is not None else None

    @property
    def waits(self) -> bool:
        """It has started and waits for a client or for a person."""
        return self.requested is not None or (self.idempotent and self.question is not None)

    @property
    def wrote_all(self) -> bool:
        """The log has a change of every file that it held."""
        paths = [resource.removeprefix("file:") for resource in self.resources]
        return bool(paths) and "" not in paths and set(paths) <= set(self.changed)


@dataclass(frozen=True, slots=True)
class OpenExchange:
    """An exchange without its end."""

    id: str
    request: ExchangeRequest
    tracker: ExchangeTracker
    seconds: float
    """How long it ran."""
    is_begun: bool
    """Its message is in the log."""
    message: Message | None
    """The last message of the model, if no later turn has begun."""
    stop_reason: StopReason
    attempts: int
    """Attempts at the turn that has not ended."""
    calls: Sequence[UnfinishedCall]
    results: Mapping[str, ToolResult]
    """The results of the other calls of the message."""
    steering: Sequence[Message]
    """Messages that the model has not seen."""
    has_page: bool
    """The page that the model answered as text has a call of its own."""


class ResumedExchange(Exchange):
    """Continues an exchange of a process that ended. The conversation of the engine holds its messages already."""

    def __init__(self, engine: "AgentEngine", found: OpenExchange, *, first_message: int, shape: TypeSchema | None):
        super().__init__(engine, found.request, shape=shape, exchange_id=found.id, tracker=found.tracker)
        self._found = found
        self._recorded = found.message
        self._first_message = first_message
        self._steering.extend(found.steering)
        self._text = found.message.text if found.message is not None else ""
        engine.bus.exchange = self.id
        self._restore_waiting()

    def _restore_waiting(self) -> None:
        """Let approvals, questions and calls of clients wait on, under their ids."""
        runtime = self._engine.runtime
        for call in self._found.calls:
            if call.approval is not None:
                runtime.approvals.restore_approval(call.approval)
            elif call.decision is not None:
                runtime.approvals.restore_decision(call.call.id, call.decision)
            if call.question is not None and call.waits:
                runtime.approvals.restore_question(call.question)
            if call.requested is not None:
                runtime.client_calls.restore(call.requested)

    def _begin(self) -> None:
        self._engine.bus.exchange = self.id
        self._started = monotonic() - self._found.seconds
        if not self._found.is_begun:
            self._engine.bus.publish_all([UserMessage(self.message), ConversationStart()])

    async def _prepare(self) -> None:
        if not self._found.is_begun:
            self._engine.append(self.message)
        await self._turns.begin()
        if self.tracker.usage != Usage():
            self._turns.bill.add(self.tracker.usage)
        if self.tracker.turns and self._engine.settings.tool_choice != "none":
            self._turns.choose_tools("auto")
        self._turns.attempts_before = self._found.attempts

    async def _run_turn(self) -> bool:
        recorded, self._recorded = self._recorded, None
        if recorded is None:
            return await super()._run_turn()
        calls = {call.id for call in recorded.tool_calls}
        unfinished = [call for call in self._found.calls if call.call.id in calls]
        if unfinished:
            await self._run_unfinished(recorded, unfinished)
        if self._engine.host is not None and calls:
            self._add_user_message(user_message(_GO_ON))  # the loop of the host has ended
        return not self._found.has_page and self._needs_turn(self._found.stop_reason, called=bool(calls))

    async def _run_unfinished(self, message: Message, unfinished: Sequence[UnfinishedCall]) -> None:
        """Run the calls that have no result, and add all results of the message to the conversation."""
        results = dict(self._found.results)
        try:
            results |= {result.id: result for result in await self._run_calls(unfinished)}
        finally:
            ordered = [results[call.id] for call in message.tool_calls if call.id in results]
            self._engine.append(tool_results(ordered))

    async def _run_calls(self, unfinished: Sequence[UnfinishedCall]) -> Sequence[ToolResult]:
        runtime = self._engine.runtime
        batch = runtime.batch(
            [call.call for call in unfinished],
            self._emit_resumed,
            attempts={call.call.id: call.attempt + 1 for call in unfinished},
            waiting={call.call.id for call in unfinished if call.waits},
        )
        try:
            await self._run_batch(batch)
        finally:
            runtime.approvals.forget_restored(call.call.id for call in unfinished)
        return batch.results

    def _emit_resumed(self, payload: Payload) -> None:
        """Publish a payload of a tool. An approval that waited for a call which needs none any more is closed first."""
        if isinstance(payload, ToolExecuting | ToolCompleted):
            self._engine.runtime.approvals.close_restored(payload.id, "allowed", self._engine.bus.publish)
        elif isinstance(payload, ToolFailed):
            self._engine.runtime.approvals.close_restored(payload.id, "denied", self._engine.bus.publish)
        self._emit(payload)

    async def _write_page(self) -> None:
        if not self._found.has_page:
            await super()._write_page()
            return
        if self._found.calls:
            await self._run_calls(self._found.calls)

    def _refuse_calls(self) -> None:
        batch = self._engine.runtime.batch([call.call for call in self._found.calls], self._emit_resumed)
        batch.refuse("The exchange was ended before the call was run.", "cancelled")
