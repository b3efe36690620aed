"""I41, I43 and I44: who changed a file and when, what it holds, and where it lies. Its revisions are told to I40."""

import re
from collections.abc import Callable
from hashlib import sha256

from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.events import (
    ExchangeRequest,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    SessionResumed,
    ToolExecuting,
)
from weft.core.tools import ToolResult
from weft.testing.checker.group import Group, Report
from weft.testing.checker.revisions import Revisions

ContentAt = Callable[[str, int], bytes | None]
"""A file's content at a revision, None where it did not exist."""

_HASH = re.compile(r"[0-9a-f]{64}")
_EMPTY = sha256(b"").hexdigest()


class Files(Group):
    sees = (
        *(ExchangeRequest, ToolExecuting, FilePreview, FilePreviewReset, FileChanged),
        *(ToolResult, SessionResumed),
    )

    def __init__(self, report: Report, revisions: Revisions, content_at: ContentAt | None) -> None:
        super().__init__(report)
        self._revisions = revisions
        self._content_at = content_at
        self._running: set[str] = set()

    def see(self, event: Event) -> None:
        match event.data:
            case FileChanged():
                self._revisions.changed(event.session, event.seq, event.data)
                self._i41_caused(event, event.data)
                self._i43_hash(event, event.data)
                self._i44_path(event, event.data.path)
            case FilePreview(path=path) | FilePreviewReset(path=path):
                self._i44_path(event, path)
            case ToolExecuting(id=call_id):
                self._revisions.started(event.session, call_id)
                self._running.add(call_id)
            case ToolResult(id=call_id):
                self._running.discard(call_id)
            case SessionResumed():
                self._running.clear()
            case ExchangeRequest(cause=str(cause)):
                self._revisions.delegated(event.session, cause)
            case _:
                pass

    def _i41_caused(self, event: Event, data: FileChanged) -> None:
        if data.cause == "user":
            if event.exchange is not None:
                self.broke("I41", event, f"{data.path!r} is changed by a person inside an exchange")
        elif data.cause not in self._running:
            self.broke("I41", event, f"{data.path!r} changes because of {data.cause!r}, which is not running")

    def _i43_hash(self, event: Event, data: FileChanged) -> None:
        for name, digest in (("hash", data.hash), ("prev_hash", data.prev_hash)):
            if digest is not None and not _HASH.fullmatch(digest):
                self.broke("I43", event, f"the {name} of {data.path!r} is no SHA-256")
                return
        if data.size < 0 or (data.hash in (None, _EMPTY)) != (data.size == 0):
            self.broke("I43", event, f"{data.path!r} has {data.size} bytes and a hash that says otherwise")
        elif self._content_at is not None and not _holds(self._content_at, data):
            self.broke("I43", event, f"revision {data.revision} of {data.path!r} holds another content than its hash")

    def _i44_path(self, event: Event, path: str) -> None:
        if "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
            self.broke("I44", event, f"the path {path!r} is not relative and normalised")


def _holds(content_at: ContentAt, data: FileChanged) -> bool:
    """Whether the revision's content has its hash. One that is no longer kept is believed."""
    try:
        content = content_at(data.path, data.revision)
    except WeftError:
        return True
    return (None if content is None else sha256(content).hexdigest()) == data.hash
