"""What a dead writer left open, and how it is closed. A pure fold: no clock, no I/O.

A message that was being written is discarded. A call that had started and has no result is `interrupted`: whether it
took effect cannot be known, and the model is told so. A call that never started is cancelled, and what waited for a
person is denied. Then the exchange ends: cancelled if that was asked for, else failed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

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
)
from weft.core.json import JsonObject
from weft.core.payload import Payload
from weft.core.tools import ToolCall, ToolResult, ToolStatus
from weft.core.usage import Usage

ENDED = "The process ended"
_STOPPED = ErrorInfo(code="cancelled", message="The message was stopped before it was finished.")


MAX_ATTEMPTS = 3
"""How often a call is started at most: one that brings its process down does not do so for ever."""


@dataclass(slots=True)
class OpenCall:
    """A call without a result."""

    call: ToolCall
    attempt: int = 0
    """The last that started."""
    idempotent: bool = False
    approved: bool = False
    """A person allowed it."""
    input: JsonObject | None = None
    """The arguments that they gave it instead of the model's."""

    @property
    def started(self) -> bool:
        return self.attempt > 0


@dataclass(slots=True)
class Unfinished:
    """Feed it a session's events in order; it knows what is open at their end."""

    exchange: str | None = None
    whole_upto: int = 0
    """The last seq at which no turn is half in the log."""
    calls: dict[str, OpenCall] = field(default_factory=dict[str, OpenCall])
    _began: float = 0.0
    _last: float = 0.0
    _message_billed: bool = False
    _cancelled: str | None = None
    _errors: int = 0
    _error_messages: int = 0
    _owed: set[str] = field(default_factory=set[str])  # what belongs to a finished message and is not there yet
    _approvals: dict[str, str] = field(default_factory=dict[str, str])
    _previews: dict[str, str] = field(default_factory=dict[str, str])  # paths, by call
    _assembler: MessageAssembler = field(default_factory=MessageAssembler)
    _tracker: ExchangeTracker = field(default_factory=ExchangeTracker)

    @property
    def repeatable(self) -> list[OpenCall]:
        """Calls that had started and may be run again. After a cancel there are none."""
        if self._cancelled is not None:
            return []
        return [
            call for call in self.calls.values() if call.started and call.idempotent and call.attempt < MAX_ATTEMPTS
        ]

    def before_repeating(self) -> Iterator[Payload]:
        """What was shown of files that those calls were to write is shown no more."""
        for call in self.repeatable:
            if call.call.id in self._previews:
                yield FilePreviewReset(call.call.id, self._previews[call.call.id])

    def feed(self, event: Event) -> None:
        self._follow(event)
        self._last = event.time
        if not self._owed:
            self.whole_upto = event.seq

    def closing(self, why: str = ENDED) -> Iterator[Payload]:
        """The events of the exchange that is open, which close it. Without one there are none.

        `why` is what happened to the writer, as the beginning of a sentence.
        """
        if self.exchange is None:
            return
        yield from self._close_message(why)
        for approval, call in self._approvals.items():
            yield ApprovalResolved(approval, call, "denied", f"{why} before it was decided.")
        for call in self.calls.values():
            yield from self._close_call(call, why)
        yield from self._close_exchange(why)

    # --- what is open ------------------------------------------------------------------------------------------------

    def _follow(self, event: Event) -> None:
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
                self._owed = {message}
            case AssistantMessage(message=message):
                self._owed = {call.id for call in message.tool_calls}
            case ToolCall(id=call):
                self.calls[call] = OpenCall(payload)
            case ToolPlanned(id=call):
                self._owed.discard(call)
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
        self.calls, self._approvals, self._previews, self._owed = {}, {}, {}, set()
        self._cancelled, self._errors, self._error_messages = None, 0, 0
        self._assembler, self._tracker = MessageAssembler(), ExchangeTracker()

    # --- how it is closed --------------------------------------------------------------------------------------------

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

    def _close_call(self, open_call: OpenCall, why: str) -> Iterator[Payload]:
        call = open_call.call
        status: ToolStatus = "interrupted" if open_call.started else "cancelled"
        said = f"{why} before this call was run."
        if open_call.started:
            said = (
                f"{why} while this call ran, so it is not known whether it took effect. "
                "Look at the outcome before you call it again."
            )
        if call.invalid is not None:
            status, said = "invalid_input", call.invalid.message
        if call.id in self._previews:
            yield FilePreviewReset(call.id, self._previews[call.id])
        yield ToolFailed(call.id, call.name, status, 0.0, said)
        yield ToolResult(id=call.id, name=call.name, status=status, content=said)

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
