"""Invariants of calls that a client runs."""

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.messages import ToolResult
from heald_check.checker.invariants import InvariantCheck, ReportViolation


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
            case ev.ConversationWaiting(call_ids=calls):
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
            self.report("I3B", event, f"a client is asked to run {data.id!r}, which is not a running call of it")
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
