"""Invariants of tool calls (I30 to I37, I39), approvals (I38), resources (I3A) and clients (I3B)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec

from weft.core import events as ev
from weft.core.envelope import Event
from weft.core.messages import ToolCall, ToolResult, ToolStatus
from weft.testing.checker.invariants import InvariantCheck, ReportViolation

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
            case ev.QuestionAsked(call=call_id) | ev.QuestionAnswered(call=call_id):
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
        if isinstance(event.data, ev.ToolCompleted) and not call.running and not call.wrote_all:
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


_AFTER_DENIAL = frozenset({"denied", "cancelled", "interrupted"})


class _ApprovalState(msgspec.Struct):
    """The approval of a call."""

    waiting: str | None = None
    denied: bool = False
    running: bool = False
    started: bool = False
    on_client: bool = False
    """A client was asked to run it, and may refuse."""
    over: bool = False


class ApprovalCheck(InvariantCheck):
    watches = (
        *(ev.ApprovalRequested, ev.ApprovalResolved, ev.ToolExecuting, ToolResult, ev.SessionResumed),
        *(ev.ExchangeResponse, ev.ClientToolRequested),
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._calls: dict[str, _ApprovalState] = {}
        self._known: set[str] = set()
        self._waiting: dict[str, str] = {}  # the call of each open approval

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.ApprovalRequested():
                self._i38_asked(event, event.data)
            case ev.ApprovalResolved():
                self._i38_resolved(event, event.data)
            case ev.ToolExecuting(id=call_id):
                self._i38_allowed(event, call_id)
            case ev.ClientToolRequested(id=call_id):
                self._calls.setdefault(call_id, _ApprovalState()).on_client = True
            case ToolResult():
                self._i38_denied(event, event.data)
            case ev.SessionResumed():
                for call in self._calls.values():
                    call.running = False
            case ev.ExchangeResponse():
                self._i38_all_resolved(event)
            case _:
                pass

    def on_end(self, seq: int) -> None:
        for approval in self._waiting:
            self.report("I38", seq, f"the approval {approval!r} is never resolved")

    def _i38_asked(self, event: Event, data: ev.ApprovalRequested) -> None:
        call = self._calls.setdefault(data.call, _ApprovalState())
        if data.approval in self._known:
            self.report("I38", event, f"the approval {data.approval!r} is requested a second time")
            return
        self._known.add(data.approval)
        self._waiting[data.approval] = data.call
        if call.running or call.over:
            self.report("I38", event, f"the approval of {data.call!r} is requested after the call started")
        call.waiting, call.denied = data.approval, False

    def _i38_resolved(self, event: Event, data: ev.ApprovalResolved) -> None:
        if self._waiting.get(data.approval) != data.call:
            self.report(
                "I38", event, f"the approval {data.approval!r} of {data.call!r} is resolved and was not waiting"
            )
            return
        del self._waiting[data.approval]
        call = self._calls[data.call]
        if call.over:
            self.report("I38", event, f"the approval {data.approval!r} is resolved after the result of {data.call!r}")
        call.waiting, call.denied = None, data.decision == "denied"

    def _i38_allowed(self, event: Event, call_id: str) -> None:
        call = self._calls.setdefault(call_id, _ApprovalState())
        if call.waiting is not None:
            self.report("I38", event, f"the call {call_id!r} starts before its approval is resolved")
        if call.denied:
            self.report("I38", event, f"the call {call_id!r} was denied and starts")
        call.running = call.started = True

    def _i38_denied(self, event: Event, data: ToolResult) -> None:
        call = self._calls.setdefault(data.id, _ApprovalState())
        if data.status == "denied" and call.started and not call.on_client:
            self.report("I38", event, f"the call {data.id!r} ran and its result is denied")
        elif call.denied and not call.started and data.status not in _AFTER_DENIAL:
            self.report("I38", event, f"the call {data.id!r} was denied and ends {data.status}")
        call.running, call.over = False, True

    def _i38_all_resolved(self, event: Event) -> None:
        for approval, call_id in self._waiting.items():
            self.report(
                "I38", event, f"the approval {approval!r} of {call_id!r} is not resolved when the exchange ends"
            )
        self._waiting.clear()
        self._calls.clear()


class ClientCallCheck(InvariantCheck):
    """A call that a client runs is requested while it runs; the conversation waits for such calls only."""

    watches = (
        *(ev.ToolExecuting, ev.ClientToolRequested, ev.ConversationWaiting, ToolResult, ev.SessionResumed),
        ev.ExchangeResponse,
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._running: dict[str, str] = {}  # the tools of started calls
        self._requested: set[str] = set()

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.ToolExecuting(id=call_id, name=name):
                self._running[call_id] = name
            case ev.ClientToolRequested():
                self._i3b_requested(event, event.data)
            case ev.ConversationWaiting(calls=calls):
                self._i3b_waiting(event, calls)
            case ToolResult(id=call_id):
                self._running.pop(call_id, None)
                self._requested.discard(call_id)
            case ev.SessionResumed():
                self._running = {call: name for call, name in self._running.items() if call in self._requested}
            case _:
                self._running.clear()
                self._requested.clear()

    def _i3b_requested(self, event: Event, data: ev.ClientToolRequested) -> None:
        if self._running.get(data.id) != data.name:
            self.report("I3B", event, f"a client is asked to run {data.id!r}, which is no running call of it")
        if data.id in self._requested:
            self.report("I3B", event, f"the call {data.id!r} is requested of a client twice")
        self._requested.add(data.id)

    def _i3b_waiting(self, event: Event, calls: list[str]) -> None:
        if not calls:
            self.report("I3B", event, "the conversation waits for no call")
        for call_id in calls:
            if call_id not in self._requested:
                self.report("I3B", event, f"the conversation waits for {call_id!r}, which no client was asked to run")
        for call_id in self._running.keys() - self._requested:
            self.report("I3B", event, f"the conversation waits for clients while {call_id!r} runs")


class ResourceCheck(InvariantCheck):
    """A resource such as `file:src` includes everything below it; `file:` is everything of its kind."""

    watches = (ev.ToolExecuting, ev.ToolCompleted, ev.ToolFailed, ToolResult, ev.SessionResumed)

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._held: dict[str, list[str]] = {}  # the resources of each call
        self._holder: dict[str, str] = {}  # the call of each resource
        self._held_inside: Counter[str] = Counter()  # how many held resources lie below each

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.ToolExecuting():
                self._i3a_apart(event, event.data)
            case ev.ToolCompleted(id=call_id) | ev.ToolFailed(id=call_id) | ToolResult(id=call_id):
                self._release(call_id)
            case ev.SessionResumed():
                self._held, self._holder, self._held_inside = {}, {}, Counter()
            case _:
                pass

    def _i3a_apart(self, event: Event, data: ev.ToolExecuting) -> None:
        self._release(data.id)
        resources = list(dict.fromkeys(resource.rstrip("/") for resource in data.resources))
        for resource in resources:
            held = next((outer for outer in _enclosing_resources(resource) if outer in self._holder), None)
            if held is not None:
                holder = self._holder[held]
                self.report("I3A", event, f"{data.id!r} acquires {resource!r} while {holder!r} holds {held!r}")
            elif self._held_inside[resource]:
                self.report("I3A", event, f"{data.id!r} acquires {resource!r} while another call holds a part of it")
        self._held[data.id] = [resource for resource in resources if resource not in self._holder]
        for resource in self._held[data.id]:
            self._holder[resource] = data.id
            self._held_inside.update(_enclosing_resources(resource))

    def _release(self, call_id: str) -> None:
        for resource in self._held.pop(call_id, ()):
            del self._holder[resource]
            self._held_inside.subtract(_enclosing_resources(resource))


def _enclosing_resources(resource: str) -> Iterator[str]:
    """Yield the resource and all resources that include it."""
    yield resource
    kind, colon, path = resource.partition(":")
    while "/" in path:
        path = path.rpartition("/")[0]
        yield f"{kind}:{path}"
    if path and colon:
        yield f"{kind}:"
