"""The revisions of files, with their contents as far as there is room."""

from collections.abc import Mapping, Sequence

from heald.core.digest import sha256
from heald.tools.workspace.base import Change
from heald.tools.workspace.diff import unified_diff
from heald.tools.workspace.paths import PathFault, quote_path

MAX_KEPT_BYTES = 64 * 1024 * 1024
_DIFF_LOST = "The content before this revision is no longer stored, so there is no diff.\n"


def digest(content: bytes | None) -> str | None:
    return None if content is None else sha256(content).hexdigest()


class RevisionLog:
    def __init__(self) -> None:
        self._seen: dict[str, str | None] = {}
        self._changes: dict[str, list[Change]] = {}
        self._contents: dict[tuple[str, int], bytes | None] = {}  # oldest first
        self._kept = 0

    @property
    def paths(self) -> Sequence[str]:
        return list(self._changes)

    def of(self, path: str) -> Sequence[Change]:
        return tuple(self._changes.get(path, ()))

    def mark_seen(self, path: str, content: bytes | None) -> None:
        """Record that the session has read or written this content."""
        self._seen[path] = digest(content)

    def mark_digest(self, path: str, content_digest: str) -> None:
        """Record that the session was shown the content of this SHA-256."""
        self._seen[path] = content_digest

    def is_seen(self, path: str) -> bool:
        """Whether the session has read or written the file."""
        return path in self._seen

    @property
    def last_digests(self) -> dict[str, str | None]:
        """The SHA-256 of the content that the session last read or wrote, by path; None if there was no file."""
        return {path: changes[-1].hash for path, changes in self._changes.items() if changes} | self._seen

    def is_last(self, path: str, current: bytes | None) -> bool:
        """Whether the content is the last that the session wrote, maybe in an earlier process."""
        changes = self._changes.get(path)
        return bool(changes) and changes[-1].hash == digest(current)

    def mark_missing(self, path: str) -> None:
        """Record that the file does not exist, if the session had seen it."""
        if path in self._seen:
            self._seen[path] = None

    def check(self, path: str, current: bytes | None) -> None:
        """Raise `stale_read` if others changed the file since the session last read or wrote it."""
        if path not in self._seen or self._seen[path] == digest(current):
            return
        done = "deleted" if current is None else "changed"
        raise PathFault(
            f"{quote_path(path)} was {done} by someone else since it was last read; "
            "read it again, then repeat the write.",
            "stale_read",
        )

    def record_foreign(self, path: str, current: bytes | None) -> Change | None:
        """Add a revision for content that others wrote, if the file has revisions and its last one differs."""
        changes = self._changes.get(path)
        if not changes or changes[-1].hash == digest(current):
            return None
        key = (path, len(changes))
        diff = unified_diff(path, self._contents[key], current) if key in self._contents else _DIFF_LOST
        return self._append(path, current, diff)

    def add(self, path: str, before: bytes | None, after: bytes | None, *, unseen: bool = False) -> Sequence[Change]:
        """Record a change. Return the new revisions, of which the last one is this change.

        `unseen` marks a change that was not made by the session, which must read the file before it writes.
        """
        changes: list[Change] = []
        original: str | None = None
        if path not in self._changes:
            self._changes[path] = []
            self._keep(path, 0, before)
            original = digest(before)
        elif foreign := self.record_foreign(path, before):
            changes.append(foreign)
        changes.append(self._append(path, after, unified_diff(path, before, after), original))
        if not unseen:
            self.mark_seen(path, after)
        return changes

    def restore(self, change: Change, contents: Mapping[str, bytes]) -> None:
        """Append a revision that an earlier process made."""
        self._changes.setdefault(change.path, []).append(change)
        if change.revision == 1 and change.found is not None and change.found in contents:
            self._keep(change.path, 0, contents[change.found])
        if change.hash is None or change.hash in contents:
            self._keep(change.path, change.revision, contents[change.hash] if change.hash is not None else None)

    def content(self, path: str, revision: int) -> bytes | None:
        changes = self._changes.get(path, [])
        if not 0 <= revision <= len(changes) or not changes:
            raise PathFault(f"{quote_path(path)} has no revision {revision}; it has {len(changes)}.", "not_found")
        if (path, revision) not in self._contents:
            raise PathFault(
                f"The content of revision {revision} of {quote_path(path)} is no longer stored; "
                f"only the newest contents are, up to {MAX_KEPT_BYTES} bytes.",
                "not_found",
            )
        return self._contents[path, revision]

    def _append(self, path: str, content: bytes | None, diff: str, original: str | None = None) -> Change:
        changes = self._changes[path]
        change = Change(
            path=path,
            revision=len(changes) + 1,
            hash=digest(content),
            prev_hash=changes[-1].hash if changes else None,
            size=len(content or b""),
            diff=diff,
            found=original,
        )
        changes.append(change)
        self._keep(path, change.revision, content)
        return change

    def _keep(self, path: str, revision: int, content: bytes | None) -> None:
        self._contents[path, revision] = content
        self._kept += len(content or b"")
        while self._kept > MAX_KEPT_BYTES:
            oldest = next(iter(self._contents))
            self._kept -= len(self._contents.pop(oldest) or b"")
