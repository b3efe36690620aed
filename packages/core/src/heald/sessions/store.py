"""The protocol of a session store: nine methods for the logs, nine for the directory of the sessions.

The log of a session is append-only and numbered without gaps. An append is one transaction, and is refused unless the
lease of the writer is the newest; when it returns, its events survive a crash of the process.

A store that several processes share implements `heald.sessions.shared_store.SharedStore` as well.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol, cast, runtime_checkable

from heald.core.envelope import Event
from heald.core.json import JsonObject
from heald.sessions.leases import LEASE_SECONDS, Lease
from heald.sessions.session_info import SessionInfo, SessionPage
from heald.sessions.work import Work

PAGE = 1000
"""The maximum number of events that one `read` returns."""
_LISTED = 200
EncodedEvents = Sequence[bytes | None] | None
"""The JSON of each appended event, as far as the store has encoded it."""
OnAppended = Callable[[EncodedEvents, Exception | None], object]
"""Called with the outcome of an append: the JSON of its events, or the error."""


class SessionDirectory(Protocol):
    """The part of a store that lists sessions and holds their titles and settings."""

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        """Create a session with an empty log. Raises SessionExists if the id is in use.

        A draft is visible to its first writer only, until it is finished.
        """
        ...

    async def finish(self, lease: Lease, *, updated: float | None = None) -> None:
        """Turn a complete draft into a session. `updated` is when it was changed last, if that was not now."""
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


class SessionLogs(Protocol):
    """The part of a store that holds the logs and blobs of sessions, each with one writer at a time."""

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


class Store(SessionDirectory, SessionLogs, Protocol):
    """Stores the logs, settings and blobs of sessions."""


@runtime_checkable
class SubmitStore(Protocol):
    """A store that appends without a task for each append."""

    def submit_events(
        self,
        lease: Lease,
        events: Sequence[Event],
        on_done: OnAppended,
        *,
        blobs: Mapping[str, bytes] | None = None,
        work: Work | None = None,
        title: str = "",
    ) -> None:
        """Append events as `append` does, and call back when they are stored. Deltas of one moment share their
        statements. `title` is stored with them if the session has none.

        `on_done` is called once more, with an error, if events that survive in a journal cannot be moved from there to
        their log: the session cannot be written any more."""
        ...


@runtime_checkable
class WatchedStore(Protocol):
    """A store whose sessions have readers in other processes."""

    def is_read_elsewhere(self, session: str) -> bool:
        """Whether other processes have announced readers of a session, as those of `EventFeed` do."""
        ...


def as_submit_store(store: Store) -> SubmitStore | None:
    """Return a store that appends without a task; None if it does not."""
    return cast(SubmitStore, store) if implements(type(store), SubmitStore) else None


def as_watched_store(store: Store) -> WatchedStore | None:
    """Return a store whose sessions have readers in other processes; None if it is another one."""
    return cast(WatchedStore, store) if implements(type(store), WatchedStore) else None


@lru_cache(maxsize=64)
def implements(kind: type, protocol: type) -> bool:
    """Whether the stores of a class implement a protocol. It looks once for each: Python 3.11 takes 50 µs for it."""
    return issubclass(kind, protocol)


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


async def list_delegates(store: Store, session: str) -> Sequence[SessionInfo]:
    """Return the sessions that worked for a session, directly or for one another."""
    return [info async for info in iterate_delegates(store, session)]


async def iterate_sessions(store: Store) -> AsyncIterator[SessionInfo]:
    """Yield all sessions of a store, each before those that worked for it."""
    after: str | None = None
    while True:
        page = await store.list(limit=_LISTED, after=after)
        for info in page.sessions:
            yield info
            async for delegate in iterate_delegates(store, info.id):
                yield delegate
        after = page.next
        if after is None:
            return
