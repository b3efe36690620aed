"""The protocol of a session store, its leases, its errors and the checks that all stores share.

The log of a session is append-only and numbered without gaps. An append is one transaction, and is refused unless the
lease of the writer is the newest; when it returns, its events survive a crash of the process.
"""

import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import msgspec

from weft.core.envelope import Event
from weft.core.errors import NotFound, WeftError
from weft.core.ids import new_id
from weft.core.json import JsonObject, as_object, loads
from weft.sessions.shared import SharedStore, Work


class StoreError(WeftError):
    """Something could not be stored or read. Events that were acknowledged before are safe."""

    happened: ClassVar[str] = "The session could not be stored"
    """The description for the log, as the beginning of a sentence."""


class StoreFull(StoreError):
    """The disk is full."""

    happened = "There was no room left to store the session"


class StoreLocked(StoreError):
    """Another process kept the database locked for too long."""

    happened = "Another process kept the sessions locked"


class StoreCorrupt(StoreError):
    """The file is not a database of Weft, or is damaged."""


class NoSuchSession(NotFound, StoreError):
    def __init__(self, session: str) -> None:
        super().__init__(f"There is no session {session[:100]!r}; list the sessions to see which there are.")


class NoSuchBlob(NotFound, StoreError):
    def __init__(self, digest: str) -> None:
        super().__init__(f"The session has no blob {digest[:80]!r}.")


class SessionExists(StoreError):
    code = "invalid_request"


class SessionBusy(StoreError):
    """Another writer has the session open."""

    code = "invalid_request"


class Fenced(StoreError):
    """Another writer has acquired the session; this one must not write any more."""


class HandedOver(StoreError):
    """The session was released while its exchange ran; another process continues it."""


class BadCursor(StoreError):
    """The cursor of a list is invalid."""

    code = "invalid_request"


class BadArchive(StoreError):
    """The imported file is not an archive of a session, or is too large."""

    code = "invalid_request"


LEASE_SECONDS = 30.0
"""The duration of a lease that is not renewed."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to write one session."""

    session: str
    epoch: int
    holder: str
    expires: float


class Holder(msgspec.Struct, frozen=True):
    """A writing process, in a form that other processes can recognise."""

    host: str
    pid: int
    started: str
    """The start time of the process in the units of the system; empty if it is not known."""
    nonce: str

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}/{self.started}/{self.nonce}"


def new_holder() -> str:
    """Return a unique name for a writer in this process."""
    return str(Holder(_host(), os.getpid(), _own_start(os.getpid()), new_id("w")))


@cache
def _host() -> str:
    """Return a name of the machine since its start, and of the namespace that process ids belong to. Two containers may
    share a host name and have processes of the same id."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = namespace = ""
    return f"{socket.gethostname()}~{boot[:8]}~{namespace.strip('pid:[]')}".replace("/", "_")


_dead_holders: set[str] = set()


def mark_dead(holder: str) -> None:
    """Mark a holder that stopped writing without releasing its lease, so that this process can acquire it at once."""
    _dead_holders.add(holder)


def is_marked_dead(holder: str) -> bool:
    return holder in _dead_holders


def is_free(holder: str, expires: float, now: float) -> bool:
    """Return whether a lease may be acquired from its holder."""
    return not holder or expires <= now or holder in _dead_holders or _is_dead(holder)


def is_abandoned(holder: str, expires: float, updated: float, now: float) -> bool:
    """Return whether a draft will not be finished. A new draft without a holder may still get one."""
    return is_free(holder, expires, now) if holder else updated <= now - LEASE_SECONDS


def _is_dead(holder: str) -> bool:
    host, _, rest = holder.partition("/")
    pid, _, rest = rest.partition("/")
    started = rest.partition("/")[0]
    if host != _host() or not pid.isdecimal() or int(pid) < 1:
        return False
    if int(pid) == os.getpid():
        return started != _own_start(os.getpid())
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return started != _process_start(int(pid))


@cache
def _own_start(pid: int) -> str:
    """The start time of this process; it does not change."""
    return _process_start(pid)


def _process_start(pid: int) -> str:
    """Read the start time from /proc. A zombie process has none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


PAGE = 1000
"""The maximum number of events that one `read` returns."""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session without its log."""

    id: str
    owner: str = ""
    """The user who may see it, if several users share a store."""
    kind: str = ""
    """The purpose of the session, set by its creator; empty for a plain conversation."""
    title: str = ""
    created: float = 0.0
    updated: float = 0.0
    last_seq: int = 0
    epoch: int = 0
    parent: str | None = None
    """The session that it was forked from, at `parent_seq`, or that it works for."""
    parent_seq: int | None = None
    cause: str | None = None
    """The call of its parent that it works for, if it is a delegate."""
    work: Work = "idle"
    """Whether an exchange is open in it, or requests wait."""
    settings: JsonObject = {}
    """Empty in a list, if those of the session are damaged; `info` reports it."""


INFO_COLUMNS = "id, owner, kind, title, created, updated, last_seq, epoch, parent, parent_seq, cause, work, settings"
_INFO_NAMES = INFO_COLUMNS.split(", ")[:-1]


def read_info(row: Sequence[Any], *, is_listed: bool = False) -> SessionInfo:
    """Build a session from `INFO_COLUMNS` of a table. Raises StoreCorrupt if its settings are damaged."""
    *head, settings = row
    fields = dict(zip(_INFO_NAMES, head, strict=True))
    try:
        return SessionInfo(**fields, settings=as_object(loads(settings)))
    except ValueError:
        if is_listed:  # one damaged session does not hide the others
            return SessionInfo(**fields)
        raise StoreCorrupt("The settings of the session are damaged; restore a backup of the store.") from None


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of sessions, the last changed first."""

    sessions: list[SessionInfo]
    next: str | None = None
    """The cursor of the next page; None at the end."""


EncodedEvents = Sequence[bytes | None] | None
"""The JSON of each appended event, as far as the store has encoded it."""
OnAppended = Callable[[EncodedEvents, Exception | None], object]
"""Called with the outcome of an append: the JSON of its events, or the error."""


@runtime_checkable
class DeltaStore(Protocol):
    """A store that appends deltas without a task for each append."""

    def submit_deltas(self, lease: "Lease", events: Sequence[Event], on_done: OnAppended) -> None:
        """Append deltas, and call back when they are stored. Those of one moment share their statements."""
        ...


class Store(SharedStore, Protocol):
    """Stores the logs, settings and blobs of sessions."""

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        """Create a session with an empty log. Raises SessionExists if the id is in use.

        A draft is visible to its first writer only, until it is finished.
        """
        ...

    async def finish(self, lease: Lease) -> None:
        """Turn a complete draft into a session."""
        ...

    async def abandoned(self) -> Sequence[str]:
        """Return the drafts whose writer is dead."""
        ...

    async def info(self, session: str) -> SessionInfo: ...

    async def list(
        self,
        *,
        search: str = "",
        limit: int = 50,
        after: str | None = None,
        owner: str | None = None,
        kind: str | None = None,
    ) -> SessionPage:
        """Return sessions whose title contains the text, ignoring case: all, or those of an owner or a kind. `after` is
        the `next` of the page before."""
        ...

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        """Return the sessions that worked for a session, in order of creation. `list` does not include them."""
        ...

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None: ...

    async def configure(self, session: str, settings: JsonObject) -> None:
        """Replace the settings."""
        ...

    async def delete(self, session: str) -> None:
        """Delete a session with its log, its delegates, and the blobs that no other session has."""
        ...

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        """Acquire the right to write, with a new highest epoch. Raises SessionBusy while a living writer has it."""
        ...

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        """Extend a lease. Raises Fenced if another writer has the session now."""
        ...

    async def release(self, lease: Lease) -> None:
        """Release a lease. Does nothing if it is no longer held."""
        ...

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> EncodedEvents:
        """Add events, and blobs by their SHA-256: all or nothing. Raises Fenced if the lease is not the newest.

        `work` is the work that the session has after them; None if it stays as it was.

        Returns the JSON of the events if the store has encoded them, so that it is not made again for their readers.
        """
        ...

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        """Return the events after a seq, in order and complete."""
        ...

    async def put_blob(self, session: str, data: bytes) -> str:
        """Store bytes for a session. Returns their SHA-256, by which they are found."""
        ...

    async def blob(self, session: str, digest: str) -> bytes:
        """Return a blob. Raises NoSuchBlob for one that does not belong to the session."""
        ...

    async def list_blobs(self, session: str) -> Sequence[str]:
        """Return the digests of all blobs of a session."""
        ...

    async def close(self) -> None: ...


async def iterate_events(
    store: Store, session: str, *, after: int = 0, upto: int | None = None
) -> AsyncIterator[Event]:
    """Yield the events after a seq, reading a page at a time."""
    while events := await store.read(session, after=after, upto=upto):
        for event in events:
            yield event
        after = events[-1].seq


async def iterate_delegates(store: Store, session: str) -> AsyncIterator[SessionInfo]:
    """Yield the sessions that worked for a session, directly or for one another."""
    for info in await store.delegates(session):
        yield info
        async for inner in iterate_delegates(store, info.id):
            yield inner


def check_next(lease: Lease, last_seq: int, events: Sequence[Event]) -> None:
    """Check that events belong to the session, continue its log, and are not of a later epoch than the lease."""
    for seq, event in enumerate(events, last_seq + 1):
        if event.session != lease.session:
            raise StoreError(f"An event of {event.session!r} does not belong into the log of {lease.session!r}.")
        if event.seq != seq:
            raise StoreError(f"The log of {lease.session!r} goes on with {seq}, not with {event.seq}; read it again.")
        if event.epoch > lease.epoch:
            raise StoreError(f"The event {event.seq} is of epoch {event.epoch}, above that of its writer.")


def check_blobs(blobs: Mapping[str, bytes]) -> None:
    for digest, data in blobs.items():
        if sha256(data).hexdigest() != digest:
            raise StoreError(f"The blob {digest[:80]!r} does not have that SHA-256.")


def parse_cursor(text: str) -> tuple[float, str]:
    """Return the update time and the id of the last session of a page."""
    updated, _, session = text.partition(":")
    try:
        return float.fromhex(updated), session
    except (ValueError, OverflowError):
        raise BadCursor("This is no cursor of a list of sessions; begin again without one.") from None


def make_page(found: list[SessionInfo], limit: int) -> SessionPage:
    """Build a page from a list with one session more than the page may hold."""
    more = len(found) > limit
    found = found[:limit]
    return SessionPage(sessions=found, next=f"{found[-1].updated.hex()}:{found[-1].id}" if more and found else None)
