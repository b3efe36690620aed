"""The revisions of a workspace's files, and what the session last saw of each. It does no I/O.

Per path the revisions count 1, 2, 3, … and each one's `prev_hash` is the hash of the one before, so that a log of them
can be checked. Revision 0 is the file as it was found. Contents are kept within a bound; the oldest go first.
"""

import hashlib
from collections.abc import Mapping, Sequence

from weft.tools.workspace.base import Change, PathFault
from weft.tools.workspace.diff import unified
from weft.tools.workspace.paths import shown

MAX_KEPT_BYTES = 64 * 1024 * 1024
_DIFF_LOST = "The content before this revision is no longer kept, so there is no diff.\n"


def digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


class Revisions:
    def __init__(self, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max = max_kept_bytes
        self._seen: dict[str, str | None] = {}
        self._changes: dict[str, list[Change]] = {}
        self._contents: dict[tuple[str, int], bytes | None] = {}  # the oldest first
        self._kept = 0

    @property
    def paths(self) -> Sequence[str]:
        """The files that have a revision."""
        return list(self._changes)

    def of(self, path: str) -> Sequence[Change]:
        return tuple(self._changes.get(path, ()))

    def saw(self, path: str, content: bytes | None) -> None:
        """The session has read or written this content."""
        self._seen[path] = digest(content)

    def missed(self, path: str) -> None:
        """The session found no such file. That counts only where it had known one."""
        if path in self._seen:
            self._seen[path] = None

    def check(self, path: str, current: bytes | None) -> None:
        """Raise `stale_read` if others changed the file since the session last saw it."""
        if path not in self._seen or self._seen[path] == digest(current):
            return
        done = "deleted" if current is None else "changed"
        raise PathFault(
            f"{shown(path)} was {done} by someone else since it was last read; read it again, then repeat the write.",
            "stale_read",
        )

    def adopt(self, path: str, current: bytes | None) -> Change | None:
        """Make what others wrote a revision of its own, where the file has revisions and this is not the last one."""
        changes = self._changes.get(path)
        if not changes or changes[-1].hash == digest(current):
            return None
        key = (path, len(changes))
        diff = unified(path, self._contents[key], current) if key in self._contents else _DIFF_LOST
        return self._append(path, current, diff)

    def add(self, path: str, before: bytes | None, after: bytes | None, *, unseen: bool = False) -> Sequence[Change]:
        """One content was turned into another: the new revisions, the last of them this one.

        `unseen` is a change that the session has not made itself: it has yet to read it.
        """
        changes: list[Change] = []
        found: str | None = None
        if path not in self._changes:
            self._changes[path] = []
            self._keep(path, 0, before)
            found = digest(before)
        elif foreign := self.adopt(path, before):
            changes.append(foreign)
        changes.append(self._append(path, after, unified(path, before, after), found))
        if not unseen:
            self.saw(path, after)
        return changes

    def restore(self, change: Change, contents: Mapping[str, bytes]) -> None:
        """The next revision of a file, as it was made before."""
        self._changes.setdefault(change.path, []).append(change)
        if change.revision == 1 and change.found is not None and change.found in contents:
            self._keep(change.path, 0, contents[change.found])
        if change.hash is None or change.hash in contents:
            self._keep(change.path, change.revision, contents[change.hash] if change.hash is not None else None)

    def content(self, path: str, revision: int) -> bytes | None:
        changes = self._changes.get(path, [])
        if not 0 <= revision <= len(changes) or not changes:
            raise PathFault(f"{shown(path)} has no revision {revision}; it has {len(changes)}.", "not_found")
        if (path, revision) not in self._contents:
            raise PathFault(
                f"The content of revision {revision} of {shown(path)} is no longer kept; only the newest contents are, "
                f"up to {self._max} bytes.",
                "not_found",
            )
        return self._contents[path, revision]

    def _append(self, path: str, content: bytes | None, diff: str, found: str | None = None) -> Change:
        changes = self._changes[path]
        change = Change(
            path=path,
            revision=len(changes) + 1,
            hash=digest(content),
            prev_hash=changes[-1].hash if changes else None,
            size=len(content or b""),
            diff=diff,
            found=found,
        )
        changes.append(change)
        self._keep(path, change.revision, content)
        return change

    def _keep(self, path: str, revision: int, content: bytes | None) -> None:
        self._contents[path, revision] = content
        self._kept += len(content or b"")
        while self._kept > self._max:
            oldest = next(iter(self._contents))
            self._kept -= len(self._contents.pop(oldest) or b"")
