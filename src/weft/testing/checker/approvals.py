"""I38: what a person must allow waits for them, and runs only if they did."""

from dataclasses import dataclass

from weft.core.envelope import Event
from weft.core.events import ApprovalRequested, ApprovalResolved, ExchangeResponse, SessionResumed, ToolExecuting
from weft.core.tools import ToolResult
from weft.testing.checker.group import Group, Report

_AFTER_DENIAL = frozenset({"denied", "cancelled", "interrupted"})


@dataclass(slots=True)
class _Asked:
    """What was asked about a call."""

    waiting: str | None = None
    denied: bool = False
    running: bool = False
    started: bool = False
    over: bool = False


class Approvals(Group):
    sees = (ApprovalRequested, ApprovalResolved, ToolExecuting, ToolResult, SessionResumed, ExchangeResponse)

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._calls: dict[str, _Asked] = {}
        self._known: set[str] = set()
        self._waiting: dict[str, str] = {}  # approvals, with their calls

    def see(self, event: Event) -> None:
        match event.data:
            case ApprovalRequested():
                self._i38_asked(event, event.data)
            case ApprovalResolved():
                self._i38_resolved(event, event.data)
            case ToolExecuting(id=call_id):
                self._i38_allowed(event, call_id)
            case ToolResult():
                self._i38_denied(event, event.data)
            case SessionResumed():
                for call in self._calls.values():
                    call.running = False
            case ExchangeResponse():
                self._i38_all_resolved(event)
            case _:
                pass

    def end(self, seq: int) -> None:
        for approval in self._waiting:
            self._report("I38", seq, f"the approval {approval!r} is never resolved")

    def _i38_asked(self, event: Event, data: ApprovalRequested) -> None:
        call = self._calls.setdefault(data.call, _Asked())
        if data.approval in self._known:
            self.broke("I38", event, f"the approval {data.approval!r} is requested a second time")
            return
        self._known.add(data.approval)
        self._waiting[data.approval] = data.call
        if call.running or call.over:
            self.broke("I38", event, f"the approval of {data.call!r} is requested after the call started")
        call.waiting, call.denied = data.approval, False

    def _i38_resolved(self, event: Event, data: ApprovalResolved) -> None:
        if self._waiting.get(data.approval) != data.call:
            self.broke("I38", event, f"the approval {data.approval!r} of {data.call!r} is resolved and was not waiting")
            return
        del self._waiting[data.approval]
        call = self._calls[data.call]
        if call.over:
            self.broke("I38", event, f"the approval {data.approval!r} is resolved after the result of {data.call!r}")
        call.waiting, call.denied = None, data.decision == "denied"

    def _i38_allowed(self, event: Event, call_id: str) -> None:
        call = self._calls.setdefault(call_id, _Asked())
        if call.waiting is not None:
            self.broke("I38", event, f"the call {call_id!r} starts before its approval is resolved")
        if call.denied:
            self.broke("I38", event, f"the call {call_id!r} was denied and starts")
        call.running = call.started = True

    def _i38_denied(self, event: Event, data: ToolResult) -> None:
        call = self._calls.setdefault(data.id, _Asked())
        if data.status == "denied" and call.started:
            self.broke("I38", event, f"the call {data.id!r} ran and its result says denied")
        elif call.denied and not call.started and data.status not in _AFTER_DENIAL:
            self.broke("I38", event, f"the call {data.id!r} was denied and ends {data.status}")
        call.running, call.over = False, True

    def _i38_all_resolved(self, event: Event) -> None:
        for approval, call_id in self._waiting.items():
            self.broke("I38", event, f"the approval {approval!r} of {call_id!r} is not resolved when the exchange ends")
        self._waiting.clear()
        self._calls.clear()
