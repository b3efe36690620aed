"""I60 to I63: after a cancel nothing begins; after a crash nothing is lost and nothing is said twice."""

from weft.core.envelope import Event
from weft.core.events import (
    CancelRequested,
    ExchangeRequest,
    ExchangeResponse,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    SessionResumed,
    ToolExecuting,
)
from weft.core.tools import ToolCall, ToolResult
from weft.testing.checker.group import Group, Report
from weft.testing.checker.messages import BLOCKS

_CONTENT = (*BLOCKS, MessageDelta, MessageStop)


class Cancel(Group):
    """I60."""

    sees = (ExchangeRequest, CancelRequested, MessageStart, ToolExecuting, ExchangeResponse)

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._cancelled = False

    def see(self, event: Event) -> None:
        match event.data:
            case CancelRequested():
                self._cancelled = True
            case ExchangeRequest():
                self._cancelled = False
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
