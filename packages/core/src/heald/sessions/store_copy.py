"""Copies the sessions of one store into another."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from heald.core.envelope import Event
from heald.sessions.leases import new_holder
from heald.sessions.one_node import as_shared
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import Store, iterate_delegates, iterate_events, iterate_sessions
from heald.sessions.store_errors import NoSuchSession, SessionExists, StoreCorrupt

_BATCH = 500


class CopyResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for the sessions of a store."""

    copied: int = 0
    events: int = 0
    existing: int = 0
    """Sessions that the target had already, which were left as they were."""
    damaged: tuple[str, ...] = ()


async def copy_sessions(
    source: Store, target: Store, *, records: Sequence[str] = (), on_session: Callable[[SessionInfo], object] = id
) -> CopyResult:
    """Copy all sessions with their logs, blobs and delegates, and records of the named kinds.

    The sessions keep their ids, owners, epochs and times. A copy that was interrupted may be repeated: it continues
    with the sessions that are missing. Damaged sessions are left out and named.
    """
    sessions = [info async for info in iterate_sessions(source)]
    sessions.sort(key=lambda info: info.updated)
    copied = events = existing = 0
    damaged: list[str] = []
    for draft in await target.abandoned():
        with suppress(NoSuchSession):
            await target.delete(draft)
    for info in sessions:
        try:
            events += await _copy_session(source, target, info)
            copied += 1
            on_session(info)
        except SessionExists:
            existing += 1
        except StoreCorrupt:
            damaged.append(info.id)
            with suppress(NoSuchSession):
                await target.delete(info.id)
    for kind in records:
        for name, data in (await as_shared(source).read_records(kind)).items():
            await as_shared(target).put_record(kind, name, data, only_new=True)
    return CopyResult(copied=copied, events=events, existing=existing, damaged=tuple(damaged))


async def copy_session(source: Store, target: Store, session: str) -> None:
    """Copy one session with its log, its blobs and its delegates. Raises `SessionExists` if the target has it."""
    await _copy_session(source, target, await source.info(session))
    async for delegate in iterate_delegates(source, session):
        await _copy_session(source, target, delegate)


async def _copy_session(source: Store, target: Store, listed: SessionInfo) -> int:
    """Copy a session: completely or, after a crash, not at all. Returns the number of its events."""
    info = listed if listed.cause is not None else await source.info(listed.id)
    await target.create(info, draft=True)
    lease = await target.acquire(info.id, new_holder())
    for digest in await source.list_blobs(info.id):
        await target.put_blob(info.id, await source.blob(info.id, digest))
    events: list[Event] = []
    count = 0
    async for event in iterate_events(source, info.id, upto=info.last_seq):
        events.append(event)
        count += 1
        if len(events) >= _BATCH:
            await target.append(lease, events)
            await target.renew(lease)
            events = []
    await target.append(lease, events, work=info.work)
    await target.finish(lease, updated=info.updated)
    await target.release(lease)
    return count
