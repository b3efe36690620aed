"""Invariants of files: revisions (I40), changes (I41, I43, I44) and previews (I42)."""

import re
from collections.abc import Callable
from hashlib import sha256

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.messages import ToolResult
from heald_check.checker.invariants import InvariantCheck, ReportViolation
from heald_check.checker.revisions import RevisionCheck

ContentAt = Callable[[str, int], bytes | None]
"""Returns the content of a file at a revision, None if the file did not exist then."""
_HASH = re.compile(r"[0-9a-f]{64}")
_EMPTY = sha256(b"").hexdigest()


class FileCheck(InvariantCheck):
    watches = (
        *(ev.ExchangeRequest, ev.ToolExecuting, ev.FilePreview, ev.FilePreviewReset, ev.FileChanged),
        *(ToolResult, ev.SessionResumed),
    )

    def __init__(self, report: ReportViolation, revisions: RevisionCheck, content_at: ContentAt | None) -> None:
        super().__init__(report)
        self._revisions = revisions
        self._content_at = content_at
        self._running: set[str] = set()

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.FileChanged():
                self._revisions.add_change(event.session, event.seq, event.data)
                self._i41_caused(event, event.data)
                self._i43_hash(event, event.data)
                self._i44_path(event, event.data.path)
            case ev.FilePreview(path=path) | ev.FilePreviewReset(path=path):
                self._i44_path(event, path)
            case ev.ToolExecuting(id=call_id):
                self._revisions.add_start(event.session, call_id)
                self._running.add(call_id)
            case ToolResult(id=call_id):
                self._running.discard(call_id)
            case ev.SessionResumed():
                self._running.clear()
            case ev.ExchangeRequest(cause=str(cause)):
                self._revisions.add_delegate(event.session, cause)
            case _:
                pass

    def _i41_caused(self, event: Event, data: ev.FileChanged) -> None:
        if data.cause == "user":
            if event.exchange is not None:
                self.report("I41", event, f"{data.path!r} is changed by a person inside an exchange")
        elif data.cause not in self._running:
            self.report("I41", event, f"{data.path!r} changes because of {data.cause!r}, which is not running")

    def _i43_hash(self, event: Event, data: ev.FileChanged) -> None:
        for name, digest in (("hash", data.hash), ("prev_hash", data.prev_hash)):
            if digest is not None and not _HASH.fullmatch(digest):
                self.report("I43", event, f"the {name} of {data.path!r} is not a SHA-256")
                return
        if data.size < 0 or (data.hash in (None, _EMPTY)) != (data.size == 0):
            self.report("I43", event, f"{data.path!r} has {data.size} bytes and a hash of other content")
        elif self._content_at is not None and not _content_matches(self._content_at, data):
            self.report("I43", event, f"revision {data.revision} of {data.path!r} holds another content than its hash")

    def _i44_path(self, event: Event, path: str) -> None:
        if "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
            self.report("I44", event, f"the path {path!r} is not relative and normalised")


def _content_matches(content_at: ContentAt, data: ev.FileChanged) -> bool:
    """Whether the content of the revision has its hash. A revision that is no longer stored passes."""
    try:
        content = content_at(data.path, data.revision)
    except HealdError:
        return True
    return (None if content is None else sha256(content).hexdigest()) == data.hash
