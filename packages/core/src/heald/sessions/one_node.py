"""A store of one process as a shared store: the store of a single node.

It adds to any `Store` what a server needs of `SharedStore`. Claims, commands and news concern this process only;
spending and records are held in memory and end with it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import time

from heald.core.envelope import Event
from heald.core.errors import HealdError, NotFound
from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.sessions.leases import LEASE_SECONDS, Lease, is_free, new_holder
from heald.sessions.news import News, NewsCallbacks, OnNews, deletion_news
from heald.sessions.session_info import SessionInfo, SessionPage
from heald.sessions.shared_store import (
    RETRY_CLAIM_SECONDS,
    NodeInfo,
    NotHeld,
    PostedCommand,
    SharedStore,
    Spending,
)
from heald.sessions.store import PAGE, EncodedEvents, OnAppended, Store, SubmitStore
from heald.sessions.store_errors import NoSuchSession, SessionBusy, StoreError
from heald.sessions.work import Work

_LIST = 200


def as_shared(store: Store) -> SharedStore:
    """Return a store that nodes can share as it is, and any other one as the store of a single node."""
    if isinstance(store, SharedStore):
        return store
    return OneNodeSubmitStore(store, store) if isinstance(store, SubmitStore) else OneNodeStore(store)


@dataclass(frozen=True, slots=True)
class _Payment:
    time: float
    tokens: int
    usd: float | None


class OneNodeStore:
    """A store that only this process uses. It follows the leases and the work of its sessions."""

    def __init__(self, store: Store, *, node: str = "") -> None:
        self._store = store
        self._node = node or new_id("node")
        self._info = NodeInfo(name=self._node)
        self._news = NewsCallbacks()
        self._leases: dict[str, Lease] = {}  # of the sessions that are open here
        self._work: dict[str, str] = {}  # the owners of the sessions with open work
        self._has_listed_work = False
        self._claimed: set[str] = set()
        self._not_before: dict[str, float] = {}  # when a returned session may be claimed once more
        self._payments: dict[str, deque[_Payment]] = {}
        self._records: dict[str, dict[str, bytes]] = {}

    # --- the directory -----------------------------------------------------------------------------------------------

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        await self._store.create(info, draft=draft)

    async def finish(self, lease: Lease, *, updated: float | None = None) -> None:
        await self._store.finish(lease, updated=updated)

    async def abandoned(self) -> Sequence[str]:
        return await self._store.abandoned()

    async def info(self, session: str) -> SessionInfo:
        return await self._store.info(session)

    async def list(
        self,
        *,
        search: str = "",
        limit: int = 50,
        after: str | None = None,
        owner: str | None = None,
        kind: str | None = None,
    ) -> SessionPage:
        return await self._store.list(search=search, limit=limit, after=after, owner=owner, kind=kind)

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        return await self._store.delegates(session)

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None:
        await self._store.rename(session, title, only_untitled=only_untitled)

    async def configure(self, session: str, settings: JsonObject) -> None:
        await self._store.configure(session, settings)

    async def delete(self, session: str) -> None:
        await self._store.delete(session)
        self._forget(session)
        self._news.publish(deletion_news(session))

    # --- the logs ----------------------------------------------------------------------------------------------------

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        lease = await self._store.acquire(session, holder, seconds=seconds, force=force)
        self._leases[session] = lease
        self._claimed.discard(session)
        return lease

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        renewed = await self._store.renew(lease, seconds=seconds)
        self._leases[lease.session] = renewed
        return renewed

    async def release(self, lease: Lease) -> None:
        await self._store.release(lease)
        held = self._leases.get(lease.session)
        if held is not None and held.epoch == lease.epoch:
            del self._leases[lease.session]

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> EncodedEvents:
        encoded = await self._store.append(lease, events, blobs, work=work)
        if work is not None:
            await self._follow_work(lease.session, work)
        self._publish_append(lease, events)
        return encoded

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        return await self._store.read(session, after=after, upto=upto, limit=limit)

    async def put_blob(self, session: str, data: bytes) -> str:
        return await self._store.put_blob(session, data)

    async def blob(self, session: str, digest: str) -> bytes:
        return await self._store.blob(session, digest)

    async def list_blobs(self, session: str) -> Sequence[str]:
        return await self._store.list_blobs(session)

    async def close(self) -> None:
        await self._store.close()

    # --- the node ----------------------------------------------------------------------------------------------------

    @property
    def node(self) -> str:
        return self._node

    async def heartbeat(self, *, folders: Sequence[str] = (), room: int = 0) -> None:
        self._info = NodeInfo(name=self._node, folders=tuple(folders), room=room)

    def support_heartbeat(self, is_alive: Callable[[], bool]) -> Callable[[], None]:
        return lambda: None

    async def list_nodes(self) -> Sequence[NodeInfo]:
        return [self._info]

    async def end_node(self) -> None:
        pass

    # --- work --------------------------------------------------------------------------------------------------------

    async def claim_work(self, limit: int) -> Sequence[str]:
        await self._list_work()
        sessions: list[str] = []
        for session in [name for name in self._work if self._is_claimable(name)]:
            if len(sessions) == limit:
                break
            if session not in self._claimed and await self._claim(session):
                sessions.append(session)
        return sessions

    async def _claim(self, session: str) -> bool:
        self._claimed.add(session)  # at once: another claim may run meanwhile
        try:
            lease = await self._store.acquire(session, new_holder())  # its epoch fences the earlier holder
            await self._store.release(lease)
        except (SessionBusy, NoSuchSession) as error:
            self._claimed.discard(session)
            if isinstance(error, NoSuchSession):
                self._forget(session)
            return False
        except BaseException:
            self._claimed.discard(session)
            raise
        return True

    async def unclaim_work(self, session: str, *, seconds: float = RETRY_CLAIM_SECONDS, forget: bool = False) -> None:
        self._claimed.discard(session)
        self._not_before[session] = time() + seconds
        if forget:
            self._work.pop(session, None)
            with suppress(StoreError):
                lease = await self._store.acquire(session, new_holder())
                await self._store.append(lease, [], work="idle")
                await self._store.release(lease)

    async def find_holder(self, session: str) -> str:
        await self._store.info(session)
        return self._node if self._is_held(session) else ""

    async def count_running(self, owner: str) -> int:
        await self._list_work()
        return sum(of == owner for of in self._work.values())

    async def admit_work(self, session: str, owner: str, *, limit: int) -> int:
        await self._list_work()
        others = sum(of == owner for name, of in self._work.items() if name != session)
        if others < limit and session in self._leases:
            self._work[session] = owner
        return others

    async def _list_work(self) -> None:
        """Find the work that an earlier process left, once. From then on the appends show it."""
        if self._has_listed_work:
            return
        after: str | None = None
        listed: dict[str, str] = {}
        while True:
            page = await self._store.list(limit=_LIST, after=after)
            listed |= {info.id: info.owner for info in page.sessions if info.work != "idle"}
            after = page.next
            if after is None:
                break
        if not self._has_listed_work:
            self._has_listed_work = True
            self._work |= {session: owner for session, owner in listed.items() if not self._is_held(session)}

    async def _follow_work(self, session: str, work: Work) -> None:
        if work == "idle":
            self._work.pop(session, None)
        elif session not in self._work:
            with suppress(HealdError):  # the append itself has succeeded
                info = await self._store.info(session)
                if info.cause is None:
                    self._work[session] = info.owner

    def _is_claimable(self, session: str) -> bool:
        if session in self._claimed or self._is_held(session):
            return False
        return self._not_before.get(session, 0.0) <= time()

    def _is_held(self, session: str) -> bool:
        lease = self._leases.get(session)
        return lease is not None and not is_free(lease.holder, lease.expires, time())

    def _forget(self, session: str) -> None:
        self._work.pop(session, None)
        self._leases.pop(session, None)
        self._not_before.pop(session, None)
        self._claimed.discard(session)

    # --- reading, news and commands ----------------------------------------------------------------------------------

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        logs: dict[str, Sequence[Event]] = {}
        for session, after in cursors.items():
            with suppress(NotFound):
                logs[session] = await self._store.read(session, after=after)
        return logs

    async def thin_out(self, *, seconds: float, limit: int = 20) -> int:
        return 0

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        return self._news.add(callback)

    def _publish_append(self, lease: Lease, events: Sequence[Event]) -> None:
        if events:
            self._news.publish(News(topic="events", session=lease.session, seq=events[-1].seq, epoch=lease.epoch))

    async def post_command(self, session: str, body: bytes, *, seconds: float) -> bytes:
        raise NotHeld("The store has one node only, which can open the session itself.")

    async def read_commands(self) -> Sequence[PostedCommand]:
        return ()

    async def reply_command(self, command: str, reply: bytes) -> None:
        pass

    # --- spending and records ----------------------------------------------------------------------------------------

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None, payment: str = "") -> None:
        self._payments.setdefault(owner, deque()).append(_Payment(time(), tokens, usd))

    async def read_spending(self, owner: str, *, seconds: float) -> Spending:
        payments, now = self._payments.get(owner, deque[_Payment]()), time()
        while payments and payments[0].time < now - seconds:
            payments.popleft()
        return Spending(
            tokens=sum(payment.tokens for payment in payments),
            usd=sum(payment.usd or 0.0 for payment in payments),
            unpriced=any(payment.usd is None for payment in payments),
            age=now - payments[0].time if payments else 0.0,
        )

    async def read_records(self, kind: str) -> Mapping[str, bytes]:
        return dict(self._records.get(kind, {}))

    async def put_record(self, kind: str, name: str, data: bytes, *, only_new: bool = False) -> bytes:
        records = self._records.setdefault(kind, {})
        if only_new and name in records:
            return records[name]
        records[name] = data
        self._news.publish(News(topic="records", name=kind))
        return data

    async def delete_record(self, kind: str, name: str) -> None:
        if self._records.get(kind, {}).pop(name, None) is not None:
            self._news.publish(News(topic="records", name=kind))


class OneNodeSubmitStore(OneNodeStore):
    """A store of one process that appends without a task, where the work of the session stays as it was."""

    def __init__(self, store: Store, submits: SubmitStore, *, node: str = "") -> None:
        super().__init__(store, node=node)
        self._submits = submits
        self._tasks: set[asyncio.Task[None]] = set()

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
        def on_appended(encoded: EncodedEvents, error: Exception | None) -> None:
            if error is not None or work is None:
                end(encoded, error)
                return
            task = asyncio.get_running_loop().create_task(self._follow_work(lease.session, work))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(lambda _: end(encoded, None))

        def end(encoded: EncodedEvents, error: Exception | None) -> None:
            if error is None:
                self._publish_append(lease, events)
            on_done(encoded, error)

        self._submits.submit_events(lease, events, on_appended, blobs=blobs, work=work, title=title)
