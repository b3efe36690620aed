"""Invariants of cancelling (I60), resuming after a crash (I61 to I63), rewinding (I64) and compacting (I65)."""

from weft.core import events as ev
from weft.core.context_events import ConversationCompacted, ConversationRestored
from weft.core.envelope import Event
from weft.core.messages import ToolCall, ToolResult
from weft.testing.checker.invariants import InvariantCheck, ReportViolation
from weft.testing.checker.messages import BLOCK_EVENTS

_CONTENT = (*BLOCK_EVENTS, ev.MessageDelta, ev.MessageStop)


class CancelCheck(InvariantCheck):
    """I60."""

    watches = (
        *(ev.ExchangeRequest, ev.ConversationDequeued, ev.CancelRequested, ev.MessageStart, ev.ToolExecuting),
        ev.ExchangeResponse,
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._cancelled = False
        self._dequeued: set[str] = set()

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.CancelRequested():
                self._cancelled = True
            case ev.ConversationDequeued(request=request):
                self._dequeued.add(request)
            case ev.ExchangeRequest():
                self._cancelled = event.exchange in self._dequeued
            case ev.MessageStart() | ev.ToolExecuting():
                if self._cancelled:
                    self.report("I60", event, f"{event.type} comes after cancel_requested")
            case ev.ExchangeResponse(status=status):
                if self._cancelled and status != "cancelled":
                    self.report("I60", event, f"the exchange was cancelled and ends {status}")
                self._cancelled = False
            case _:
                pass


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
        if isinstance(data, _CONTENT):
            self._i63_once(event)
        match data:
            case ToolCall(id=call_id):
                self._calls[call_id] = None
            case ToolResult(id=call_id):
                self._calls.pop(call_id, None)
                self._unresolved.pop(call_id, None)
            case ev.MessageStart(message=message):
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
            self.report("I64", event, f"session_rewound names {seq}, which is no event before it")
        elif any(first <= seq < last for first, last in self._spans):
            self.report("I64", event, f"session_rewound names {seq}, which is inside an exchange")


class CompactionCheck(InvariantCheck):
    """I65. A rewind may drop compactions, so after one any earlier compaction may be restored."""

    watches = (
        *(ev.MessageStart, ev.MessageStop, ev.MessageDiscarded, ev.SessionRewound),
        *(ConversationCompacted, ConversationRestored),
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._message = ""
        self._holding: list[int] = []
        self._rewound = False

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.MessageStart(message=message):
                self._message = message
            case ev.SessionRewound():
                self._rewound = True
            case ConversationCompacted():
                self._i65_compacted(event, event.data)
                self._holding.append(event.seq)
            case ConversationRestored(seq=seq):
                self._i65_restored(event, seq)
            case _:
                self._message = ""

    def _i65_compacted(self, event: Event, compaction: ConversationCompacted) -> None:
        if self._message:
            self.report("I65", event, f"the context is compacted while {self._message!r} is open")
        if compaction.tokens_after >= compaction.tokens_before:
            before, after = compaction.tokens_before, compaction.tokens_after
            self.report("I65", event, f"the context has {after} tokens after the compaction and {before} before it")
        if compaction.removed < 0 or compaction.shortened < 0:
            self.report("I65", event, "the compaction removes or shortens fewer than no messages")

    def _i65_restored(self, event: Event, seq: int) -> None:
        if event.exchange is not None:
            self.report("I65", event, "the context is restored inside an exchange")
        if seq not in self._holding or (seq != self._holding[-1] and not self._rewound):
            self.report("I65", event, f"{seq} is not the last compaction that holds")
        if seq in self._holding:
            self._holding.remove(seq)
