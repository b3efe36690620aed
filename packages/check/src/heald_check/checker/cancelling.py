"""The invariant of cancelled exchanges (I60)."""

from heald.core import events as ev
from heald.core.envelope import Event
from heald_check.checker.blocks import BLOCK_EVENTS
from heald_check.checker.invariants import InvariantCheck, ReportViolation

CONTENT_EVENTS = (*BLOCK_EVENTS, ev.MessageDelta, ev.MessageStop)


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
