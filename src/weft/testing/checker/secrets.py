"""Invariants of secrets (I70) and of error texts (I71)."""

import json
import re
from collections.abc import Iterator, Sequence

from weft.core import events as ev
from weft.core.envelope import Event
from weft.core.errors import ErrorInfo
from weft.core.json import encode, encode_text
from weft.core.messages import ToolCall, ToolResult
from weft.core.payload import Payload
from weft.testing.checker.invariants import InvariantCheck, ReportViolation

_TRACEBACK = re.compile(r'Traceback \(most recent call last\)|File "[^"\n]+", line \d+, in ')
_TRACEBACK_WORDS = "Traceback (most recent call last)"


class SecretCheck(InvariantCheck):
    """I70. Finds a secret as it is, escaped in JSON or in JSON inside JSON, and split over deltas."""

    def __init__(self, report: ReportViolation, secrets: Sequence[str]) -> None:
        super().__init__(report)
        spellings = {form for secret in secrets if secret for form in _encoded_forms(secret)}
        self._spellings = sorted(spellings)
        self._bytes = [form.encode("utf-8", "replace") for form in self._spellings]
        self._tail_size = max((len(form) for form in spellings), default=1) - 1
        self._tails: dict[str, str] = {}  # the last characters of each stream of deltas

    def on_event(self, event: Event) -> None:
        if not self._spellings:
            return
        raw = encode(event)
        here = any(form in raw for form in self._bytes)
        if here:
            self.report("I70", event, f"{event.type} holds a secret")
        match event.data:
            case ev.TextDelta(block=stream, text=text) | ev.ThinkingDelta(block=stream, text=text):
                self._i70_cut(event, stream, text, here)
            case ev.InputJsonDelta(block=stream, partial_json=text):
                self._i70_cut(event, stream, text, here)
            case ev.ToolOutputDelta(id=stream, text=text, channel=channel):
                self._i70_cut(event, f"{stream} {channel}", text, here)
            case ev.FilePreview(id=stream, path=path, text=text):
                self._i70_cut(event, f"{stream} {path}", text, here)
            case ev.ExchangeResponse():
                self._tails.clear()
            case _:
                pass

    def _i70_cut(self, event: Event, stream: str, text: str, known: bool) -> None:
        seen = self._tails.get(stream, "") + text
        if not known and any(form in seen for form in self._spellings):
            self.report("I70", event, f"{event.type} ends a secret that the deltas before it began")
        self._tails[stream] = seen[-self._tail_size :] if self._tail_size else ""


def _encoded_forms(secret: str) -> Iterator[str]:
    yield secret
    escaped = encode_text(secret)
    yield escaped[1:-1]
    yield encode_text(escaped[1:-1])[1:-1]
    yield json.dumps(secret)[1:-1]


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
                own = call_id in self._showed_traceback
                self._tails.pop(call_id, None)
            case _:
                own = False
        for text in _error_texts(data):
            self._i71_clean(event, text, own)

    def _output(self, call_id: str, text: str) -> None:
        seen = self._tails.get(call_id, "") + text
        if _TRACEBACK_WORDS in seen:
            self._showed_traceback.add(call_id)
        self._tails[call_id] = seen[-len(_TRACEBACK_WORDS) :]

    def _i71_clean(self, event: Event, text: str, own: bool) -> None:
        if not own and _TRACEBACK.search(text):
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
