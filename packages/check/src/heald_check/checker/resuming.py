"""Invariants of resuming after a crash (I61 to I63)."""

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.messages import ToolCall, ToolResult
from heald_check.checker.cancelling import CONTENT_EVENTS
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class ResumeCheck(InvariantCheck):
    """I61 to I63."""

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._seq = 0
        self._epoch: int | None = None
        self._calls: dict[str, None] = {}  # calls without a result
        self._unresolved: dict[str, int] = {}  # those that were open at a resume, and its seq
        self._message: str | None = None
        self._before: set[str] = set()  # messages from before the last resume
        self._opened: list[str] = []  # messages since the last resume

    def on_event(self, event: Event) -> None:
        self._i62_epoch(event)
        data = event.data
        if isinstance(data, CONTENT_EVENTS):
            self._i63_once(event)
        match data:
            case ToolCall(id=call_id):
                self._calls[call_id] = None
            case ToolResult(id=call_id):
                self._calls.pop(call_id, None)
                self._unresolved.pop(call_id, None)
            case ev.MessageStart(message_id=message):
                if message in self._before:
                    self.report("I63", event, f"the message {message!r} starts a second time after a resume")
                self._message = message
                self._opened.append(message)
            case ev.MessageStop() | ev.MessageDiscarded():
                self._message = None
            case ev.SessionResumed():
                self._i61_from(event, data)
            case ev.ExchangeResponse():
                self._i61_all_resolved(event.seq)
            case _:
                pass
        self._seq = event.seq

    def on_end(self, seq: int) -> None:
        self._i61_all_resolved(seq)

    def _i61_from(self, event: Event, data: ev.SessionResumed) -> None:
        if data.from_seq != self._seq:
            self.report("I61", event, f"session_resumed has {data.from_seq} and the last seq before it is {self._seq}")
        self._unresolved.update(dict.fromkeys(self._calls, event.seq))
        self._before.update(self._opened)
        self._opened.clear()

    def _i61_all_resolved(self, seq: int) -> None:
        for call_id, resumed in self._unresolved.items():
            self.report("I61", seq, f"the call {call_id!r} was open at the resume at {resumed} and has no result")
        self._unresolved.clear()
        self._calls.clear()

    def _i62_epoch(self, event: Event) -> None:
        if self._epoch is not None and event.epoch < self._epoch:
            self.report("I62", event, f"epoch {event.epoch} follows {self._epoch}")
        self._epoch = event.epoch

    def _i63_once(self, event: Event) -> None:
        if self._message in self._before:
            self.report("I63", event, f"{event.type} continues {self._message!r}, which a crash had interrupted")
