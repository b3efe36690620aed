"""Previews of files while the model writes them: `file_preview` events during the arguments of a call.

Arguments are parsed once for each batch of deltas. The preview is compared with the written file by hash: if they
differ, or if nothing was written, the preview is retracted. A file that holds secret values has no preview.

An event costs more than a few characters, so previews grow in steps: the beginning at once, then an eighth of the
length, between 8 and 256 characters. A file of 30 kB in deltas of 8 bytes makes about 150 events, less than three times
the size of the file. A slow model needs long for 256 characters, so text is also published with the first delta that
arrives 0.2 s after the last event.
"""

import asyncio
from collections.abc import Callable
from time import monotonic

from heald.core.digest import sha256
from heald.core.events import FileChanged, FilePreview, FilePreviewReset, InputJsonDelta, ToolUseContentBlockStart
from heald.core.messages import ToolResult
from heald.core.payload import Payload
from heald.tools.definitions import CallPreview
from heald.tools.runtime import ToolRuntime
from heald.tools.workspace.paths import PathFault
from heald.wires.partial_json import PartialJson

_LEAST = 8
_MOST = 256
_PART = 8
_SECONDS = 0.2


class _FilePreview:
    """The preview of one file for one call, and the text that is held until the next event."""

    __slots__ = ("digest", "held", "is_hidden", "offset", "path", "published", "size")

    def __init__(self, path: str, *, is_hidden: bool) -> None:
        self.path = path
        self.is_hidden = is_hidden  # the file holds secret values
        self.offset = 0
        self.digest = sha256()
        self.held: list[str] = []
        self.size = 0
        self.published = -_SECONDS  # by the monotonic clock

    @property
    def is_due(self) -> bool:
        step = min(max(self.offset // _PART, _LEAST), _MOST) if self.offset else 1
        return self.size >= step or monotonic() - self.published >= _SECONDS


class _ArgumentStream:
    """The arguments of one call while they arrive."""

    __slots__ = ("call", "parser", "preview")

    def __init__(self, call: str, preview: CallPreview) -> None:
        self.call = call
        self.preview = preview
        self.parser = PartialJson()


class FilePreviews:
    """Publishes previews of the files that the calls of an exchange will write."""

    def __init__(self, runtime: ToolRuntime, publish: Callable[[Payload], None]) -> None:
        self._runtime = runtime
        self._workspace = runtime.workspace
        self._publish = publish
        self.following: dict[str, _ArgumentStream] = {}
        """The calls with a preview whose arguments still arrive, by block."""
        self.open_previews: dict[str, _FilePreview] = {}
        """The previews, by call."""
        self._written: dict[str, tuple[str, str | None]] = {}  # path and hash, by call
        self._due = False

    def start_call(self, start: ToolUseContentBlockStart) -> None:
        tool = self._runtime.registry.find(start.name)
        if tool is not None and tool.preview is not None:
            self.following[start.block] = _ArgumentStream(start.id, tool.preview(self._workspace))

    def feed(self, delta: InputJsonDelta) -> None:
        following = self.following.get(delta.block)
        if following is None:
            return
        following.parser.feed(delta.partial_json)
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Publish what the deltas since the last flush contain."""
        self._due = False
        for following in self.following.values():
            for path, text in following.preview.grow(following.parser.grow()):
                self._hold(following.call, path, text)

    def end_arguments(self, block: str) -> None:
        """The arguments of a call are complete."""
        following = self.following.get(block)
        if following is None:
            return
        self.flush()
        del self.following[block]
        for path, text in following.preview.end():
            self._hold(following.call, path, text)
        self._publish_held(following.call)

    def discard(self) -> None:
        """Retract the previews of a discarded message."""
        self.following.clear()
        for call in list(self.open_previews):
            self._retract(call)

    def on_file_changed(self, change: FileChanged) -> None:
        self._written[change.cause] = (change.path, change.hash)

    def finish_call(self, result: ToolResult) -> None:
        """Compare the preview of a finished call with the file."""
        if result.id not in self.open_previews:
            return
        path, digest = self._written.pop(result.id, (None, None))
        preview = self.open_previews[result.id]
        if result.status != "ok":
            self._retract(result.id)
        elif path is not None and not preview.is_hidden and digest != preview.digest.hexdigest():
            self._retract(result.id)
            try:
                text = self._workspace.read_text(path, remember=False)
            except PathFault:
                return
            self._hold(result.id, path, text)
            self._publish_held(result.id)
        self.open_previews.pop(result.id, None)

    def _hold(self, call: str, path: str, text: str) -> None:
        preview = self.open_previews.get(call)
        if preview is None:
            try:
                place = self._workspace.normal(path)
                preview = self.open_previews[call] = _FilePreview(place, is_hidden=self._runtime.holds_secrets(place))
            except PathFault:
                return  # the tool reports the problem
        preview.held.append(text)
        preview.size += len(text)
        if preview.is_due:
            self._publish_held(call)

    def _publish_held(self, call: str) -> None:
        preview = self.open_previews.get(call)
        if preview is None or not preview.size:
            return
        text = "".join(preview.held)
        preview.held, preview.size = [], 0
        if preview.is_hidden:
            return
        preview.published = monotonic()
        self._publish(FilePreview(call, preview.path, preview.offset, text))
        preview.offset += len(text)
        preview.digest.update(text.encode("utf-8", "surrogatepass"))

    def _retract(self, call: str) -> None:
        preview = self.open_previews.pop(call)
        if preview.offset:
            self._publish(FilePreviewReset(call, preview.path))
