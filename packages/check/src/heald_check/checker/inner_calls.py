"""The invariant of calls that the program of another call makes (I3C)."""

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.messages import ToolCall, ToolResult
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class InnerCallCheck(InvariantCheck):
    """I3C."""

    watches = (
        *(ToolCall, ev.AssistantMessage, ev.ToolExecuting, ToolResult, ev.SessionResumed, ev.ExchangeRequest),
        ev.ExchangeResponse,
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._running: set[str] = set()
        self._parents: dict[str, str] = {}  # of inner calls without a result

    def on_event(self, event: Event) -> None:
        match event.data:
            case ToolCall(id=call_id, parent=str(parent)):
                if parent not in self._running:
                    self.report("I3C", event, f"the call {call_id!r} is made by {parent!r}, which is not running")
                self._parents[call_id] = parent
            case ev.AssistantMessage(message=message):
                for call in message.tool_calls:
                    if call.parent is not None:
                        self.report("I3C", event, f"the call {call.id!r} of a program stands in a message")
            case ev.ToolExecuting(id=call_id):
                self._i3c_parent_runs(event, call_id)
                self._running.add(call_id)
            case ToolResult(id=call_id):
                self._i3c_ended(event, call_id)
            case ev.SessionResumed():
                self._running.clear()
            case _:
                self._running.clear()
                self._parents.clear()

    def _i3c_parent_runs(self, event: Event, call_id: str) -> None:
        parent = self._parents.get(call_id)
        if parent is not None and parent not in self._running:
            self.report("I3C", event, f"the call {call_id!r} starts and {parent!r}, which made it, is not running")

    def _i3c_ended(self, event: Event, call_id: str) -> None:
        self._running.discard(call_id)
        self._parents.pop(call_id, None)
        for inner, parent in self._parents.items():
            if parent == call_id:
                self.report("I3C", event, f"the call {call_id!r} ends before {inner!r}, which it made")
