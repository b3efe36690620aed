"""Invariants of the texts of errors."""

import re
from collections.abc import Iterator, Sequence

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.errors import ErrorInfo
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald_check.checker.invariants import InvariantCheck, ReportViolation

_TRACEBACK = re.compile(r'Traceback \(most recent call last\)|File "[^"\n]+", line \d+, in ')
_TRACEBACK_WORDS = "Traceback (most recent call last)"


class ErrorTextCheck(InvariantCheck):
    """I71. A program may print a traceback of its own, and the result of its call may repeat it."""

    watches = (
        *(ev.ErrorOccurred, ev.ErrorMessage, ev.MessageDiscarded, ev.RetryScheduled, ev.ConversationInterrupted),
        *(ev.ExchangeResponse, ToolCall, ev.ToolOutputDelta, ev.ToolFailed, ToolResult),
    )

    def __init__(self, report: ReportViolation, host_paths: Sequence[str]) -> None:
        super().__init__(report)
        paths = sorted({re.escape(path.rstrip("/")) for path in host_paths if path.rstrip("/")})
        self._host = re.compile(rf"(?:{'|'.join(paths)})(?!\w)") if paths else None
        self._tails: dict[str, str] = {}  # the last characters of each call's output
        self._showed_traceback: set[str] = set()  # calls whose output had a traceback

    def on_event(self, event: Event) -> None:
        data = event.data
        match data:
            case ev.ToolOutputDelta(id=call_id, text=text):
                self._output(call_id, text)
                return
            case ToolResult(id=call_id):
                is_output = call_id in self._showed_traceback
                self._tails.pop(call_id, None)
            case _:
                is_output = False
        for text in _error_texts(data):
            self._i71_clean(event, text, is_output)

    def _output(self, call_id: str, text: str) -> None:
        seen = self._tails.get(call_id, "") + text
        if _TRACEBACK_WORDS in seen:
            self._showed_traceback.add(call_id)
        self._tails[call_id] = seen[-len(_TRACEBACK_WORDS) :]

    def _i71_clean(self, event: Event, text: str, is_output: bool) -> None:
        if not is_output and _TRACEBACK.search(text):
            self.report("I71", event, f"{event.type} holds a traceback")
        if self._host is not None and self._host.search(text):
            self.report("I71", event, f"{event.type} names a path of the host")


def _error_texts(data: Payload) -> Iterator[str]:
    match data:
        case ev.ErrorOccurred() | ev.ErrorMessage() | ev.MessageDiscarded() | ev.RetryScheduled():
            yield from _error_strings(data.error)
        case ev.ExchangeResponse(error=ErrorInfo() as error):
            yield from _error_strings(error)
        case ev.ConversationInterrupted(reason=reason):
            yield reason
        case ev.ToolFailed(summary=summary):
            yield summary
        case ToolCall(invalid=invalid) if invalid is not None:
            yield invalid.message
        case ToolResult() if data.is_error or data.status != "ok":
            yield data.text
        case _:
            pass


def _error_strings(error: ErrorInfo) -> Iterator[str]:
    yield error.message
    yield error.provider_code or ""
