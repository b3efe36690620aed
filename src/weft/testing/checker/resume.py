"""I60 to I64: after a cancel nothing begins; after a crash nothing is lost and nothing is said twice; what is rewound
to is a place between exchanges."""

from weft.core.envelope import Event
from weft.core.events import (
    CancelRequested,
    ConversationDequeued,
    ExchangeRequest,
    ExchangeResponse,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    SessionResumed,
    SessionRewound,
    ToolExecuting,
)
from weft.core.tools import ToolCall, ToolResult
from weft.testing.checker.group import Group, Report
from weft.testing.checker.messages import BLOCKS

_CONTENT = (*BLOCKS, MessageDelta, MessageStop)


class Cancel(Group):
    """I60."""

    sees = (ExchangeRequest, ConversationDequeued, CancelRequested, MessageStart, ToolExecuting, ExchangeResponse)

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._cancelled = False
        self._dequeued: set[str] = set()

    def see(self, event: Event) -> None:
        match event.data:
            case CancelRequested():
                self._cancelled = True
            case ConversationDequeued(request=request):
                self._dequeued.add(request)
            case ExchangeRequest():
                self._cancelled = event.exchange in self._dequeued
            case MessageStart() | ToolExecuting():
                if self._cancelled:
                    self.broke("I60", event, f"{event.type} comes after cancel_requested")
            case ExchangeResponse(status=status):
                if self._cancelled and status != "cancelled":
                    self.broke("I60", event, f"the exchange was cancelled and ends {status}")
                self._cancelled = False
            case _:
                pass


class Resume(Group):
    """I61 to I63."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._seq = 0
        self._epoch: int | None = None
        self._calls: dict[str, None] = {}  # without a result
        self._owed: dict[str, int] = {}  # of those, the ones that were open at a resume, and its seq
        self._message: str | None = None
        self._before: set[str] = set()  # messages that were opened before the last resume
        self._opened: list[str] = []  # messages since then

    def see(self, event: Event) -> None:
        self._i62_epoch(event)
        data = event.data
        if isinstance(data, _CONTENT):
            self._i63_once(event)
        match data:
            case ToolCall(id=call_id):
                self._calls[call_id] = None
            case ToolResult(id=call_id):
                self._calls.pop(call_id, None)
                self._owed.pop(call_id, None)
            case MessageStart(message=message):
                if message in self._before:
                    self.broke("I63", event, f"the message {message!r} begins again after a resume")
                self._message = message
                self._opened.append(message)
            case MessageStop() | MessageDiscarded():
                self._message = None
            case SessionResumed():
                self._i61_from(event, data)
            case ExchangeResponse():
                self._i61_settled(event.seq)
            case _:
                pass
        self._seq = event.seq

    def end(self, seq: int) -> None:
        self._i61_settled(seq)

    def _i61_from(self, event: Event, data: SessionResumed) -> None:
        if data.from_seq != self._seq:
            self.broke("I61", event, f"session_resumed says {data.from_seq} and the last seq before it is {self._seq}")
        self._owed.update(dict.fromkeys(self._calls, event.seq))
        self._before.update(self._opened)
        self._opened.clear()

    def _i61_settled(self, seq: int) -> None:
        for call_id, resumed in self._owed.items():
            self._report("I61", seq, f"the call {call_id!r} was open at the resume at {resumed} and has no result")
        self._owed.clear()
        self._calls.clear()

    def _i62_epoch(self, event: Event) -> None:
        if self._epoch is not None and event.epoch < self._epoch:
            self.broke("I62", event, f"epoch {event.epoch} follows {self._epoch}")
        self._epoch = event.epoch

    def _i63_once(self, event: Event) -> None:
        if self._message in self._before:
            self.broke("I63", event, f"{event.type} goes on with {self._message!r}, which was broken off by a crash")


class Rewind(Group):
    """I64."""

    sees = (ExchangeRequest, ExchangeResponse, SessionRewound)

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._began = 0  # the exchange that is open
        self._spans: list[tuple[int, int]] = []  # those that are over

    def see(self, event: Event) -> None:
        match event.data:
            case ExchangeRequest():
                self._began = event.seq
            case ExchangeResponse():
                self._spans.append((self._began, event.seq))
                self._began = 0
            case SessionRewound(seq=seq):
                self._i64_between(event, seq)
            case _:
                pass

    def _i64_between(self, event: Event, seq: int) -> None:
        if self._began:
            self.broke("I64", event, "session_rewound comes while an exchange is open")
        if not 0 <= seq < event.seq:
            self.broke("I64", event, f"session_rewound names {seq}, which is no event before it")
        elif any(first <= seq < last for first, last in self._spans):
            self.broke("I64", event, f"session_rewound names {seq}, which is inside an exchange")
