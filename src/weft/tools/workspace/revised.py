"""What every workspace of ours does the same way: checks, stale reads, revisions, undo, all under one lock."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.tools.workspace.base import Change, Edit, OnChange, PathFault
from weft.tools.workspace.paths import normal, protected, shown
from weft.tools.workspace.revisions import Revisions, digest
from weft.tools.workspace.text import bytes_of, decoded, text_of

MAX_FILE_BYTES = 64 * 1024 * 1024
"""What is larger is neither read nor written."""


@dataclass(frozen=True, slots=True)
class Step:
    """A file's change as it is about to happen; None is a file that does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


class RevisedFiles(ABC):
    """A workspace without its storage, which is three methods: `_read`, `_current` and `_commit`.

    `on_change` is called under the lock, so that revisions are announced in their order.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._revisions = Revisions()

    @abstractmethod
    def _read(self, path: str, limit: int) -> bytes:
        """A file's content. Raises PathFault where there is no file, or none of at most `limit` bytes."""

    @abstractmethod
    def _current(self, path: str) -> bytes | None:
        """The content that a write would replace, None if there is none. Raises PathFault where none may be written."""

    @abstractmethod
    def _commit(self, steps: Sequence[Step]) -> None:
        """Do all of it or, raising PathFault, nothing."""

    def normal(self, path: str) -> str:
        return normal(path)

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        path = _file(path)
        with self._lock:
            try:
                content = self._read(path, MAX_FILE_BYTES if limit is None else limit)
            except PathFault as fault:
                if fault.kind == "not_found" and remember:
                    self._revisions.missed(path)
                raise
            if remember:
                self._revisions.saw(path, content)
            return content

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str:
        return text_of(path, self.read(path, limit=limit, remember=remember))

    def write(self, path: str, content: str | bytes, *, on_change: OnChange, new: bool = False) -> Change | None:
        changes = self._apply([Edit(path=path, content=bytes_of(path, content))], on_change, new=new)
        return changes[0] if changes else None

    def write_all(self, edits: Sequence[Edit], *, on_change: OnChange) -> Sequence[Change]:
        """Several files, all or none of them. The changes given back are of these edits alone, in their order."""
        return self._apply(edits, on_change)

    def delete(self, path: str, *, on_change: OnChange) -> Change:
        """Delete a file. Its folder stays, even if it is empty now."""
        return self._apply([Edit(path=path, content=None)], on_change)[0]

    def put_back(self, path: str, content: bytes | None, *, instead_of: str | None, on_change: OnChange) -> Change:
        """A person gives a file another content, or none, in place of the one with that hash.

        Refused as `stale_read` if the file holds something else by now. The session has not seen the new content: it
        must read the file before it writes it again.
        """
        path = _file(path)
        with self._lock:
            check_writable(path, path)
            before = self._current(path)
            if digest(before) != instead_of or before == content:
                raise PathFault(f"{shown(path)} has changed since you looked at it; look again.", "stale_read")
            self._commit([Step(path, before, content)])
            changes = self._revisions.add(path, before, content, unseen=True)
            for change in changes:
                on_change(change)
            return changes[-1]

    def undo(self, path: str, revision: int | None = None, *, on_change: OnChange) -> Change:
        """Give a file the content it had before its last revision, or before the given one: as a new revision.

        Undoing twice redoes. Where the file has that content already, no revision is made and its last one is given.
        """
        path = _file(path)
        with self._lock:
            changes = self._revisions.of(path)
            if not changes:
                raise PathFault(
                    f"There is nothing to undo: {shown(path)} was not changed in this session.", "not_found"
                )
            number = len(changes) if revision is None else revision
            if not 1 <= number <= len(changes):
                raise PathFault(f"{shown(path)} has no revision {number} to undo; it has {len(changes)}.", "not_found")
            target = self._revisions.content(path, number - 1)
            current = self._current(path)
            if current != target:
                return self._apply([Edit(path=path, content=target)], on_change)[0]
            self._revisions.saw(path, current)
            foreign = self._revisions.adopt(path, current)
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
        """Go on with the revisions of an earlier process. What is known of their contents is given by hash."""
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
            return decoded(self._read(path, MAX_FILE_BYTES))
        except PathFault:
            return None

    def _apply(self, edits: Sequence[Edit], on_change: OnChange, *, new: bool = False) -> Sequence[Change]:
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

    def _plan(self, edits: Sequence[Edit], new: bool) -> Sequence[Step]:
        """Look at everything before anything is done."""
        steps = [self._step(edit, new) for edit in edits]
        paths = {step.path for step in steps}
        if len(paths) < len(steps):
            raise PathFault("A file is named twice in one group of changes; give each file one change.", "invalid_path")
        for step in steps:
            for end in (index for index, char in enumerate(step.path) if char == "/"):
                if step.path[:end] in paths:
                    raise PathFault(
                        f"{shown(step.path[:end])} cannot be a file and the folder of {shown(step.path)} at once; "
                        "rename one of them.",
                        "not_a_folder",
                    )
        return steps

    def _step(self, edit: Edit, new: bool) -> Step:
        path = _file(edit.path)
        check_writable(path, path)
        if edit.content is not None and len(edit.content) > MAX_FILE_BYTES:
            raise PathFault(
                f"The content for {shown(path)} has {len(edit.content)} bytes; at most {MAX_FILE_BYTES} are written.",
                "too_large",
            )
        before = self._current(path)
        if before is None and edit.content is None:
            self._revisions.missed(path)
            raise PathFault(f"{shown(path)} does not exist, so it cannot be deleted.", "not_found")
        if before is not None and new:
            raise PathFault(f"{shown(path)} exists already; edit it, or choose another name.", "exists")
        if before == edit.content:
            self._revisions.saw(path, before)
        else:
            self._revisions.check(path, before)
        return Step(path, before, edit.content)


def check_writable(path: str, real: str) -> None:
    """Raise PathFault if the file that the path names, in the end, is one that no tool may write."""
    if protected(real):
        raise PathFault(
            f"{shown(path)} is protected: no tool may write it, since what it holds runs or instructs agents; "
            "ask the user to change it.",
            "protected_path",
        )


def _file(path: str) -> str:
    path = normal(path)
    if not path:
        raise PathFault("The path names the workspace itself, which is a folder; name a file in it.", "is_a_folder")
    return path
