"""Invariants of tool calls (I30 to I37, I39), approvals (I38), resources (I3A) and clients (I3B)."""

from collections.abc import Sequence
from typing import get_args

import msgspec

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.messages import ToolCall, ToolResult, ToolStatus
from heald_check.checker.invariants import InvariantCheck, ReportViolation

MAX_CONTENT_BYTES = 256 * 1024
_STATUSES = frozenset(get_args(ToolStatus))
_NEVER_RAN = frozenset({"invalid_input", "unknown_tool", "error"})


class _CallState(msgspec.Struct):
    """A call that has no result yet."""

    invalid: bool
    planned: bool = False
    attempt: int = 0
    """The last attempt that started."""
    running: bool = False
    interrupted: bool = False
    """The session's writer died while the call ran."""
    idempotent: bool = False
    """The call may run again after an interruption."""
    outcome: ToolStatus | None = None
    """The status of tool_completed or tool_failed."""
    waits: bool = False
    """It waits for a client or a person, and may wait on under the next writer."""
    resources: Sequence[str] = ()
    changed: list[str] = []
    """The files that it has changed."""
    stated: bool = False
    """A fork states its result, whether it ran or not."""

    @property
    def wrote_all(self) -> bool:
        """The log shows the whole effect of the call: a change of every file that it held."""
        paths = {resource.removeprefix("file:") for resource in self.resources}
        return bool(paths) and "" not in paths and paths <= set(self.changed)


class ToolCallCheck(InvariantCheck):
    watches = (
        *(ev.ExchangeRequest, ev.MessageStart, ev.ToolUseContentBlockStart, ev.MessageStop, ev.MessageDiscarded),
        *(ToolCall, ev.ToolUseMessage, ev.ToolPlanned, ev.ToolExecuting, ev.ToolOutputDelta, ev.QuestionAsked),
        *(ev.QuestionAnswered, ev.FilePreview, ev.FilePreviewReset, ev.ToolCompleted, ev.ToolFailed, ToolResult),
        *(ev.CancelRequested, ev.SessionResumed, ev.ExchangeResponse, ev.ClientToolRequested, ev.FileChanged),
        ev.SessionForked,
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._open: dict[str, _CallState] = {}
        self._results: dict[str, ToolResult] = {}
        self._streaming: set[str] | None = None  # the calls of the open message
        self._excused: frozenset[str] = frozenset()  # further statuses that an invalid call may end with

    def on_event(self, event: Event) -> None:
        match event.data:
            case ToolCall():
                self._called(event, event.data)
            case ToolResult():
                self._result(event, event.data)
            case ev.MessageStart():
                self._i34_all_resolved(event)
                self._streaming = set()
            case ev.ToolUseContentBlockStart(id=call_id):
                if self._streaming is not None:
                    self._streaming.add(call_id)
            case ev.MessageStop() | ev.MessageDiscarded():
                self._streaming = None
            case ev.CancelRequested():
                self._excused |= {"cancelled"}
            case ev.SessionResumed():
                self._interrupt()
            case ev.SessionForked(changed=changed, call_id=str(call_id)) if "result" in changed:
                if call_id in self._open:
                    self._open[call_id].stated = True
            case ev.ExchangeRequest():
                self._excused = frozenset()
            case ev.ExchangeResponse():
                self._i30_answered(event)
            case _:
                self._step(event)

    def on_end(self, seq: int) -> None:
        for call_id in self._open:
            self.report("I30", seq, f"the call {call_id!r} has no tool_result")

    def _called(self, event: Event, data: ToolCall) -> None:
        if data.id in self._open or data.id in self._results:
            self.report("I31", event, f"the call id {data.id!r} was used before")
            return
        self._i33_after_message(event, data.id)
        self._open[data.id] = _CallState(invalid=data.invalid is not None)

    def _step(self, event: Event) -> None:
        match event.data:
            case ev.FilePreview(id=call_id) | ev.FilePreviewReset(id=call_id):
                self._i32_before_result(event, call_id)
            case ev.QuestionAsked(call_id=call_id) | ev.QuestionAnswered(call_id=call_id):
                self._i32_while_running(event, call_id)
                if call_id in self._open:
                    self._open[call_id].waits = isinstance(event.data, ev.QuestionAsked)
            case ev.ClientToolRequested(id=call_id) if call_id in self._open:
                self._open[call_id].waits = True
            case ev.FileChanged(cause=call_id, path=path) if call_id in self._open:
                self._open[call_id].changed.append(path)
            case ev.ToolOutputDelta(id=call_id):
                self._i32_while_running(event, call_id)
            case ev.ToolUseMessage(call=call, result=result):
                if result is None:
                    self._i32_open(event, call.id)
                elif result != self._results.get(call.id):
                    self.report("I30", event, f"tool_use_message of {call.id!r} holds another result than tool_result")
            case ev.ToolPlanned(id=call_id):
                call = self._i32_open(event, call_id)
                if call is not None:
                    if call.planned or call.attempt:
                        self.report("I32", event, f"the call {call_id!r} is planned after it was planned or started")
                    call.planned = True
            case ev.ToolExecuting():
                self._start(event, event.data)
            case ev.ToolCompleted(id=call_id):
                self._outcome(event, call_id, "ok")
            case ev.ToolFailed(id=call_id, status=status):
                self._outcome(event, call_id, status)
            case _:
                pass

    def _start(self, event: Event, data: ev.ToolExecuting) -> None:
        self._i33_after_message(event, data.id)
        call = self._i32_open(event, data.id)
        if call is None:
            return
        if call.invalid:
            self.report("I37", event, f"the invalid call {data.id!r} starts")
        if data.attempt != call.attempt + 1 or call.running:
            self.report("I36", event, f"the call {data.id!r} starts attempt {data.attempt} after {call.attempt}")
        elif call.attempt and not (call.idempotent and data.idempotent):
            self.report("I36", event, f"the call {data.id!r} was interrupted, is not idempotent, and runs again")
        call.attempt, call.running, call.interrupted = data.attempt, True, False
        call.idempotent, call.resources = data.idempotent, data.resources

    def _outcome(self, event: Event, call_id: str, status: ToolStatus) -> None:
        call = self._i32_open(event, call_id)
        if call is None:
            return
        if isinstance(event.data, ev.ToolCompleted) and not (call.running or call.wrote_all or call.stated):
            self.report("I32", event, f"the call {call_id!r} is completed and was not running")
        call.outcome = status

    def _result(self, event: Event, data: ToolResult) -> None:
        self._i35_known(event, data)
        self._i39_size(event, data)
        if data.id in self._results:
            self.report("I30", event, f"the call {data.id!r} has a second tool_result")
            return
        self._results[data.id] = data
        call = self._open.pop(data.id, None)
        if call is None:
            self.report("I30", event, f"tool_result of {data.id!r}, which has no tool_call before it")
            return
        if call.outcome is None:
            self.report("I32", event, f"tool_result of {data.id!r} has no tool_completed or tool_failed before it")
        elif call.outcome != data.status:
            self.report("I35", event, f"the call {data.id!r} ended {call.outcome} and its result is {data.status}")
        if call.stated:
            return
        self._i36_interrupted(event, data, call)
        self._i37_never_ran(event, data, call)

    def _interrupt(self) -> None:
        """Mark the open calls as interrupted: the writer that ran them is dead."""
        self._excused |= {"interrupted"}
        for call in self._open.values():
            if call.running and call.waits:
                call.outcome = None
                continue
            call.interrupted = call.interrupted or call.running
            call.running, call.outcome = False, None

    def _i30_answered(self, event: Event) -> None:
        for call_id in self._open:
            self.report("I30", event, f"the call {call_id!r} has no tool_result before the exchange ends")
        self._open.clear()

    def _i32_before_result(self, event: Event, call_id: str) -> bool:
        if call_id in self._results:
            self.report("I32", event, f"{event.type} of {call_id!r} comes after its tool_result")
            return False
        return True

    def _i32_open(self, event: Event, call_id: str) -> _CallState | None:
        if not self._i32_before_result(event, call_id):
            return None
        call = self._open.get(call_id)
        if call is None:
            self.report("I32", event, f"{event.type} of {call_id!r} comes before its tool_call")
        elif call.outcome is not None:
            self.report("I32", event, f"{event.type} of {call_id!r} comes after the call had ended")
        return call

    def _i32_while_running(self, event: Event, call_id: str) -> None:
        call = self._i32_open(event, call_id)
        if call is not None and not call.running:
            self.report("I32", event, f"{event.type} of {call_id!r} comes before the call was started")

    def _i33_after_message(self, event: Event, call_id: str) -> None:
        if self._streaming is not None and call_id in self._streaming:
            self.report("I33", event, f"{event.type} of {call_id!r} comes before the message_stop of its message")

    def _i34_all_resolved(self, event: Event) -> None:
        for call_id in self._open:
            self.report("I34", event, f"the next message starts before the result of {call_id!r}")

    def _i35_known(self, event: Event, data: ToolResult) -> None:
        if data.status not in _STATUSES:
            self.report("I35", event, f"the status {data.status!r} is not one of {', '.join(sorted(_STATUSES))}")

    def _i36_interrupted(self, event: Event, data: ToolResult, call: _CallState) -> None:
        if not call.interrupted or data.status == "interrupted":
            return
        is_known = data.status == "ok" and call.wrote_all
        if not is_known and not (data.status == "cancelled" and call.idempotent):
            self.report("I36", event, f"the call {data.id!r} was interrupted, ran no more, and ends {data.status}")

    def _i37_never_ran(self, event: Event, data: ToolResult, call: _CallState) -> None:
        if call.attempt and data.status in ("invalid_input", "unknown_tool"):
            self.report("I37", event, f"the call {data.id!r} ran and its result is {data.status}")
        elif call.invalid and data.status not in _NEVER_RAN | self._excused:
            self.report("I37", event, f"the invalid call {data.id!r} ends {data.status}")
        elif not call.attempt and data.status in ("ok", "timeout"):
            self.report("I32", event, f"the call {data.id!r} never ran and ends {data.status}")

    def _i39_size(self, event: Event, data: ToolResult) -> None:
        """Check the size of the text; a picture cannot be truncated."""
        text = data.text
        if len(text) * 4 <= MAX_CONTENT_BYTES or data.truncated:
            return
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MAX_CONTENT_BYTES:
            self.report("I39", event, f"the result of {data.id!r} has {size} bytes and is not marked truncated")
