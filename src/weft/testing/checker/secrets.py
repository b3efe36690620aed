"""I70 and I71: no secret anywhere, and no traceback or host path in an error."""

import json
import re
from collections.abc import Iterator, Sequence

from weft.core.envelope import Event
from weft.core.errors import ErrorInfo
from weft.core.events import (
    ConversationInterrupted,
    ErrorMessage,
    ErrorOccurred,
    ExchangeResponse,
    FilePreview,
    InputJsonDelta,
    MessageDiscarded,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolFailed,
    ToolOutputDelta,
)
from weft.core.json import encode, encode_text
from weft.core.payload import Payload
from weft.core.tools import ToolCall, ToolResult
from weft.testing.checker.group import Group, Report

_TRACEBACK = re.compile(r'Traceback \(most recent call last\)|File "[^"\n]+", line \d+, in ')
_TRACEBACK_WORDS = "Traceback (most recent call last)"


class Secrets(Group):
    """I70. A secret is found as it stands, escaped in JSON or in JSON within it, and cut into deltas."""

    def __init__(self, report: Report, secrets: Sequence[str]) -> None:
        super().__init__(report)
        spellings = {form for secret in secrets if secret for form in _spellings(secret)}
        self._spellings = sorted(spellings)
        self._bytes = [form.encode("utf-8", "replace") for form in self._spellings]
        self._tail = max((len(form) for form in spellings), default=1) - 1
        self._ends: dict[str, str] = {}  # of each stream of deltas, its last characters

    def see(self, event: Event) -> None:
        if not self._spellings:
            return
        raw = encode(event)
        here = any(form in raw for form in self._bytes)
        if here:
            self.broke("I70", event, f"{event.type} holds a secret")
        match event.data:
            case TextDelta(block=stream, text=text) | ThinkingDelta(block=stream, text=text):
                self._i70_cut(event, stream, text, here)
            case InputJsonDelta(block=stream, partial_json=text):
                self._i70_cut(event, stream, text, here)
            case ToolOutputDelta(id=stream, text=text, channel=channel):
                self._i70_cut(event, f"{stream} {channel}", text, here)
            case FilePreview(id=stream, path=path, text=text):
                self._i70_cut(event, f"{stream} {path}", text, here)
            case ExchangeResponse():
                self._ends.clear()
            case _:
                pass

    def _i70_cut(self, event: Event, stream: str, text: str, known: bool) -> None:
        seen = self._ends.get(stream, "") + text
        if not known and any(form in seen for form in self._spellings):
            self.broke("I70", event, f"{event.type} ends a secret that the deltas before it began")
        self._ends[stream] = seen[-self._tail :] if self._tail else ""


def _spellings(secret: str) -> Iterator[str]:
    yield secret
    escaped = encode_text(secret)
    yield escaped[1:-1]
    yield encode_text(escaped[1:-1])[1:-1]
    yield json.dumps(secret)[1:-1]


class Errors(Group):
    """I71. A program may print a traceback of its own: a result may repeat what its tool's output showed."""

    sees = (
        *(ErrorOccurred, ErrorMessage, MessageDiscarded, RetryScheduled, ConversationInterrupted, ExchangeResponse),
        *(ToolCall, ToolOutputDelta, ToolFailed, ToolResult),
    )

    def __init__(self, report: Report, host_paths: Sequence[str]) -> None:
        super().__init__(report)
        paths = sorted({re.escape(path.rstrip("/")) for path in host_paths if path.rstrip("/")})
        self._host = re.compile(rf"(?:{'|'.join(paths)})(?!\w)") if paths else None
        self._ends: dict[str, str] = {}  # of each call's output, its last characters
        self._own: set[str] = set()  # calls whose output showed a traceback

    def see(self, event: Event) -> None:
        data = event.data
        match data:
            case ToolOutputDelta(id=call_id, text=text):
                self._output(call_id, text)
                return
            case ToolResult(id=call_id):
                own = call_id in self._own
                self._ends.pop(call_id, None)
            case _:
                own = False
        for text in _error_texts(data):
            self._i71_clean(event, text, own)

    def _output(self, call_id: str, text: str) -> None:
        seen = self._ends.get(call_id, "") + text
        if _TRACEBACK_WORDS in seen:
            self._own.add(call_id)
        self._ends[call_id] = seen[-len(_TRACEBACK_WORDS) :]

    def _i71_clean(self, event: Event, text: str, own: bool) -> None:
        if not own and _TRACEBACK.search(text):
            self.broke("I71", event, f"{event.type} holds a traceback")
        if self._host is not None and self._host.search(text):
            self.broke("I71", event, f"{event.type} names a path of the host")


def _error_texts(data: Payload) -> Iterator[str]:
    match data:
        case ErrorOccurred() | ErrorMessage() | MessageDiscarded() | RetryScheduled():
            yield from _words(data.error)
        case ExchangeResponse(error=ErrorInfo() as error):
            yield from _words(error)
        case ConversationInterrupted(reason=reason):
            yield reason
        case ToolFailed(summary=summary):
            yield summary
        case ToolCall(invalid=invalid) if invalid is not None:
            yield invalid.message
        case ToolResult() if data.is_error or data.status != "ok":
            yield data.text
        case _:
            pass


def _words(error: ErrorInfo) -> Iterator[str]:
    yield error.message
    yield error.provider_code or ""
