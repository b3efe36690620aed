"""Copies the sessions of one store into another, and checks whether sessions can be read."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

import msgspec

from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.sessions.settings import SessionSettings
from weft.sessions.store import (
    NoSuchSession,
    SessionExists,
    SessionInfo,
    Store,
    StoreCorrupt,
    iterate_delegates,
    iterate_events,
    new_holder,
)

_BATCH = 500
_LIST = 200


class CopyResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the sessions of a store."""

    copied: int = 0
    events: int = 0
    existing: int = 0
    """Sessions that the target had already, which were left as they were."""
    damaged: tuple[str, ...] = ()


async def iterate_sessions(store: Store) -> AsyncIterator[SessionInfo]:
    """Yield all sessions of a store, each before those that worked for it."""
    after: str | None = None
    while True:
        page = await store.list(limit=_LIST, after=after)
        for info in page.sessions:
            yield info
            async for delegate in iterate_delegates(store, info.id):
                yield delegate
        after = page.next
        if after is None:
            return


async def copy_sessions(
    source: Store, target: Store, *, records: Sequence[str] = (), on_session: Callable[[SessionInfo], object] = id
) -> CopyResult:
    """Copy all sessions with their logs, blobs and delegates, and records of the named kinds.

    The sessions keep their ids, owners and epochs. A copy that was interrupted may be repeated: it goes on with the
    sessions that are missing. Damaged sessions are left out and named.
    """
    found = [info async for info in iterate_sessions(source)]
    found.sort(key=lambda info: info.updated)  # the last changed one is the last changed one of the target too
    copied = events = existing = 0
    damaged: list[str] = []
    for draft in await target.abandoned():
        with suppress(NoSuchSession):
            await target.delete(draft)
    for info in found:
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
        for name, data in (await source.read_records(kind)).items():
            await target.put_record(kind, name, data, only_new=True)
    return CopyResult(copied=copied, events=events, existing=existing, damaged=tuple(damaged))


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
    await target.finish(lease)
    await target.release(lease)
    return count


async def check_session(store: Store, info: SessionInfo, feed: Callable[[Event], object] = id) -> str | None:
    """Read a session as opening it does, and call `feed` with each event. Returns the problem, if there is one."""
    try:
        whole = info if info.cause is not None else await store.info(info.id)
        SessionSettings.of(whole.settings)
        seq = 0
        async for event in iterate_events(store, info.id):
            seq = event.seq
            feed(event)
        if seq < whole.last_seq:
            return f"its log ends at event {seq}, not at {whole.last_seq}"
        for digest in await store.list_blobs(info.id):
            await store.blob(info.id, digest)
    except WeftError as error:
        return str(error).rstrip(".")
    return None
