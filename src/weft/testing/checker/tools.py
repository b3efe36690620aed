"""I30 to I37 and I39: every call has one result, and all of a call stands in order."""

from dataclasses import dataclass
from typing import get_args

from weft.core.envelope import Event
from weft.core.events import (
    CancelRequested,
    ExchangeRequest,
    ExchangeResponse,
    FilePreview,
    FilePreviewReset,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    QuestionAnswered,
    QuestionAsked,
    SessionResumed,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    ToolOutputDelta,
    ToolPlanned,
    ToolUseContentBlockStart,
    ToolUseMessage,
)
from weft.core.tools import ToolCall, ToolResult, ToolStatus
from weft.testing.checker.group import Group, Report

MAX_CONTENT_BYTES = 256 * 1024

_STATUSES = frozenset(get_args(ToolStatus))
_NEVER_RAN = frozenset({"invalid_input", "unknown_tool", "error"})


@dataclass(slots=True)
class _Call:
    """A call that has no result yet."""

    invalid: bool
    planned: bool = False
    attempt: int = 0
    """The last that started."""
    running: bool = False
    broken_off: bool = False
    """It ran when the session's writer died."""
    idempotent: bool = False
    """It may run again then."""
    outcome: ToolStatus | None = None
    """What tool_completed or tool_failed said."""


class Tools(Group):
    sees = (
        *(ExchangeRequest, MessageStart, ToolUseContentBlockStart, MessageStop, MessageDiscarded),
        *(ToolCall, ToolUseMessage, ToolPlanned, ToolExecuting, ToolOutputDelta, QuestionAsked, QuestionAnswered),
        *(FilePreview, FilePreviewReset, ToolCompleted, ToolFailed, ToolResult),
        *(CancelRequested, SessionResumed, ExchangeResponse),
    )

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._open: dict[str, _Call] = {}
        self._results: dict[str, ToolResult] = {}
        self._streaming: set[str] | None = None  # the calls of the message that is still open
        self._excused: frozenset[str] = frozenset()  # what a call that cannot run may end with besides

    def see(self, event: Event) -> None:
        match event.data:
            case ToolCall():
                self._called(event, event.data)
            case ToolResult():
                self._result(event, event.data)
            case MessageStart():
                self._i34_settled(event)
                self._streaming = set()
            case ToolUseContentBlockStart(id=call_id):
                if self._streaming is not None:
                    self._streaming.add(call_id)
            case MessageStop() | MessageDiscarded():
                self._streaming = None
            case CancelRequested():
                self._excused |= {"cancelled"}
            case SessionResumed():
                self._broken_off()
            case ExchangeRequest():
                self._excused = frozenset()
            case ExchangeResponse():
                self._i30_answered(event)
            case _:
                self._step(event)

    def end(self, seq: int) -> None:
        for call_id in self._open:
            self._report("I30", seq, f"the call {call_id!r} has no tool_result")

    # --- what a call goes through ----------------------------------------------------------------------------

    def _called(self, event: Event, data: ToolCall) -> None:
        if data.id in self._open or data.id in self._results:
            self.broke("I31", event, f"the call id {data.id!r} was used before")
            return
        self._i33_after_message(event, data.id)
        self._open[data.id] = _Call(invalid=data.invalid is not None)

    def _step(self, event: Event) -> None:
        match event.data:
            case FilePreview(id=call_id) | FilePreviewReset(id=call_id):
                self._i32_before_result(event, call_id)
            case QuestionAsked(call=call_id) | QuestionAnswered(call=call_id):
                self._i32_while_running(event, call_id)
            case ToolOutputDelta(id=call_id):
                self._i32_while_running(event, call_id)
            case ToolUseMessage(call=call, result=result):
                if result is None:
                    self._i32_open(event, call.id)
                elif result != self._results.get(call.id):
                    self.broke("I30", event, f"tool_use_message of {call.id!r} holds another result than tool_result")
            case ToolPlanned(id=call_id):
                call = self._i32_open(event, call_id)
                if call is not None:
                    if call.planned or call.attempt:
                        self.broke("I32", event, f"the call {call_id!r} is planned after it was planned or started")
                    call.planned = True
            case ToolExecuting():
                self._start(event, event.data)
            case ToolCompleted(id=call_id):
                self._outcome(event, call_id, "ok")
            case ToolFailed(id=call_id, status=status):
                self._outcome(event, call_id, status)
            case _:
                pass

    def _start(self, event: Event, data: ToolExecuting) -> None:
        self._i33_after_message(event, data.id)
        call = self._i32_open(event, data.id)
        if call is None:
            return
        if call.invalid:
            self.broke("I37", event, f"the invalid call {data.id!r} starts")
        if data.attempt != call.attempt + 1 or call.running:
            self.broke("I36", event, f"the call {data.id!r} starts attempt {data.attempt} after {call.attempt}")
        elif call.attempt and not (call.idempotent and data.idempotent):
            self.broke("I36", event, f"the call {data.id!r} was broken off, is not idempotent, and runs again")
        call.attempt, call.running, call.broken_off = data.attempt, True, False
        call.idempotent = data.idempotent

    def _outcome(self, event: Event, call_id: str, status: ToolStatus) -> None:
        call = self._i32_open(event, call_id)
        if call is None:
            return
        if isinstance(event.data, ToolCompleted) and not call.running:
            self.broke("I32", event, f"the call {call_id!r} is completed and was not running")
        call.outcome = status

    def _result(self, event: Event, data: ToolResult) -> None:
        self._i35_known(event, data)
        self._i39_size(event, data)
        if data.id in self._results:
            self.broke("I30", event, f"the call {data.id!r} has a second tool_result")
            return
        self._results[data.id] = data
        call = self._open.pop(data.id, None)
        if call is None:
            self.broke("I30", event, f"tool_result of {data.id!r}, which has no tool_call before it")
            return
        if call.outcome is None:
            self.broke("I32", event, f"tool_result of {data.id!r} has no tool_completed or tool_failed before it")
        elif call.outcome != data.status:
            self.broke("I35", event, f"the call {data.id!r} ended {call.outcome} and its result says {data.status}")
        self._i36_interrupted(event, data, call)
        self._i37_never_ran(event, data, call)

    def _broken_off(self) -> None:
        """Whoever ran the calls is gone."""
        self._excused |= {"interrupted"}
        for call in self._open.values():
            call.broken_off = call.broken_off or call.running
            call.running, call.outcome = False, None

    # --- the invariants --------------------------------------------------------------------------------------

    def _i30_answered(self, event: Event) -> None:
        for call_id in self._open:
            self.broke("I30", event, f"the call {call_id!r} has no tool_result before the exchange ends")
        self._open.clear()

    def _i32_before_result(self, event: Event, call_id: str) -> bool:
        if call_id in self._results:
            self.broke("I32", event, f"{event.type} of {call_id!r} comes after its tool_result")
            return False
        return True

    def _i32_open(self, event: Event, call_id: str) -> _Call | None:
        if not self._i32_before_result(event, call_id):
            return None
        call = self._open.get(call_id)
        if call is None:
            self.broke("I32", event, f"{event.type} of {call_id!r} comes before its tool_call")
        elif call.outcome is not None:
            self.broke("I32", event, f"{event.type} of {call_id!r} comes after the call had ended")
        return call

    def _i32_while_running(self, event: Event, call_id: str) -> None:
        call = self._i32_open(event, call_id)
        if call is not None and not call.running:
            self.broke("I32", event, f"{event.type} of {call_id!r} comes before the call was started")

    def _i33_after_message(self, event: Event, call_id: str) -> None:
        if self._streaming is not None and call_id in self._streaming:
            self.broke("I33", event, f"{event.type} of {call_id!r} comes before the message_stop of its message")

    def _i34_settled(self, event: Event) -> None:
        for call_id in self._open:
            self.broke("I34", event, f"the next message starts before the result of {call_id!r}")

    def _i35_known(self, event: Event, data: ToolResult) -> None:
        if data.status not in _STATUSES:
            self.broke("I35", event, f"the status {data.status!r} is not one of {', '.join(sorted(_STATUSES))}")

    def _i36_interrupted(self, event: Event, data: ToolResult, call: _Call) -> None:
        if call.broken_off and data.status != "interrupted":
            self.broke("I36", event, f"the call {data.id!r} was broken off, did not run again, and ends {data.status}")

    def _i37_never_ran(self, event: Event, data: ToolResult, call: _Call) -> None:
        if call.attempt and data.status in ("invalid_input", "unknown_tool"):
            self.broke("I37", event, f"the call {data.id!r} ran and its result says {data.status}")
        elif call.invalid and data.status not in _NEVER_RAN | self._excused:
            self.broke("I37", event, f"the invalid call {data.id!r} ends {data.status}")
        elif not call.attempt and data.status in ("ok", "timeout"):
            self.broke("I32", event, f"the call {data.id!r} never ran and ends {data.status}")

    def _i39_size(self, event: Event, data: ToolResult) -> None:
        """Of the text: a picture cannot be truncated."""
        text = data.text
        if len(text) * 4 <= MAX_CONTENT_BYTES or data.truncated:
            return
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MAX_CONTENT_BYTES:
            self.broke("I39", event, f"the result of {data.id!r} has {size} bytes and is not marked truncated")
