"""An exchange that another process began, and its continuation here.

`OpenExchange` is what the log holds of it. `ResumedExchange` publishes no second request: it runs the calls of the last
message that have no result, or asks the model for the next turn, and closes the exchange like any other.
"""

from collections.abc import Mapping, Sequence
from time import monotonic

from msgspec import Struct, field

from heald.agent.budget import Budget
from heald.agent.conversation import Conversation
from heald.agent.exchange import Exchange
from heald.agent.strategy import StrategyList
from heald.agent.tracker import ExchangeTracker
from heald.core.events import (
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
from heald.core.json import JsonObject
from heald.core.messages import Message, ToolCall, ToolResult, tool_results
from heald.core.payload import Payload
from heald.core.turn import StopReason, Usage
from heald.tools.approvals import Approval
from heald.tools.type_schema import TypeSchema


class UnfinishedCall(Struct):
    """A call without a result."""

    call: ToolCall
    attempt: int = 0
    """The last attempt that was started."""
    idempotent: bool = False
    resources: Sequence[str] = ()
    """The resources that it held while it ran."""
    changed: list[str] = field(default_factory=list[str])
    """The files that it is known to have changed."""
    made: list[str] = field(default_factory=list[str])
    """The calls that its program has made and that have ended: the tool and the status."""
    decision: Approval | None = None
    """The decision of a person about it."""
    approval: ApprovalRequested | None = None
    """Its approval that waits for a decision."""
    question: QuestionAsked | None = None
    """Its question that waits for an answer."""
    requested: ClientToolRequested | None = None
    """Set if a client was asked to run it."""

    @property
    def is_inner(self) -> bool:
        """The program of another call made it, and ended with its process."""
        return self.call.parent is not None

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


class OpenExchange(Struct, frozen=True):
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
    has_text_calls: bool
    """The calls are not the model's: they were read in the text of its answer."""
    billed_usd: float = 0.0
    """The price of the answers whose events hold it: of several models, if the conversation was handed over."""
    unbilled: Usage = field(default_factory=Usage)
    """The usage of the other answers."""


class ResumedExchange(Exchange):
    """Continues an exchange of a process that ended. The conversation of the engine holds its messages already."""

    def __init__(
        self,
        conversation: Conversation,
        strategies: StrategyList,
        recorded: OpenExchange,
        *,
        budget: Budget,
        first_message: int,
        shape: TypeSchema | None,
        deps: object = None,
    ) -> None:
        super().__init__(
            conversation,
            strategies,
            recorded.request,
            budget=budget,
            shape=shape,
            exchange_id=recorded.id,
            tracker=recorded.tracker,
            deps=deps,
        )
        self._recorded = recorded
        self._message = recorded.message
        self._first_message = first_message
        self._steering.extend(recorded.steering)
        self._text = recorded.message.text if recorded.message is not None else ""
        self._bus.exchange = self.id
        self._restore_waiting()

    def _restore_waiting(self) -> None:
        """Let approvals, questions and calls of clients wait on, under their ids."""
        runtime = self._runtime
        for call in self._recorded.calls:
            if call.approval is not None:
                runtime.approvals.restore_approval(call.approval)
            elif call.decision is not None:
                runtime.approvals.restore_decision(call.call.id, call.decision)
            if call.question is not None and call.waits:
                runtime.approvals.restore_question(call.question)
            if call.requested is not None:
                runtime.client_calls.restore(call.requested)

    def _begin(self) -> None:
        self._bus.exchange = self.id
        self._started = monotonic() - self._recorded.seconds
        if not self._recorded.is_begun:
            self._bus.publish_all([UserMessage(self.message), ConversationStart(), *self._unpublished])

    def _is_open(self) -> bool:
        return self._recorded.is_begun or super()._is_open()

    async def _prepare(self) -> None:
        if not self._recorded.is_begun:
            self._conversation.append(self.message)
        await self._turns.begin()
        self.tracker.spend(self._recorded.billed_usd)
        if self._recorded.unbilled != Usage():
            self._turns.bill.add(self._recorded.unbilled)
        if self.tracker.turns and self._conversation.settings.tool_choice != "none":
            self._turns.choose_tools("auto")
        self._turns.attempts_before = self._recorded.attempts

    async def _run_turn(self) -> bool:
        message, self._message = self._message, None
        if message is None:
            return await super()._run_turn()
        names = {call.id for call in message.tool_calls}
        unfinished = [call for call in self._recorded.calls if call.call.id in names]
        if unfinished:
            await self._run_unfinished(message, unfinished)
        if self._recorded.has_text_calls:
            return False
        return self._needs_turn(self._recorded.stop_reason, message.tool_calls)

    async def _run_unfinished(self, message: Message, unfinished: Sequence[UnfinishedCall]) -> None:
        """Run the calls that have no result, and add all results of the message to the conversation."""
        results = dict(self._recorded.results)
        try:
            results |= {result.id: result for result in await self._run_calls(unfinished)}
        finally:
            ordered = [results[call.id] for call in message.tool_calls if call.id in results]
            self._conversation.append(tool_results(ordered))

    async def _run_calls(self, unfinished: Sequence[UnfinishedCall]) -> Sequence[ToolResult]:
        runtime = self._runtime
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
            self._runtime.approvals.close_restored(payload.id, "allowed", self._bus.publish)
        elif isinstance(payload, ToolFailed):
            self._runtime.approvals.close_restored(payload.id, "denied", self._bus.publish)
        self._emit(payload)

    async def _run_text_calls(self) -> None:
        if not self._recorded.has_text_calls:
            await super()._run_text_calls()
        elif self._recorded.calls:
            await self._run_calls(self._recorded.calls)

    def _refuse_calls(self) -> None:
        batch = self._runtime.batch([call.call for call in self._recorded.calls], self._emit_resumed)
        batch.refuse("The exchange was ended before the call was run.", "cancelled")
