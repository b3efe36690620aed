"""Files as the model writes them: `file_preview` while a call's arguments still arrive.

Arguments are parsed once for each batch of deltas, not once a delta. What was shown is held against what was written by
its hash: if they differ, or if nothing was written, the preview is taken back.

An event costs more than a few characters do, so a file is shown in steps that grow with it: its beginning at once, then
an eighth of what is there, between 8 and 256 characters. A file of 30 kB that comes in deltas of 8 bytes is shown by
about 150 events, which are less than three times the file.
"""

import asyncio
from collections.abc import Callable
from hashlib import sha256

from weft.core.events import FileChanged, FilePreview, FilePreviewReset, InputJsonDelta, ToolUseContentBlockStart
from weft.core.payload import Payload
from weft.core.tools import ToolResult
from weft.tools.preview import Preview
from weft.tools.registry import Registry
from weft.tools.workspace.base import PathFault, Workspace
from weft.wires.partial_json import PartialJson

_LEAST = 8
_MOST = 256
_PART = 8


class _Shown:
    """What was shown of one file for one call, and what is held back until it is worth an event."""

    __slots__ = ("digest", "held", "offset", "path", "size")

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = 0
        self.digest = sha256()
        self.held: list[str] = []
        self.size = 0

    @property
    def step(self) -> int:
        return min(max(self.offset // _PART, _LEAST), _MOST) if self.offset else 1


class _Following:
    """The arguments of one call while they arrive."""

    __slots__ = ("call", "parser", "preview")

    def __init__(self, call: str, preview: Preview) -> None:
        self.call = call
        self.preview = preview
        self.parser = PartialJson()


class Previews:
    """Shows the files that the calls of an exchange are going to write."""

    def __init__(self, registry: Registry, workspace: Workspace, publish: Callable[[Payload], None]) -> None:
        self._registry = registry
        self._workspace = workspace
        self._publish = publish
        self._following: dict[str, _Following] = {}  # by block
        self._shown: dict[str, _Shown] = {}  # by call
        self._written: dict[str, tuple[str, str | None]] = {}  # path and hash, by call
        self._due = False

    def begin(self, start: ToolUseContentBlockStart) -> None:
        tool = self._registry.find(start.name)
        if tool is not None and tool.preview is not None:
            self._following[start.block] = _Following(start.id, tool.preview(self._workspace))

    def feed(self, delta: InputJsonDelta) -> None:
        following = self._following.get(delta.block)
        if following is None:
            return
        following.parser.feed(delta.partial_json)
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Show what the deltas since the last time have brought."""
        self._due = False
        for following in self._following.values():
            for path, text in following.preview.grow(following.parser.grow()):
                self._show(following.call, path, text)

    def end(self, block: str) -> None:
        """All of a call's arguments are there."""
        following = self._following.get(block)
        if following is None:
            return
        self.flush()
        del self._following[block]
        for path, text in following.preview.end():
            self._show(following.call, path, text)
        self._show_held(following.call)

    def discard(self) -> None:
        """The message was no message: what was shown for it is taken back."""
        self._following.clear()
        for call in list(self._shown):
            self._take_back(call)

    def changed(self, change: FileChanged) -> None:
        self._written[change.cause] = (change.path, change.hash)

    def settle(self, result: ToolResult) -> None:
        """A call is over: what was shown must be what is there."""
        if result.id not in self._shown:
            return
        path, digest = self._written.pop(result.id, (None, None))
        shown = self._shown[result.id]
        if result.status != "ok":
            self._take_back(result.id)
        elif path is not None and digest != shown.digest.hexdigest():
            self._take_back(result.id)
            try:
                text = self._workspace.read_text(path, remember=False)
            except PathFault:
                return
            self._show(result.id, path, text)
            self._show_held(result.id)
        self._shown.pop(result.id, None)

    def _show(self, call: str, path: str, text: str) -> None:
        shown = self._shown.get(call)
        if shown is None:
            try:
                shown = self._shown[call] = _Shown(self._workspace.normal(path))
            except PathFault:
                return  # the tool will say what is wrong with it
        shown.held.append(text)
        shown.size += len(text)
        if shown.size >= shown.step:
            self._show_held(call)

    def _show_held(self, call: str) -> None:
        shown = self._shown.get(call)
        if shown is None or not shown.size:
            return
        text = "".join(shown.held)
        shown.held, shown.size = [], 0
        self._publish(FilePreview(call, shown.path, shown.offset, text))
        shown.offset += len(text)
        shown.digest.update(text.encode("utf-8", "surrogatepass"))

    def _take_back(self, call: str) -> None:
        shown = self._shown.pop(call)
        if shown.offset:
            self._publish(FilePreviewReset(call, shown.path))
