"""Invariants of previews of files."""

from hashlib import sha256

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.messages import ToolCall, ToolResult
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class _Preview:
    """The preview of one file."""

    __slots__ = ("length", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0

    @property
    def hash(self) -> str:
        return sha256("".join(self.parts).encode("utf-8", "surrogatepass")).hexdigest()


class PreviewCheck(InvariantCheck):
    """I42, and I63 for text that was previewed twice. A discarded message discards its previews."""

    watches = (
        *(ev.ExchangeRequest, ev.MessageStart, ev.ToolUseContentBlockStart, ev.MessageStop, ev.MessageDiscarded),
        *(ToolCall, ev.FilePreview, ev.FilePreviewReset, ev.FileChanged, ToolResult),
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._streaming: set[str] = set()  # the calls of the open message
        self._called: set[str] = set()  # calls without a result
        self._previews: dict[str, dict[str, _Preview]] = {}  # by call and path
        self._hashes: dict[str, str | None] = {}  # the current hash of each path

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.FilePreview():
                self._i42_grows(event, event.data)
            case ev.FilePreviewReset(id=call_id, path=path):
                self._previews.get(call_id, {}).pop(path, None)
            case ev.FileChanged(path=path, hash=digest):
                self._hashes[path] = digest
            case ToolResult():
                self._i42_written(event, event.data)
                self._called.discard(event.data.id)
            case ev.ToolUseContentBlockStart(id=call_id):
                self._streaming.add(call_id)
            case ToolCall(id=call_id):
                self._called.add(call_id)
            case ev.MessageStart():
                self._streaming = set()
            case ev.MessageStop():
                self._called |= self._streaming
                self._streaming = set()
            case ev.MessageDiscarded():
                for call_id in self._streaming:
                    self._previews.pop(call_id, None)
                self._streaming = set()
            case ev.ExchangeRequest():
                self._streaming, self._called, self._previews = set(), set(), {}
            case _:
                pass

    def _i42_grows(self, event: Event, data: ev.FilePreview) -> None:
        if data.id not in self._streaming and data.id not in self._called:
            self.report("I42", event, f"a preview of {data.path!r} belongs to {data.id!r}, which is not an open call")
            return
        preview = self._previews.setdefault(data.id, {}).setdefault(data.path, _Preview())
        if data.offset < preview.length:
            self.report("I63", event, f"the preview of {data.path!r} repeats the text after {data.offset}")
        elif data.offset > preview.length:
            self.report("I42", event, f"the preview of {data.path!r} jumps from {preview.length} to {data.offset}")
        preview.parts.append(data.text)
        preview.length = data.offset + len(data.text)

    def _i42_written(self, event: Event, data: ToolResult) -> None:
        """Compare the files of a call with their previews. A file that had the content before counts as written."""
        for path, preview in self._previews.pop(data.id, {}).items():
            if data.status != "ok":
                self.report("I42", event, f"{data.id!r} ends {data.status} and its preview of {path!r} was not reset")
            elif path in self._hashes and self._hashes[path] != preview.hash:
                self.report("I42", event, f"{data.id!r} wrote another content to {path!r} than its preview showed")
