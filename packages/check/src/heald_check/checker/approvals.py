"""Invariants of approvals."""

import msgspec

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.messages import ToolResult
from heald_check.checker.invariants import InvariantCheck, ReportViolation

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
        *(ev.ExchangeResponse, ev.ClientToolRequested, ev.SessionForked),
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
            case ev.SessionForked(changed=changed, call_id=str(call_id)) if "result" in changed:
                self._calls.setdefault(call_id, _ApprovalState()).denied = False  # the fork states its result
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
        call = self._calls.setdefault(data.call_id, _ApprovalState())
        if data.approval in self._known:
            self.report("I38", event, f"the approval {data.approval!r} is requested a second time")
            return
        self._known.add(data.approval)
        self._waiting[data.approval] = data.call_id
        if call.running or call.over:
            self.report("I38", event, f"the approval of {data.call_id!r} is requested after the call started")
        call.waiting, call.denied = data.approval, False

    def _i38_resolved(self, event: Event, data: ev.ApprovalResolved) -> None:
        if self._waiting.get(data.approval) != data.call_id:
            self.report(
                "I38", event, f"the approval {data.approval!r} of {data.call_id!r} is resolved and was not waiting"
            )
            return
        del self._waiting[data.approval]
        call = self._calls[data.call_id]
        if call.over:
            self.report(
                "I38", event, f"the approval {data.approval!r} is resolved after the result of {data.call_id!r}"
            )
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
