"""What a place must do that keeps sessions. Any store that passes the contract test will serve.

The log of a session is append-only and numbered without gaps. An append is one transaction, and is refused unless the
writer's lease is the newest; when it returns, its events are kept whatever happens to the process.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

import msgspec

from weft.core.envelope import Event
from weft.core.json import JsonObject
from weft.sessions.lease import SECONDS, Lease

PAGE = 1000
"""Events that one `read` gives at most."""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session without its log."""

    id: str
    owner: str = ""
    """Who may see it, where several people share a store."""
    kind: str = ""
    """What it is for, in the words of whoever made it; a conversation by itself has none."""
    title: str = ""
    created: float = 0.0
    updated: float = 0.0
    last_seq: int = 0
    epoch: int = 0
    parent: str | None = None
    """The session that it was forked from, at `parent_seq`, or that it works for."""
    parent_seq: int | None = None
    cause: str | None = None
    """The call of its parent that it works for; None if it works for nobody."""
    settings: JsonObject = {}


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some sessions, the last changed first."""

    sessions: list[SessionInfo]
    next: str | None = None
    """Where the next page begins; None at the end."""


class Store(Protocol):
    """Keeps the logs of sessions, what is said about them, and blobs."""

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        """A new session with an empty log. Raises SessionExists if the id is taken.

        A draft is there for its first writer alone until it is finished.
        """
        ...

    async def finish(self, lease: Lease) -> None:
        """A draft is whole: from now on it is a session like any other."""
        ...

    async def abandoned(self) -> Sequence[str]:
        """Drafts whose writer is gone."""
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
        """Sessions whose title holds the text, whatever its case: all, or those of an owner or a kind. `after` is the
        `next` of the page before."""
        ...

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        """Those that worked for a session, the first made first. `list` leaves them out."""
        ...

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None: ...

    async def configure(self, session: str, settings: JsonObject) -> None:
        """Replace the settings."""
        ...

    async def delete(self, session: str) -> None:
        """The session, its log, those that worked for it, and the blobs that no other session has."""
        ...

    async def acquire(self, session: str, holder: str, *, seconds: float = SECONDS, force: bool = False) -> Lease:
        """The right to write, with an epoch above all before it. SessionBusy while a living writer has it."""
        ...

    async def renew(self, lease: Lease, *, seconds: float = SECONDS) -> Lease:
        """Raises Fenced if another writer has it now."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give it back. One that is no longer held is nobody's loss."""
        ...

    async def append(self, lease: Lease, events: Sequence[Event], blobs: Mapping[str, bytes] | None = None) -> None:
        """Add events, and blobs by their SHA-256: all or nothing. Raises Fenced if the lease is not the newest."""
        ...

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        """The events behind a seq, in order and whole."""
        ...

    async def put_blob(self, session: str, data: bytes) -> str:
        """Keep bytes for a session. Gives their SHA-256, under which they are found."""
        ...

    async def blob(self, session: str, digest: str) -> bytes:
        """Raises NoSuchBlob for one that is not this session's."""
        ...

    async def close(self) -> None: ...


async def events_of(store: Store, session: str, *, after: int = 0, upto: int | None = None) -> AsyncIterator[Event]:
    """The log from a seq on, a page at a time."""
    while events := await store.read(session, after=after, upto=upto):
        for event in events:
            yield event
        after = events[-1].seq
