"""Revisions of files, and the base class of workspaces: checks, stale reads, revisions and undo under one lock.

The revisions of a path are numbered from 1. The `prev_hash` of each is the hash of the previous one, so that a log of
them can be verified. Revision 0 is the original content. The total size of kept contents is bounded; the oldest are
dropped first.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from heald.tools.workspace.base import Change, FileEdit, Identity, OnChange
from heald.tools.workspace.contents import decode_text, encode_content, require_text
from heald.tools.workspace.paths import PathFault, is_protected, normalize_path, quote_path
from heald.tools.workspace.revision_log import RevisionLog, digest

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Maximum size of a file that is read or written."""
_MAX_COMPARED = 500
"""The number of files that are compared with what the session knows of them."""


class Step(msgspec.Struct, frozen=True):
    """A planned change of one file. None means that the file does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


class RevisionedWorkspace(ABC):
    """Base class of workspaces. The storage implements `_read`, `_current` and `_commit`.

    `on_change` is called under the lock, so that revisions are published in order.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._revisions = RevisionLog()

    @abstractmethod
    def _read(self, path: str, limit: int) -> bytes:
        """Return the content. Raises PathFault if the file does not exist or exceeds `limit` bytes."""

    @abstractmethod
    def _current(self, path: str) -> bytes | None:
        """Return the content that a write would replace, or None. Raises PathFault if the path is not writable."""

    @abstractmethod
    def _commit(self, steps: Sequence[Step]) -> None:
        """Apply all steps, or raise PathFault and apply none."""

    def normal(self, path: str) -> str:
        return normalize_path(path)

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        path = _file(path)
        with self._lock:
            try:
                content = self._read(path, MAX_FILE_BYTES if limit is None else limit)
            except PathFault as fault:
                if fault.kind == "not_found" and remember:
                    self._revisions.mark_missing(path)
                raise
            if remember:
                self._revisions.mark_seen(path, content)
            return content

    def is_seen(self, path: str) -> bool:
        path = _file(path)
        with self._lock:
            if self._revisions.is_seen(path):
                return True
            try:
                return self._revisions.is_last(path, self._current(path))
            except PathFault:
                return False

    def current_digests(self) -> dict[str, str | None]:
        """The SHA-256 of each file that the session has read or written, as it is now; None if it does not exist."""
        with self._lock:
            paths = list(self._revisions.last_digests)[-_MAX_COMPARED:]
        digests: dict[str, str | None] = {}
        for path in paths:
            with self._lock, suppress(PathFault):
                digests[path] = digest(self._current(path))
        return digests

    def changed_outside(self, earlier: Mapping[str, str | None] | None = None) -> list[str]:
        """The files that have another content than earlier, and than the session last read or wrote."""
        current = self.current_digests()
        with self._lock:
            last = self._revisions.last_digests
        earlier = last if earlier is None else earlier
        return sorted(
            path
            for path, content_digest in current.items()
            if content_digest not in (earlier.get(path, last[path]), last[path])
        )

    def identity(self, path: str) -> Identity | None:
        """Files in memory have none."""
        normalize_path(path)
        return None

    def remember(self, path: str, digest: str) -> None:
        with self._lock:
            self._revisions.mark_digest(_file(path), digest)

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str:
        return require_text(path, self.read(path, limit=limit, remember=remember))

    def write(self, path: str, content: str | bytes, *, on_change: OnChange, new: bool = False) -> Change | None:
        changes = self._apply([FileEdit(path=path, content=encode_content(path, content))], on_change, new=new)
        return changes[0] if changes else None

    def write_all(self, edits: Sequence[FileEdit], *, on_change: OnChange) -> Sequence[Change]:
        """Write or delete several files, all or none of them. Return one change per changed file, in order."""
        return self._apply(edits, on_change)

    def delete(self, path: str, *, on_change: OnChange) -> Change:
        """Delete a file. Its folder stays even if it is empty."""
        return self._apply([FileEdit(path=path, content=None)], on_change)[0]

    def replace_content(
        self, path: str, content: bytes | None, *, instead_of: str | None, on_change: OnChange
    ) -> Change:
        """Replace or delete a file on behalf of the user. `instead_of` is the hash of the expected content.

        Raises `stale_read` if the file has changed. The session must read the file before it can write it again.
        """
        path = _file(path)
        with self._lock:
            check_writable(path, path)
            before = self._current(path)
            if digest(before) != instead_of or before == content:
                raise PathFault(f"{quote_path(path)} has changed since you looked at it; look again.", "stale_read")
            self._commit([Step(path, before, content)])
            changes = self._revisions.add(path, before, content, unseen=True)
            for change in changes:
                on_change(change)
            return changes[-1]

    def record_change(self, path: str, before: bytes | None, *, on_change: OnChange) -> Change | None:
        """Record what a program that works for the session has written. `before` is the content before it, or None.

        Return None if the content is unchanged, or is that of the last revision.
        """
        path = _file(path)
        with self._lock:
            current = self._current(path)
            if current == before or self._revisions.is_last(path, current):
                return None
            changes = self._revisions.add(path, before, current)
            for change in changes:
                on_change(change)
            return changes[-1]

    def undo(self, path: str, revision: int | None = None, *, on_change: OnChange) -> Change:
        """Restore the content before the last revision, or before the given one, as a new revision.

        A second undo is a redo. If the file already has that content, the last revision is returned.
        """
        path = _file(path)
        with self._lock:
            changes = self._revisions.of(path)
            if not changes:
                raise PathFault(
                    f"There is nothing to undo: {quote_path(path)} was not changed in this session.", "not_found"
                )
            number = len(changes) if revision is None else revision
            if not 1 <= number <= len(changes):
                raise PathFault(
                    f"{quote_path(path)} has no revision {number} to undo; it has {len(changes)}.", "not_found"
                )
            target = self._revisions.content(path, number - 1)
            current = self._current(path)
            if current != target:
                return self._apply([FileEdit(path=path, content=target)], on_change)[0]
            self._revisions.mark_seen(path, current)
            foreign = self._revisions.record_foreign(path, current)
            if foreign is not None:
                on_change(foreign)
            return foreign or changes[-1]

    def revisions(self, path: str) -> Sequence[Change]:
        with self._lock:
            return self._revisions.of(_file(path))

    def content_at(self, path: str, revision: int) -> bytes | None:
        path = _file(path)
        with self._lock:
            if revision or self._revisions.of(path):
                return self._revisions.content(path, revision)
            try:
                return self._read(path, MAX_FILE_BYTES)
            except PathFault as fault:
                if fault.kind == "not_found":
                    return None
                raise

    def restore(self, changes: Sequence[Change], contents: Mapping[str, bytes]) -> None:
        """Load the revisions of an earlier process. `contents` maps hashes to the contents that are known."""
        with self._lock:
            for change in changes:
                self._revisions.restore(change, contents)

    def files(self) -> dict[str, str]:
        with self._lock:
            return {path: text for path in sorted(self._written()) if (text := self._text(path)) is not None}

    def _written(self) -> Sequence[str]:
        return self._revisions.paths

    def _text(self, path: str) -> str | None:
        try:
            return decode_text(self._read(path, MAX_FILE_BYTES))
        except PathFault:
            return None

    def _apply(self, edits: Sequence[FileEdit], on_change: OnChange, *, new: bool = False) -> Sequence[Change]:
        with self._lock:
            steps = [step for step in self._plan(edits, new) if step.before != step.after]
            if not steps:
                return []
            self._commit(steps)
            made = [self._revisions.add(step.path, step.before, step.after) for step in steps]
            for changes in made:
                for change in changes:
                    on_change(change)
            return [changes[-1] for changes in made]

    def _plan(self, edits: Sequence[FileEdit], new: bool) -> Sequence[Step]:
        """Check all edits before any is applied."""
        steps = [self._step(edit, new) for edit in edits]
        paths = {step.path for step in steps}
        if len(paths) < len(steps):
            raise PathFault("A file is named twice in one group of changes; give each file one change.", "invalid_path")
        for step in steps:
            for end in (index for index, char in enumerate(step.path) if char == "/"):
                if step.path[:end] in paths:
                    raise PathFault(
                        f"{quote_path(step.path[:end])} cannot be a file and the folder of {quote_path(step.path)} "
                        "at once; rename one of them.",
                        "not_a_folder",
                    )
        return steps

    def _step(self, edit: FileEdit, new: bool) -> Step:
        path = _file(edit.path)
        check_writable(path, path)
        if edit.content is not None and len(edit.content) > MAX_FILE_BYTES:
            raise PathFault(
                f"The content for {quote_path(path)} has {len(edit.content)} bytes; "
                f"at most {MAX_FILE_BYTES} are written.",
                "too_large",
            )
        before = self._current(path)
        if before is None and edit.content is None:
            self._revisions.mark_missing(path)
            raise PathFault(f"{quote_path(path)} does not exist, so it cannot be deleted.", "not_found")
        if before is not None and new:
            raise PathFault(f"{quote_path(path)} exists already; edit it, or choose another name.", "exists")
        if before == edit.content:
            self._revisions.mark_seen(path, before)
        else:
            self._revisions.check(path, before)
        return Step(path, before, edit.content)


def check_writable(path: str, real: str) -> None:
    """Raise PathFault if `real`, the resolved path, is protected."""
    if is_protected(real):
        raise PathFault(
            f"{quote_path(path)} is protected: no tool may write it, since what it holds runs or instructs agents; "
            "ask the user to change it.",
            "protected_path",
        )


def _file(path: str) -> str:
    path = normalize_path(path)
    if not path:
        raise PathFault("The path names the workspace itself, which is a folder; name a file in it.", "is_a_folder")
    return path
