"""Closes the exchange that a crashed writer left open, and repeats its idempotent calls.

An open message is discarded. A started call without a result becomes `interrupted`, since its
effect is unknown. A call that was not started is cancelled, and a waiting approval is denied. Then the exchange ends:
cancelled if that was requested, else failed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from weft.agent.assembler import MessageAssembler
from weft.agent.tracker import ExchangeTracker
from weft.core.envelope import Event
from weft.core.errors import ErrorInfo
from weft.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    CancelRequested,
    ConversationInterrupted,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    FilePreview,
    FilePreviewReset,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    ToolExecuting,
    ToolFailed,
    ToolPlanned,
    ToolUseMessage,
    tool_use_result,
)
from weft.core.json import JsonObject, encode_text
from weft.core.messages import ToolCall, ToolResult, ToolStatus
from weft.core.payload import Payload
from weft.core.turn import Usage
from weft.tools.approvals import digest_of
from weft.tools.call_batch import PlannedCall
from weft.tools.context import Emit
from weft.tools.results import ToolFault
from weft.tools.runtime import ToolRuntime

ENDED = "The process ended"
_STOPPED = ErrorInfo(code="cancelled", message="The message was stopped before it was finished.")


MAX_ATTEMPTS = 3
"""How often a call is started at most, so that a call that kills its process is not repeated for ever."""


@dataclass(slots=True)
class UnfinishedCall:
    """A call without a result."""

    call: ToolCall
    attempt: int = 0
    """The last attempt that was started."""
    idempotent: bool = False
    approved: bool = False
    """A person has allowed it."""
    input: JsonObject | None = None
    """The arguments that the person gave it, instead of the model's."""

    @property
    def started(self) -> bool:
        return self.attempt > 0


@dataclass(slots=True)
class UnfinishedExchange:
    """Folds the events of a session into what is open at their end."""

    exchange: str | None = None
    last_whole_seq: int = 0
    """The last seq at which the log holds no incomplete turn."""
    calls: dict[str, UnfinishedCall] = field(default_factory=dict[str, UnfinishedCall])
    _began: float = 0.0
    _last: float = 0.0
    _message_billed: bool = False
    _cancelled: str | None = None
    _errors: int = 0
    _error_messages: int = 0
    _missing: set[str] = field(default_factory=set[str])  # parts of a finished message that are not in the log yet
    _approvals: dict[str, str] = field(default_factory=dict[str, str])
    _previews: dict[str, str] = field(default_factory=dict[str, str])  # paths, by call
    _assembler: MessageAssembler = field(default_factory=MessageAssembler)
    _tracker: ExchangeTracker = field(default_factory=ExchangeTracker)

    @property
    def repeatable(self) -> list[UnfinishedCall]:
        """Started calls that may be repeated. After a cancel there are none."""
        if self._cancelled is not None:
            return []
        return [
            call for call in self.calls.values() if call.started and call.idempotent and call.attempt < MAX_ATTEMPTS
        ]

    def preview_resets(self) -> Iterator[Payload]:
        """Yield the resets of the previews of files that those calls were to write."""
        for call in self.repeatable:
            if call.call.id in self._previews:
                yield FilePreviewReset(call.call.id, self._previews[call.call.id])

    def feed(self, event: Event) -> None:
        self._track(event)
        self._last = event.time
        if not self._missing:
            self.last_whole_seq = event.seq

    def closing_payloads(self, why: str = ENDED) -> Iterator[Payload]:
        """Yield the payloads that close the open exchange, if there is one. `why` is the beginning of a sentence that
        explains what happened to the writer."""
        if self.exchange is None:
            return
        yield from self._close_message(why)
        for approval, call in self._approvals.items():
            yield ApprovalResolved(approval, call, "denied", f"{why} before it was decided.")
        for call in self.calls.values():
            yield from self._close_call(call, why)
        yield from self._close_exchange(why)

    # --- tracking ----------------------------------------------------------------------------------------------------

    def _track(self, event: Event) -> None:
        payload = event.data
        match payload:
            case ExchangeRequest():
                self._begin(event)
            case ExchangeResponse():
                self.exchange = None
            case MessageStart():
                self._message_billed = False
            case MessageDelta():
                self._message_billed = True
            case MessageStop(message=message):
                self._missing = {message}
            case AssistantMessage(message=message):
                self._missing = {call.id for call in message.tool_calls}
            case ToolCall(id=call):
                self.calls[call] = UnfinishedCall(payload)
            case ToolPlanned(id=call):
                self._missing.discard(call)
            case ToolExecuting(id=call, attempt=attempt, idempotent=idempotent) if call in self.calls:
                self.calls[call].attempt, self.calls[call].idempotent = attempt, idempotent
            case ToolResult(id=call):
                self.calls.pop(call, None)
                self._previews.pop(call, None)
            case ApprovalRequested(approval=approval, call=call):
                self._approvals[approval] = call
            case ApprovalResolved(approval=approval, call=call):
                self._approvals.pop(approval, None)
                if call in self.calls:
                    self.calls[call].approved, self.calls[call].input = payload.decision == "allowed", payload.input
            case FilePreview(id=call, path=path):
                self._previews[call] = path
            case FilePreviewReset(id=call):
                self._previews.pop(call, None)
            case CancelRequested(reason=reason):
                self._cancelled = reason
            case ErrorOccurred():
                self._errors += 1
            case ErrorMessage():
                self._error_messages += 1
            case _:
                pass
        if payload.layer == "stream":
            self._assembler.feed(payload)
        self._tracker.feed(payload)

    def _begin(self, event: Event) -> None:
        self.exchange, self._began = event.exchange, event.time
        self.calls, self._approvals, self._previews, self._missing = {}, {}, {}, set()
        self._cancelled, self._errors, self._error_messages = None, 0, 0
        self._assembler, self._tracker = MessageAssembler(), ExchangeTracker()

    # --- closing -----------------------------------------------------------------------------------------------------

    def _close_message(self, why: str) -> Iterator[Payload]:
        message = self._assembler.message
        if not message:
            return
        usage = Usage() if self._message_billed else Usage(output=-(-self._assembler.length // 4))
        error = _STOPPED
        if self._cancelled is None:
            error = ErrorInfo(code="incomplete", message=f"{why} before the message was finished.")
        discarded = MessageDiscarded(message, error, usage, estimated=not self._message_billed)
        self._tracker.feed(discarded)
        yield discarded
        for call, path in list(self._previews.items()):
            if call not in self.calls:
                yield FilePreviewReset(call, path)

    def _close_call(self, open_call: UnfinishedCall, why: str) -> Iterator[Payload]:
        call = open_call.call
        status: ToolStatus = "interrupted" if open_call.started else "cancelled"
        text = f"{why} before this call was run."
        if open_call.started:
            text = (
                f"{why} while this call ran, so it is not known whether it took effect. "
                "Look at the outcome before you call it again."
            )
        if call.invalid is not None:
            status, text = "invalid_input", call.invalid.message
        if call.id in self._previews:
            yield FilePreviewReset(call.id, self._previews[call.id])
        yield ToolFailed(call.id, call.name, status, 0.0, text)
        result = ToolResult(id=call.id, name=call.name, status=status, content=text)
        yield result
        if (message := tool_use_result(call, result)) is not None:
            yield message

    def _close_exchange(self, why: str) -> Iterator[Payload]:
        took = round(max(self._last - self._began, 0.0) * 1000, 3)
        if self._tracker.usage != Usage():
            self._tracker.spend(None)  # the prices are not known here
        if self._cancelled is not None:
            yield ConversationInterrupted(self._cancelled)
            yield self._tracker.response("cancelled", took)
            return
        lost = ErrorInfo(
            code="incomplete", message=f"{why} while the exchange ran; what was done is kept. Ask again to go on."
        )
        if not self._errors:
            yield ErrorOccurred(lost)
        if not self._error_messages:
            yield ErrorMessage(lost)
        yield ConversationInterrupted(f"{why} while the exchange ran.")
        yield self._tracker.response("failed", took, error=lost)


async def rerun_calls(runtime: ToolRuntime, calls: Sequence[UnfinishedCall], emit: Emit) -> None:
    """Repeat the calls that may be repeated and publish their results. Other calls stay open."""
    ready = [planned for call in calls if (planned := _ready(runtime, call)) is not None]
    if not ready:
        return
    asked = {planned.call.id: call.call for planned, call in ready}

    def emit_as_called(payload: Payload) -> None:
        """Publish a payload. A message of a call shows the arguments of the model, also if an approver changed them."""
        if isinstance(payload, ToolUseMessage):
            payload = msgspec.structs.replace(payload, call=asked[payload.call.id])
        emit(payload)

    always = runtime.permissions.always
    allowed = {_digest(runtime, planned) for planned, _ in ready} - always  # these calls only, and only once
    always |= allowed
    try:
        await runtime.batch(
            [planned.call for planned, _ in ready],
            emit_as_called,
            notes={planned.call.id: _note(planned) for planned, _ in ready if planned.changed},
            attempts={planned.call.id: call.attempt + 1 for planned, call in ready},
        ).run()
    finally:
        always -= allowed


def _ready(runtime: ToolRuntime, call: UnfinishedCall) -> tuple[PlannedCall, UnfinishedCall] | None:
    """Return the call as it was allowed, if it may be repeated."""
    asked = call.call if call.input is None else msgspec.structs.replace(call.call, input=call.input)
    planned = runtime.plan(asked)
    if isinstance(planned, ToolFault) or not planned.tool.idempotent:
        return None
    verdict = runtime.decide(planned).verdict
    if verdict == "deny":
        return None
    if verdict == "ask" and not call.approved and _digest(runtime, planned) not in runtime.permissions.always:
        return None
    return replace(planned, changed=call.input is not None), call


def _digest(runtime: ToolRuntime, planned: PlannedCall) -> str:
    return digest_of(planned.tool.name, planned.arguments, runtime.workspace.root)


def _note(planned: PlannedCall) -> str:
    return f"(The user changed the arguments to {encode_text(planned.arguments)[:2000]}.)"
