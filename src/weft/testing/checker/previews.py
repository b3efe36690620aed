"""I42: what was shown of a file while the model wrote it is what the tool wrote, or was taken back."""

from hashlib import sha256

from weft.core.envelope import Event
from weft.core.events import (
    ExchangeRequest,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    ToolUseContentBlockStart,
)
from weft.core.tools import ToolCall, ToolResult
from weft.testing.checker.group import Group, Report


class _Shown:
    """The preview of one file."""

    __slots__ = ("length", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0

    @property
    def hash(self) -> str:
        return sha256("".join(self.parts).encode("utf-8", "surrogatepass")).hexdigest()


class Previews(Group):
    """It also tells I63 of text that was shown twice. A discarded message takes its previews back."""

    sees = (
        *(ExchangeRequest, MessageStart, ToolUseContentBlockStart, MessageStop, MessageDiscarded),
        *(ToolCall, FilePreview, FilePreviewReset, FileChanged, ToolResult),
    )

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._streaming: set[str] = set()  # the calls of the open message
        self._called: set[str] = set()  # calls without a result
        self._shown: dict[str, dict[str, _Shown]] = {}  # by call and path
        self._hashes: dict[str, str | None] = {}  # of each path, the last one

    def see(self, event: Event) -> None:
        match event.data:
            case FilePreview():
                self._i42_grows(event, event.data)
            case FilePreviewReset(id=call_id, path=path):
                self._shown.get(call_id, {}).pop(path, None)
            case FileChanged(path=path, hash=digest):
                self._hashes[path] = digest
            case ToolResult():
                self._i42_written(event, event.data)
                self._called.discard(event.data.id)
            case ToolUseContentBlockStart(id=call_id):
                self._streaming.add(call_id)
            case ToolCall(id=call_id):
                self._called.add(call_id)
            case MessageStart():
                self._streaming = set()
            case MessageStop():
                self._called |= self._streaming
                self._streaming = set()
            case MessageDiscarded():
                for call_id in self._streaming:
                    self._shown.pop(call_id, None)
                self._streaming = set()
            case ExchangeRequest():
                self._streaming, self._called, self._shown = set(), set(), {}
            case _:
                pass

    def _i42_grows(self, event: Event, data: FilePreview) -> None:
        if data.id not in self._streaming and data.id not in self._called:
            self.broke("I42", event, f"a preview of {data.path!r} belongs to {data.id!r}, which is no open call")
            return
        shown = self._shown.setdefault(data.id, {}).setdefault(data.path, _Shown())
        if data.offset < shown.length:
            self.broke("I63", event, f"the preview of {data.path!r} shows again what lies after {data.offset}")
        elif data.offset > shown.length:
            self.broke("I42", event, f"the preview of {data.path!r} leaps from {shown.length} to {data.offset}")
        shown.parts.append(data.text)
        shown.length = data.offset + len(data.text)

    def _i42_written(self, event: Event, data: ToolResult) -> None:
        """A tool that found the content there already has written it as well."""
        for path, shown in self._shown.pop(data.id, {}).items():
            if data.status != "ok":
                self.broke("I42", event, f"{data.id!r} ends {data.status} and its preview of {path!r} was not reset")
            elif path in self._hashes and self._hashes[path] != shown.hash:
                self.broke("I42", event, f"{data.id!r} wrote another content to {path!r} than its preview showed")
