"""Invariants of files: revisions (I40), changes (I41, I43, I44) and previews (I42)."""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from weft.core import events as ev
from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.messages import ToolCall, ToolResult
from weft.testing.checker.invariants import InvariantCheck, ReportViolation


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
            self.report("I42", event, f"a preview of {data.path!r} belongs to {data.id!r}, which is no open call")
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


RevisionFault = tuple[str, int, str]
"""The session, the seq and the message."""


class _Revision(NamedTuple):
    session: str
    seq: int
    number: int
    hash: str | None
    prev_hash: str | None


class RevisionCheck:
    """I40 over all sessions: a delegated agent may share the workspace, and so the revisions, of its parent.

    Collects the revisions of all files and checks them at the end.
    """

    def __init__(self) -> None:
        self._paths: dict[str, dict[str, list[_Revision]]] = {}  # by session
        self._started: dict[str, list[str]] = {}  # the sessions that started a call, by its id
        self._cause: dict[str, str] = {}  # the call that a session works for

    def add_change(self, session: str, seq: int, data: ev.FileChanged) -> None:
        revision = _Revision(session, seq, data.revision, data.hash, data.prev_hash)
        self._paths.setdefault(session, {}).setdefault(data.path, []).append(revision)

    def add_start(self, session: str, call: str) -> None:
        self._started.setdefault(call, []).append(session)

    def add_delegate(self, session: str, cause: str) -> None:
        """Record that the session works for a call of another session."""
        self._cause[session] = cause

    def find_faults(self) -> Iterator[RevisionFault]:
        groups: dict[str, dict[str, list[list[_Revision]]]] = {}
        for session, paths in self._paths.items():
            group = groups.setdefault(self._root_session(session), {})
            for path, revisions in paths.items():
                group.setdefault(path, []).append(revisions)
        for group in groups.values():
            for path, chains in group.items():
                yield from _check_chains(path, chains)

    def _root_session(self, session: str) -> str:
        """Return the topmost session that this one works for, as far as the logs are known."""
        visited = {session}
        while (cause := self._cause.get(session)) is not None:
            parent = next((name for name in self._started.get(cause, ()) if name not in visited), None)
            if parent is None:
                break
            visited.add(parent)
            session = parent
        return session


def _check_chains(path: str, chains: Sequence[list[_Revision]]) -> Iterator[RevisionFault]:
    """Check the revisions as one chain for each session, or as one chain of all sessions together."""
    faults = [fault for chain in chains for fault in _check_chain(path, chain)]
    if not faults or len(chains) == 1:
        yield from faults
        return
    for chain in chains:
        for before, after in pairwise(chain):
            if after.number <= before.number:
                yield after.session, after.seq, f"revision {after.number} of {path!r} follows {before.number}"
    yield from _check_chain(path, sorted((revision for chain in chains for revision in chain), key=lambda r: r.number))


def _check_chain(path: str, revisions: Sequence[_Revision]) -> Iterator[RevisionFault]:
    """Check one chain of revisions; the first has no previous hash."""
    number, prev_hash = 0, None
    for revision in revisions:
        if revision.number != number + 1:
            yield revision.session, revision.seq, f"revision {revision.number} of {path!r} follows {number}"
        elif revision.prev_hash != prev_hash:
            message = f"the prev_hash of revision {revision.number} of {path!r} is not the hash before it"
            yield revision.session, revision.seq, message
        number, prev_hash = revision.number, revision.hash


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
                self.report("I43", event, f"the {name} of {data.path!r} is no SHA-256")
                return
        if data.size < 0 or (data.hash in (None, _EMPTY)) != (data.size == 0):
            self.report("I43", event, f"{data.path!r} has {data.size} bytes and a hash that says otherwise")
        elif self._content_at is not None and not _content_matches(self._content_at, data):
            self.report("I43", event, f"revision {data.revision} of {data.path!r} holds another content than its hash")

    def _i44_path(self, event: Event, path: str) -> None:
        if "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
            self.report("I44", event, f"the path {path!r} is not relative and normalised")


def _content_matches(content_at: ContentAt, data: ev.FileChanged) -> bool:
    """Whether the content of the revision has its hash. A revision that is no longer stored passes."""
    try:
        content = content_at(data.path, data.revision)
    except WeftError:
        return True
    return (None if content is None else sha256(content).hexdigest()) == data.hash
