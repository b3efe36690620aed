"""What became of a session's files, until a person has looked at it: hunk by hunk to accept or to take back.

Each file is compared with what it was before the session touched it. To accept a hunk moves that baseline, to revert
one moves the file; both are events, so every watcher sees them and a restart forgets neither. The model is told of what
was reverted at its next turn, and must read the file before it writes it again.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from weft.core.content import Text
from weft.core.envelope import Event
from weft.core.errors import NotFound, WeftError
from weft.core.events import FileAccepted, FileChanged
from weft.core.messages import Message
from weft.sessions.delegates import delegates_of
from weft.sessions.errors import NoSuchBlob
from weft.sessions.past import Past
from weft.sessions.store import Store
from weft.tools.tool import Access
from weft.tools.workspace.base import Change, PathFault
from weft.tools.workspace.hunks import Hunk, hunks_of, mixed
from weft.tools.workspace.paths import shown
from weft.tools.workspace.revised import RevisedFiles
from weft.tools.workspace.revisions import digest

if TYPE_CHECKING:
    from weft.sessions.session import Session

MAX_COMPARED = 4 * 1024 * 1024
"""Bytes of a file that is compared line by line; what a larger one was before is not kept."""
_MAX_TOLD = 4000
_CREATED = ("--- /dev/null\n", "Binary files /dev/null and ")
_LOST = "What the file held before is not kept, so it can be accepted as it is but not taken back."

Kind = Literal["created", "changed", "deleted"]


class ChangeRefused(WeftError):
    """A change cannot be accepted or reverted now: it is no longer what was looked at, or a tool is at the file."""

    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class Compared:
    """A file that is not what it was."""

    path: str
    base: str | None
    """The hash of what it is compared with; None if there was no file."""
    hash: str | None
    """Of what it holds now; None if it is gone."""
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
        """None if it has no lines to compare, or too many."""
        if self.problem or max(len(self.before or b""), len(self.after or b"")) > MAX_COMPARED:
            return None
        return hunks_of(self.before, self.after)


class Changes:
    """The changes of one session that nobody has accepted yet."""

    def __init__(self, session: "Session", store: Store, past: Past) -> None:
        self._session = session
        self._store = store
        self._bases: dict[str, str | None] = {}
        self._unknown: set[str] = set()  # touched by a log that does not say what was there before
        for change in past.changes:
            self._begin(change)
        for accepted in past.accepted:
            self._accept(accepted)
        session.subscribe(self._hear, types=["file_changed", "file_accepted"])

    @property
    def paths(self) -> list[str]:
        """The files that the session has touched."""
        return sorted(self._bases)

    async def all(self) -> list[Compared]:
        """Every file that is not what it was."""
        found = [await self._compared(path) for path in self.paths]
        return [each for each in found if each.problem or each.base != each.hash]

    async def of(self, path: str) -> Compared:
        """One file, changed or not. Raises NotFound if the session has not touched it."""
        path = self._session.workspace.normal(path)
        if path not in self._bases:
            raise NotFound(f"{shown(path)} was not changed in this session.")
        return await self._compared(path)

    async def revert(
        self, path: str, base: str | None, now: str | None, hunks: Collection[int] | None = None
    ) -> Change:
        """Take hunks back, or the whole file, where it is still what was looked at."""
        compared = await self._as_seen(path, base, now)
        if compared.problem:
            raise ChangeRefused(compared.problem)
        kept = _others(compared, hunks) if hunks is not None else ()
        content = _mixed(compared, kept) if hunks is not None else compared.before
        change = await self._put_back(compared, content)
        self._session.tell(_told(compared, change, hunks))
        await self._session.flush()
        return change

    async def accept(self, path: str, base: str | None, now: str | None, hunks: Collection[int] | None = None) -> None:
        """Keep hunks, or the whole file, where it is still what was looked at: they are in no comparison any more."""
        compared = await self._as_seen(path, base, now)
        if compared.problem and (hunks is not None or compared.problem != _LOST):
            raise ChangeRefused(compared.problem)
        content = compared.after if hunks is None else _mixed(compared, hunks)
        if content is not None:
            await self._store.put_blob(self._session.session, content)
        self._session.bus.publish_apart(FileAccepted(compared.path, digest(content)))
        await self._session.flush()

    # --- baselines ---------------------------------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
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

    async def _compared(self, path: str) -> Compared:
        base = self._bases[path]
        try:
            after = await asyncio.to_thread(self._read, path)
        except PathFault as fault:
            return Compared(path, base, None, None, None, str(fault))
        if path in self._unknown:
            return Compared(path, base, digest(after), None, after, _LOST)
        try:
            before = await self._content(base)
        except NoSuchBlob:
            return Compared(path, base, digest(after), None, after, _LOST if base != digest(after) else "")
        return Compared(path, base, digest(after), before, after)

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
            async for delegate in delegates_of(self._store, self._session.session):
                try:
                    return await self._store.blob(delegate.id, base)
                except NoSuchBlob:
                    continue
            raise

    # --- what a person decides ---------------------------------------------------------------------------------------

    async def _as_seen(self, path: str, base: str | None, now: str | None) -> Compared:
        compared = await self.of(path)
        if (compared.base, compared.hash) != (base, now):
            raise ChangeRefused(f"{shown(compared.path)} has changed since you looked at it; look again.")
        if compared.base == compared.hash and not compared.problem:
            raise ChangeRefused(f"{shown(compared.path)} holds no change any more.")
        return compared

    async def _put_back(self, compared: Compared, content: bytes | None) -> Change:
        workspace, locks = self._session.workspace, self._session.runtime.locks
        if not isinstance(workspace, RevisedFiles):
            raise ChangeRefused("This workspace keeps no revisions; change the file by hand.")
        ticket = locks.ticket([Access(resource=f"file:{compared.path}", changes=True)])
        made: list[Change] = []
        try:
            if locks.is_blocked(ticket):
                raise ChangeRefused(f"A tool is at {shown(compared.path)} right now; try again when it is done.")
            change = await asyncio.to_thread(
                workspace.put_back, compared.path, content, instead_of=compared.hash, on_change=made.append
            )
        finally:
            ticket.release()
        for each in made:
            self._session.bus.publish_apart(FileChanged(**msgspec.structs.asdict(each), cause="user"))
        return change


def _mixed(compared: Compared, taken: Collection[int]) -> bytes | None:
    if compared.hunks is None:
        raise ChangeRefused(f"{shown(compared.path)} cannot be compared line by line; decide on the whole file.")
    try:
        return mixed(compared.before, compared.after, taken)
    except IndexError as error:
        raise ChangeRefused(f"{shown(compared.path)} has no change number {error.args[0]}; look again.") from None


def _others(compared: Compared, hunks: Collection[int]) -> Collection[int]:
    """The numbers that are not among these; those that no hunk has are left to be refused."""
    there = len(compared.hunks or ())
    return {*range(there)} - {*hunks} | {number for number in hunks if not 0 <= number < there}


def _told(compared: Compared, change: Change, hunks: Collection[int] | None) -> Message:
    """What the model is told, and the same in a person's words."""
    count, taken = len(compared.hunks or ()), len(set(hunks or ()))
    share = f"{taken} of {count} changes" if 0 < taken < count else "all changes"
    what = f"{share} in {change.path}"
    deleted = " The file did not exist before, so it is deleted." if change.hash is None else ""
    diff = change.diff if len(change.diff) <= _MAX_TOLD else change.diff[:_MAX_TOLD] + "…\n"
    text = (
        f"The user looked at what you changed and reverted {what}.{deleted} This is the difference that makes to the "
        f"file as you left it:\n\n{diff}\nRead the file before you write it again, and do not make the same change "
        "again unless you are asked to. This needs no answer."
    )
    return Message(role="user", content=[Text(text)], said=f"Reverted {what}.")
