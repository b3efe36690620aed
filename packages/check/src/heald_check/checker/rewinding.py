"""The invariant of rewinding (I64)."""

from heald.core import events as ev
from heald.core.envelope import Event
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class RewindCheck(InvariantCheck):
    """I64."""

    watches = (ev.ExchangeRequest, ev.ExchangeResponse, ev.SessionRewound)

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._began = 0  # the seq of the open exchange, 0 if none is open
        self._spans: list[tuple[int, int]] = []  # the first and last seq of each closed exchange

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.ExchangeRequest():
                self._began = event.seq
            case ev.ExchangeResponse():
                self._spans.append((self._began, event.seq))
                self._began = 0
            case ev.SessionRewound(seq=seq):
                self._i64_between(event, seq)
            case _:
                pass

    def _i64_between(self, event: Event, seq: int) -> None:
        if self._began:
            self.report("I64", event, "session_rewound comes while an exchange is open")
        if not 0 <= seq < event.seq:
            self.report("I64", event, f"session_rewound names {seq}, which is not an event before it")
        elif any(first <= seq < last for first, last in self._spans):
            self.report("I64", event, f"session_rewound names {seq}, which is inside an exchange")
