"""The changes of a session's files, for a person to accept or to revert hunk by hunk.

Each file is compared with its baseline: its content before the session changed it. Accepting a hunk changes the
baseline, reverting one changes the file; both are events, so they survive a restart. At its next turn the model gets a
message about what was reverted, and must read the file before it writes it again.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from heald.core.envelope import Event
from heald.core.errors import HealdError, NotFound
from heald.core.events import FileAccepted, FileChanged
from heald.core.messages import Message, Text
from heald.sessions.history import SessionHistory
from heald.sessions.replayed_diff import replay_diff
from heald.sessions.store import Store, iterate_delegates, iterate_events
from heald.sessions.store_errors import NoSuchBlob
from heald.tools.definitions import Access
from heald.tools.scheduling import Locks
from heald.tools.workspace.base import Change
from heald.tools.workspace.hunks import Hunk, apply_selected_hunks, split_hunks
from heald.tools.workspace.paths import PathFault, quote_path
from heald.tools.workspace.revision_log import digest
from heald.tools.workspace.revisions import RevisionedWorkspace

if TYPE_CHECKING:
    from heald.sessions.session import Session

MAX_COMPARED = 4 * 1024 * 1024
"""The largest file in bytes that is compared line by line. The former content of a larger one is not stored."""
_MAX_DIFF = 4000
_CREATED = ("--- /dev/null\n", "Binary files /dev/null and ")
_LOST = "What the file held before is not stored, so it can be accepted as it is but not reverted."

Kind = Literal["created", "changed", "deleted"]


class ChangeRefused(HealdError):
    """A change cannot be accepted or reverted now: the file has changed since, or a tool is using it."""

    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class FileComparison:
    """A file and its baseline."""

    path: str
    base: str | None
    """The hash of the baseline; None if there was no file."""
    hash: str | None
    """The hash of the current content; None if the file does not exist."""
    before: bytes | None
    after: bytes | None
    problem: str = ""
    """Why it cannot be compared."""

    @property
    def kind(self) -> Kind:
        if self.base is None:
            return "created"
        return "deleted" if self.hash is None else "changed"

    @property
    def hunks(self) -> list[Hunk] | None:
        """The differences; None if the file is not compared line by line."""
        if self.problem or max(len(self.before or b""), len(self.after or b"")) > MAX_COMPARED:
            return None
        return split_hunks(self.before, self.after)


class RestoredFiles(msgspec.Struct, frozen=True):
    """What became of files that were to be restored."""

    restored: tuple[str, ...]
    left: tuple[str, ...]
    """Files that stay as they are: something else changed them since, or their former content is not stored."""


class Changes:
    """The changes of one session that were not accepted yet."""

    def __init__(self, session: "Session[Any]", store: Store, history: SessionHistory, locks: Locks) -> None:
        self._session = session
        self._store = store
        self._locks = locks
        self._bases: dict[str, str | None] = {}
        self._unknown: set[str] = set()  # files whose former content is not in the log
        for change in history.changes:
            self._begin(change)
        for accepted in history.accepted:
            self._accept(accepted)
        session.subscribe(self._on_event, types=["file_changed", "file_accepted"])

    @property
    def paths(self) -> list[str]:
        """The files that the session has changed."""
        return sorted(self._bases)

    async def all(self) -> list[FileComparison]:
        """Compare all files. Returns those that differ from their baseline."""
        changes = [await self._compare(path) for path in self.paths]
        return [change for change in changes if change.problem or change.base != change.hash]

    async def of(self, path: str) -> FileComparison:
        """Compare one file. Raises NotFound if the session has not changed it."""
        path = self._session.workspace.normal(path)
        if path not in self._bases:
            raise NotFound(f"{quote_path(path)} was not changed in this session.")
        return await self._compare(path)

    async def revert(
        self, path: str, base: str | None, now: str | None, hunks: Collection[int] | None = None
    ) -> Change:
        """Revert hunks, or the whole file, if it is still as it was shown."""
        compared = await self._compare_as_seen(path, base, now)
        if compared.problem:
            raise ChangeRefused(compared.problem)
        others = _complement(compared, hunks) if hunks is not None else ()
        content = _mixed(compared, others) if hunks is not None else compared.before
        change = await self._restore_file(compared, content)
        self._session.notify_model(_revert_notice(compared, change, hunks))
        await self._session.flush()
        return change

    async def accept(self, path: str, base: str | None, now: str | None, hunks: Collection[int] | None = None) -> None:
        """Accept hunks, or the whole file, if it is still as it was shown. They become part of the baseline."""
        compared = await self._compare_as_seen(path, base, now)
        if compared.problem and (hunks is not None or compared.problem != _LOST):
            raise ChangeRefused(compared.problem)
        content = compared.after if hunks is None else _mixed(compared, hunks)
        if content is not None:
            await self._store.put_blob(self._session.session, content)
        self._session.publish(FileAccepted(compared.path, digest(content)))
        await self._session.flush()

    async def restore_at(self, seq: int) -> RestoredFiles:
        """Restore the files that the session has changed as they were at an event, earlier or later ones. A file that
        something else changed since stays. At its next turn the model gets a message about it."""
        await self._session.flush()
        restored, left = list[str](), list[str]()
        for path, changes in (await self._logged_changes()).items():
            count = sum(at <= seq for at, _ in changes)
            target = changes[count - 1][1].hash if count else changes[0][1].found
            compared = FileComparison(path, target, changes[-1][1].hash, None, None)
            if target == compared.hash:
                continue
            try:
                content = await self._content_after(
                    path, [change for _, change in changes[:count]], changes[0][1].found
                )
                if digest(content) != target:
                    raise ChangeRefused(_LOST)
                await self._restore_file(compared, content)
                restored.append(path)
            except (HealdError, OSError):
                left.append(path)
        files = RestoredFiles(tuple(restored), tuple(left))
        if restored or left:
            self._session.notify_model(_restore_notice(files))
            await self._session.flush()
        return files

    async def _logged_changes(self) -> dict[str, list[tuple[int, FileChanged]]]:
        """Return the changes of each file in the log, with the numbers of their events."""
        changes: dict[str, list[tuple[int, FileChanged]]] = {}
        async for event in iterate_events(self._store, self._session.session):
            if isinstance(event.data, FileChanged):
                changes.setdefault(event.data.path, []).append((event.seq, event.data))
        return changes

    async def _content_after(self, path: str, changes: Sequence[FileChanged], found: str | None) -> bytes | None:
        """Return what a file held after its first changes: as the session keeps it, or derived from their diffs, since
        the contents of a folder are not stored. The caller checks the hash. Raises NoSuchBlob."""
        if changes and changes[-1].hash is None:
            return None
        if changes:
            last = changes[-1]
            with suppress(HealdError):
                content = self._session.workspace.content_at(path, last.revision)
                if digest(content) == last.hash:
                    return content
        content = await self._content(found)
        for change in changes:
            content = replay_diff(content, change.diff) if change.hash is not None else None
        return content

    # --- baselines ---------------------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        match event.data:
            case FileChanged():
                self._begin(event.data)
            case FileAccepted():
                self._accept(event.data)
            case _:
                pass

    def _begin(self, change: FileChanged) -> None:
        if change.path in self._bases:
            return
        self._bases[change.path] = change.found
        if change.found is None and not change.diff.startswith(_CREATED):
            self._unknown.add(change.path)

    def _accept(self, accepted: FileAccepted) -> None:
        self._bases[accepted.path] = accepted.hash
        self._unknown.discard(accepted.path)

    async def _compare(self, path: str) -> FileComparison:
        base = self._bases[path]
        try:
            after = await asyncio.to_thread(self._read, path)
        except PathFault as fault:
            return FileComparison(path, base, None, None, None, str(fault))
        if path in self._unknown:
            return FileComparison(path, base, digest(after), None, after, _LOST)
        try:
            before = await self._content(base)
        except NoSuchBlob:
            return FileComparison(path, base, digest(after), None, after, _LOST if base != digest(after) else "")
        return FileComparison(path, base, digest(after), before, after)

    def _read(self, path: str) -> bytes | None:
        try:
            return self._session.workspace.read(path, remember=False)
        except PathFault as fault:
            if fault.kind == "not_found":
                return None
            raise

    async def _content(self, base: str | None) -> bytes | None:
        if base is None:
            return None
        try:
            return await self._store.blob(self._session.session, base)
        except NoSuchBlob:
            async for delegate in iterate_delegates(self._store, self._session.session):
                try:
                    return await self._store.blob(delegate.id, base)
                except NoSuchBlob:
                    continue
            raise

    # --- decisions ---------------------------------------------------------------------------------------------------

    async def _compare_as_seen(self, path: str, base: str | None, now: str | None) -> FileComparison:
        compared = await self.of(path)
        if (compared.base, compared.hash) != (base, now):
            raise ChangeRefused(f"{quote_path(compared.path)} has changed since you looked at it; look again.")
        if compared.base == compared.hash and not compared.problem:
            raise ChangeRefused(f"{quote_path(compared.path)} holds no change any more.")
        return compared

    async def _restore_file(self, compared: FileComparison, content: bytes | None) -> Change:
        workspace, locks = self._session.workspace, self._locks
        if not isinstance(workspace, RevisionedWorkspace):
            raise ChangeRefused("This workspace keeps no revisions; change the file by hand.")
        ticket = locks.ticket([Access(resource=f"file:{compared.path}", changes=True)])
        changes: list[Change] = []
        try:
            if locks.is_blocked(ticket):
                raise ChangeRefused(f"A tool is at {quote_path(compared.path)} right now; try again when it is done.")
            change = await asyncio.to_thread(
                workspace.replace_content, compared.path, content, instead_of=compared.hash, on_change=changes.append
            )
        finally:
            ticket.release()
        for revision in changes:
            self._session.publish(FileChanged(**msgspec.structs.asdict(revision), cause="user"))
        return change


def _mixed(compared: FileComparison, selected: Collection[int]) -> bytes | None:
    if compared.hunks is None:
        raise ChangeRefused(f"{quote_path(compared.path)} cannot be compared line by line; decide on the whole file.")
    try:
        return apply_selected_hunks(compared.before, compared.after, selected)
    except IndexError as error:
        raise ChangeRefused(f"{quote_path(compared.path)} has no change number {error.args[0]}; look again.") from None


def _complement(compared: FileComparison, hunks: Collection[int]) -> Collection[int]:
    """Return the numbers of the other hunks. Invalid numbers stay, so that they are refused."""
    count = len(compared.hunks or ())
    return {*range(count)} - {*hunks} | {number for number in hunks if not 0 <= number < count}


def _restore_notice(files: RestoredFiles) -> Message:
    """Build the message for the model about restored files."""
    count = len(files.restored)
    parts = [f"Restored {count} file{'s' * (count != 1)}: {', '.join(files.restored)}."] if count else []
    parts += [f"Not restored, since changed elsewhere: {', '.join(files.left)}."] if files.left else []
    said = " ".join(parts)
    text = f"The user went back to an earlier state. {said} Read a file before you write it. This needs no answer."
    return Message(role="user", content=[Text(text)], said=said)


def _revert_notice(compared: FileComparison, change: Change, hunks: Collection[int] | None) -> Message:
    """Build the message for the model about a reverted change."""
    count, selected = len(compared.hunks or ()), len(set(hunks or ()))
    share = f"{selected} of {count} changes" if 0 < selected < count else "all changes"
    what = f"{share} in {change.path}"
    deleted = " The file did not exist before, so it is deleted." if change.hash is None else ""
    diff = change.diff if len(change.diff) <= _MAX_DIFF else change.diff[:_MAX_DIFF] + "…\n"
    text = (
        f"The user looked at what you changed and reverted {what}.{deleted} This is the difference that makes to the "
        f"file as you left it:\n\n{diff}\nRead the file before you write it again, and do not make the same change "
        "again unless you are asked to. This needs no answer."
    )
    return Message(role="user", content=[Text(text)], said=f"Reverted {what}.")
