"""A store whose sessions lie in several PostgreSQL databases, for more agents than one primary can carry.

Each session is in one database, with its log, its blobs and its delegates (`session_places`). The first database also
has what belongs to no session: records, spending, and the lock under which work is admitted, so that limits are exact
over all of them. A database that does not answer takes its own sessions away, and no others.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from heapq import merge
from typing import TypeVar

from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError
from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.sessions.leases import LEASE_SECONDS, Lease
from heald.sessions.news import News, OnNews
from heald.sessions.session_info import SessionInfo, SessionPage, make_page
from heald.sessions.shared_store import RETRY_CLAIM_SECONDS, NodeInfo, PostedCommand, Spending
from heald.sessions.store import PAGE, EncodedEvents, OnAppended
from heald.sessions.store_errors import StoreError
from heald.sessions.store_url import is_postgres, split_urls
from heald.sessions.work import Work
from heald_nodes.postgres.database_calls import ANSWER_SECONDS, DatabaseCalls
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.driver_errors import StoreUnreachable
from heald_nodes.postgres.session_places import LOOKUP_SECONDS, SessionPlaces
from heald_nodes.postgres.sharing import DATABASES, check_count
from heald_nodes.postgres.store import PostgresStore

_NUMBER = "database_number"
"""The kind and the name of the record in which a database has its number and the service of the first one."""

T = TypeVar("T")


class RoutedStore:
    """Stores sessions in several databases. It has at least one of `stores`; all of them have the same node."""

    def __init__(self, stores: Sequence[PostgresStore]) -> None:
        self._stores = stores
        self._home = stores[0]
        for store in stores:
            store.is_part = True
        self._places = SessionPlaces(stores)
        self._checked: set[int] = set()
        self._checking = asyncio.Lock()
        self._admitting = asyncio.Lock()  # an admission that waits keeps a connection
        self._beats: DatabaseCalls[None] = DatabaseCalls()
        self._claims: DatabaseCalls[Sequence[str]] = DatabaseCalls()
        self._commands: DatabaseCalls[Sequence[PostedCommand]] = DatabaseCalls()
        self._command_places: dict[str, int] = {}
        self._work_counts: dict[tuple[int, str], int] = {}  # by database and owner, as they were last
        self._first_claimed = 0

    @property
    def node(self) -> str:
        return self._home.node

    async def _check_databases(self) -> None:
        """Raise StoreError unless the databases are those of the last time, in the same order, and perhaps more. One
        that does not answer is checked later."""
        if self._checked:
            return
        async with self._checking:
            if not self._checked:
                check_count(await self._home.read_records(DATABASES), len(self._stores))
                for place in range(len(self._stores)):
                    await self._check_database(place)

    async def _check_database(self, place: int) -> None:
        """Raise StoreError unless a database has this number in this store. One that has none gets it."""
        store = self._stores[place]
        try:
            async with asyncio.timeout(LOOKUP_SECONDS if place else None):
                number = f"{place + 1} of {await self._home.read_service()}"
                numbers = await store.read_records(_NUMBER)
                if numbers or str(place + 1) not in await self._home.read_records(DATABASES):
                    numbers = {_NUMBER: await store.put_record(_NUMBER, _NUMBER, number.encode(), only_new=True)}
        except (TimeoutError, StoreUnreachable):
            if place:
                return
            raise
        if numbers.get(_NUMBER) != number.encode():
            raise StoreError(
                f"The database at {store.name} is not number {place + 1} of this store; name each database once, in "
                "the order in which they were added."
            )
        await self._home.put_record(DATABASES, str(place + 1), store.name.encode(), only_new=True)
        self._checked.add(place)

    async def _at(self, session: str) -> PostgresStore:
        """Return the store of a session."""
        await self._check_databases()
        return self._stores[await self._places.find(session)]

    async def _on_all(self, call: Callable[[PostgresStore], Awaitable[T]]) -> list[T]:
        await self._check_databases()
        return list(await asyncio.gather(*(call(store) for store in self._stores)))

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        await self._check_databases()
        place, _ = await self._places.look_up(info.id)
        if place is None and info.cause is not None and info.parent is not None:
            place = await self._places.find(info.parent)  # they are listed and deleted together
        if place is None:
            ranked = self._places.rank(info.id)
            place = next((number for number in ranked if number in self._places.answering), ranked[0])
        await self._stores[place].create(info, draft=draft)
        self._places.remember(info.id, place)

    async def finish(self, lease: Lease, *, updated: float | None = None) -> None:
        await (await self._at(lease.session)).finish(lease, updated=updated)

    async def abandoned(self) -> Sequence[str]:
        await self._check_databases()
        return [session for drafts in await _answers([store.abandoned for store in self._stores]) for session in drafts]

    async def info(self, session: str) -> SessionInfo:
        return await (await self._at(session)).info(session)

    async def list(
        self,
        *,
        search: str = "",
        limit: int = 50,
        after: str | None = None,
        owner: str | None = None,
        kind: str | None = None,
    ) -> SessionPage:
        limit = max(limit, 1)
        pages = await self._on_all(
            lambda store: store.list(search=search, limit=limit, after=after, owner=owner, kind=kind)
        )
        sessions = list(merge(*(page.sessions for page in pages), key=lambda info: (-info.updated, info.id)))
        if len(sessions) <= limit and any(page.next is not None for page in pages):
            sessions.append(sessions[-1])  # there are more, after it
        return make_page(sessions, limit)

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        return await (await self._at(session)).delegates(session)

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None:
        await (await self._at(session)).rename(session, title, only_untitled=only_untitled)

    async def configure(self, session: str, settings: JsonObject) -> None:
        await (await self._at(session)).configure(session, settings)

    async def delete(self, session: str) -> None:
        await (await self._at(session)).delete(session)
        self._places.forget(session)

    # --- the log -----------------------------------------------------------------------------------------------------

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        store = await self._at(session)
        lease = await store.acquire(session, holder, seconds=seconds, force=force)
        self._places.hold(session, self._stores.index(store))
        return lease

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        return await (await self._at(lease.session)).renew(lease, seconds=seconds)

    async def release(self, lease: Lease) -> None:
        await (await self._at(lease.session)).release(lease)
        self._places.release(lease.session)

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> EncodedEvents:
        return await (await self._at(lease.session)).append(lease, events, blobs, work=work)

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
        place = self._places.recall(lease.session)
        if place is None:  # deleted, or released meanwhile
            place = self._places.rank(lease.session)[0]
        self._stores[place].submit_events(lease, events, on_done, blobs=blobs, work=work, title=title)

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        return await (await self._at(session)).read(session, after=after, upto=upto, limit=limit)

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        """Return the next events of several sessions. Those of a database that does not answer soon are left out."""
        groups: dict[int, dict[str, int]] = {}
        for session, cursor in cursors.items():
            place, _ = await self._places.look_up(session)
            if place is not None:
                groups.setdefault(place, {})[session] = cursor
        answers = await _answers([partial(self._stores[place].read_many, group) for place, group in groups.items()])
        return {session: events for answer in answers for session, events in answer.items()}

    async def put_blob(self, session: str, data: bytes) -> str:
        return await (await self._at(session)).put_blob(session, data)

    async def blob(self, session: str, digest: str) -> bytes:
        return await (await self._at(session)).blob(session, digest)

    async def list_blobs(self, session: str) -> Sequence[str]:
        return await (await self._at(session)).list_blobs(session)

    async def thin_out(self, *, seconds: float, limit: int = 20) -> int:
        share = max(limit // len(self._stores), 1)
        return sum(await _answers([partial(store.thin_out, seconds=seconds, limit=share) for store in self._stores]))

    async def close(self) -> None:
        for calls in (self._beats, self._claims, self._commands):
            await calls.close()
        for store in self._stores:
            await store.close()

    # --- nodes and work ----------------------------------------------------------------------------------------------

    async def heartbeat(self, *, folders: Sequence[str] = (), room: int = 0) -> None:
        await self._check_databases()
        answers = await self._beats.run(self._calls(lambda store: store.heartbeat(folders=folders, room=room)))
        self._places.answering = set(answers)
        for place in answers.keys() - self._checked:
            await self._check_database(place)
        if 0 not in answers:
            raise StoreUnreachable(f"The first database, at {self._home.name}, does not answer; check that it runs.")

    def support_heartbeat(self, is_alive: Callable[[], bool]) -> Callable[[], None]:
        ends = [store.support_heartbeat(is_alive) for store in self._stores]
        return lambda: _call_all(ends)

    async def list_nodes(self) -> Sequence[NodeInfo]:
        return await self._home.list_nodes()

    async def end_node(self) -> None:
        await _answers([store.end_node for store in self._stores])

    async def claim_work(self, limit: int) -> Sequence[str]:
        """Claim sessions in all databases. If there is room for fewer than one of each, they take turns."""
        count = len(self._stores)
        self._first_claimed = (self._first_claimed + 1) % count
        places = [(self._first_claimed + step) % count for step in range(min(limit, count))]
        if not places:
            return []
        share = limit // len(places)
        claims = await self._claims.run(self._calls(lambda store: store.claim_work(share), places))
        for place, sessions in claims.items():
            for session in sessions:
                self._places.remember(session, place)
        return [session for sessions in claims.values() for session in sessions]

    async def unclaim_work(self, session: str, *, seconds: float = RETRY_CLAIM_SECONDS, forget: bool = False) -> None:
        await (await self._at(session)).unclaim_work(session, seconds=seconds, forget=forget)

    async def find_holder(self, session: str) -> str:
        return await (await self._at(session)).find_holder(session)

    async def count_running(self, owner: str) -> int:
        return await self._count_others(owner, "")

    async def admit_work(self, session: str, owner: str, *, limit: int) -> int:
        store = await self._at(session)

        async def admit(_: PostgresConnection) -> int:
            others = await self._count_others(owner, session)
            if others < limit:
                await store.mark_waiting(session)
            return others

        async with self._admitting:
            return await self._home.run_locked(owner, admit)

    async def _count_others(self, owner: str, session: str) -> int:
        """Count the sessions of an owner with work. Those of a database that does not answer heartbeats count as they
        did last: nothing runs in them meanwhile."""

        async def count(place: int) -> int:
            if place not in self._places.answering:
                return self._work_counts.get((place, owner), 0)
            counted = self._work_counts[place, owner] = await self._stores[place].count_others(owner, session)
            return counted

        return sum(await asyncio.gather(*map(count, range(len(self._stores)))))

    def _calls(
        self, call: Callable[[PostgresStore], Awaitable[T]], places: Sequence[int] | None = None
    ) -> Mapping[int, Callable[[], Awaitable[T]]]:
        numbers = range(len(self._stores)) if places is None else places
        return {place: partial(call, self._stores[place]) for place in numbers}

    # --- news and commands -------------------------------------------------------------------------------------------

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        ends = [
            store.subscribe_news(partial(self._on_news, place, callback)) for place, store in enumerate(self._stores)
        ]
        return lambda: _call_all(ends)

    def _on_news(self, place: int, callback: OnNews, news: News) -> None:
        if news.topic == "events" and news.seq == 0:
            self._places.forget(news.session)
        elif news.topic == "events":
            self._places.remember(news.session, place)
        callback(news)

    async def announce_readers(self, sessions: Sequence[str]) -> None:
        groups: dict[int, list[str]] = {}
        for session in sessions:
            place, _ = await self._places.look_up(session)
            if place is not None:
                groups.setdefault(place, []).append(session)
        await _answers([partial(self._stores[place].announce_readers, group) for place, group in groups.items()])

    def is_read_elsewhere(self, session: str) -> bool:
        place = self._places.recall(session)
        return place is not None and self._stores[place].is_read_elsewhere(session)

    def decode_news(self, news: News) -> Sequence[Event] | None:
        place = self._places.recall(news.session)
        return self._stores[place].decode_news(news) if place is not None else None

    async def post_command(self, session: str, body: bytes, *, seconds: float) -> bytes:
        return await (await self._at(session)).post_command(session, body, seconds=seconds)

    async def read_commands(self) -> Sequence[PostedCommand]:
        answers = await self._commands.run(self._calls(PostgresStore.read_commands))
        for place, commands in answers.items():
            self._command_places |= {command.id: place for command in commands}
        return [command for commands in answers.values() for command in commands]

    async def reply_command(self, command: str, reply: bytes) -> None:
        place = self._command_places.pop(command, 0)
        await self._stores[place].reply_command(command, reply)

    # --- spending and records, in the first database -----------------------------------------------------------------

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None, payment: str = "") -> None:
        await self._home.record_spending(owner, tokens=tokens, usd=usd, payment=payment)

    async def read_spending(self, owner: str, *, seconds: float) -> Spending:
        return await self._home.read_spending(owner, seconds=seconds)

    async def read_records(self, kind: str) -> Mapping[str, bytes]:
        return await self._home.read_records(kind)

    async def put_record(self, kind: str, name: str, data: bytes, *, only_new: bool = False) -> bytes:
        return await self._home.put_record(kind, name, data, only_new=only_new)

    async def delete_record(self, kind: str, name: str) -> None:
        await self._home.delete_record(kind, name)


async def _answers(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Return the answers that come soon, of calls that may be repeated. Raises an error if none comes."""
    tasks = [asyncio.ensure_future(call()) for call in calls]
    if not tasks:
        return []
    try:
        done, _ = await asyncio.wait(tasks, timeout=2 * ANSWER_SECONDS)
        if not done:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    answers: list[T] = []
    errors: list[HealdError] = []
    for task in tasks:
        if task in done:
            try:
                answers.append(task.result())
            except HealdError as error:
                errors.append(error)
    if errors and not answers:
        raise errors[0]
    return answers


def _call_all(ends: Sequence[Callable[[], None]]) -> None:
    for end in ends:
        end()


def open_routed(urls: Sequence[str], *, node: str = "", news: str = "") -> RoutedStore:
    """Open the store of several databases. `news` is the URL of a NATS server, or a list with the direct address of
    each database."""
    direct = split_urls(news) if is_postgres(news) else [news] * len(urls)
    if len(direct) != len(urls):
        raise ConfigurationError(f"--store names {len(urls)} databases and --news {len(direct)}; name one for each.")
    node = node or new_id("node")
    return RoutedStore(
        [PostgresStore(url, node=node, news_url=address) for url, address in zip(urls, direct, strict=True)]
    )
