"""A session that was acquired, with what its writer begins with."""

import asyncio
from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

import msgspec

from heald.core.envelope import Event
from heald.sessions.leases import Lease, mark_dead, new_holder
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import Store, implements, list_delegates
from heald.sessions.store_errors import StoreError

SHORT_LOG = 100
"""Events that a log may have to be read in the transaction that acquires its session: a longer one would hold up the
commits of other sessions."""


class AcquiredLog(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was acquired, as it was then. Only its writer changes its log from now on."""

    lease: Lease
    info: SessionInfo
    delegates: Sequence[SessionInfo]
    """The sessions that worked for it, directly or for one another."""
    events: Sequence[Event] | None = None
    """The first page of its log; None if that was not read yet."""


@runtime_checkable
class AcquiringStore(Protocol):
    """A store that acquires a session and reads what its writer begins with in one transaction."""

    async def acquire_log(self, session: str, holder: str, *, force: bool = False) -> AcquiredLog:
        """Acquire a session as `acquire` does, and return it with its log, if that is short."""
        ...


async def acquire_log(store: Store, session: str, *, force: bool = False) -> AcquiredLog:
    """Acquire a session for a writer in this process, and read what it begins with."""
    if implements(type(store), AcquiringStore):
        return await cast(AcquiringStore, store).acquire_log(session, new_holder(), force=force)
    lease = await store.acquire(session, new_holder(), force=force)
    try:
        info, events, delegates = await asyncio.gather(  # a store reads what is asked together at once
            store.info(session), store.read(session), list_delegates(store, session)
        )
    except BaseException:
        await release_lease(store, lease)
        raise
    return AcquiredLog(lease=lease, info=info, delegates=delegates, events=events)


async def release_lease(store: Store, lease: Lease) -> None:
    """Release the lease of a writer that ends. A store that fails does not keep others in this process from it."""
    try:
        await store.release(lease)
    except StoreError:
        mark_dead(lease.holder)
