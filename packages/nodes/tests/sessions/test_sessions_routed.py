"""Sessions in several PostgreSQL databases: each is in one, and none is lost when a database is added."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest

from heald.core.errors import ConfigurationError
from heald.sessions.leases import Lease
from heald.sessions.news import News
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import SharedStore
from heald.sessions.store_errors import NoSuchSession, SessionExists, StoreError
from heald.sessions.stores import open_store
from heald_nodes.postgres import routed_store
from heald_nodes.postgres.routed_store import RoutedStore, open_routed
from heald_nodes.postgres.store import PostgresStore
from postgres_schema import own_schema
from postgres_server import PostgresServer, running_postgres
from shared_store_contract import events

NAMES = [f"ses_{number}" for number in range(20)]


@pytest.fixture
async def urls(postgres_server: str) -> AsyncIterator[list[str]]:
    """Three empty databases."""
    async with (
        own_schema(postgres_server) as first,
        own_schema(postgres_server) as second,
        own_schema(postgres_server) as third,
    ):
        yield [first, second, third]


@pytest.fixture(scope="module")
def servers() -> Iterator[list[PostgresServer]]:
    with running_postgres() as first, running_postgres() as second:
        yield [first, second]


async def fill(store: SharedStore, names: Sequence[str], owner: str = "") -> None:
    for name in names:
        await store.create(SessionInfo(id=name, owner=owner))
        lease = await store.acquire(name, "test")
        await store.append(lease, events(name, 1, 2))
        await store.release(lease)


async def all_names(store: SharedStore, limit: int) -> list[str]:
    """The names of all sessions, page by page."""
    names: list[str] = []
    after: str | None = None
    while True:
        page = await store.list(limit=limit, after=after)
        names += [info.id for info in page.sessions]
        after = page.next
        if after is None:
            return names


async def count(url: str) -> int:
    store = PostgresStore(url)
    sessions = len((await store.list(limit=1000)).sessions)
    await store.close()
    return sessions


async def test_sessions_are_spread_and_listed_together(urls: list[str]) -> None:
    store = open_store(",".join(urls[:2]))
    assert isinstance(store, RoutedStore)
    await fill(store, NAMES)
    counts = [await count(url) for url in urls[:2]]
    assert sum(counts) == len(NAMES)
    assert min(counts) > 3
    latest_first = NAMES[::-1]
    assert [await all_names(store, limit) for limit in (1, 5, 10, 20, 50)] == [latest_first] * 5
    await store.close()


async def test_no_session_is_lost_when_databases_are_added(urls: list[str]) -> None:
    single = PostgresStore(urls[0])
    await fill(single, NAMES)
    await single.close()
    for number in (2, 3):
        store = open_routed(urls[:number])
        await fill(store, [f"{name}_{number}" for name in NAMES])
        await store.close()
    store = open_routed(urls)
    names = [name + suffix for suffix in ("", "_2", "_3") for name in NAMES]
    assert sorted(await all_names(store, 7)) == sorted(names)
    for name in names:
        assert [event.seq for event in await store.read(name)] == [1, 2]
        with pytest.raises(SessionExists):
            await store.create(SessionInfo(id=name))
    assert await count(urls[2]) > 2
    with pytest.raises(NoSuchSession):
        await store.info("ses_none")
    await store.delete(names[0])
    with pytest.raises(NoSuchSession):
        await store.info(names[0])
    await store.close()


async def test_delegates_are_with_their_parent(urls: list[str]) -> None:
    store = open_routed(urls[:2])
    await fill(store, ["ses_parent"])
    delegates = [f"ses_delegate_{number}" for number in range(8)]
    for name in delegates:
        await store.create(SessionInfo(id=name, parent="ses_parent", cause="call_1"))
    other = open_routed(urls[:2])
    assert [info.id for info in await other.delegates("ses_parent")] == delegates
    assert {(await other.info(name)).parent for name in delegates} == {"ses_parent"}
    await other.delete("ses_parent")
    assert sum([await count(url) for url in urls[:2]]) == 0
    for name in delegates:
        with pytest.raises(NoSuchSession):
            await other.info(name)
    for opened in (store, other):
        await opened.close()


@pytest.mark.parametrize(
    ("order", "sentence"),
    [((1, 0), "is not number 1"), ((0, 2, 1), "is not number 2"), ((0, 0), "is not number 2"), ((0,), "name all")],
)
async def test_databases_that_are_named_otherwise_are_refused(
    urls: list[str], order: tuple[int, ...], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routed_store, "LOOKUP_SECONDS", 60.0)  # a database that is slow is checked later
    store = open_routed(urls[:2])
    await store.heartbeat()
    await store.close()
    wrong = open_store(",".join(urls[number] for number in order))
    assert isinstance(wrong, SharedStore)
    with pytest.raises(StoreError, match=sentence):
        await wrong.heartbeat()
    await wrong.close()
    again = open_routed(urls)  # nothing of it was stored
    await again.heartbeat()
    await again.close()


async def test_limits_are_exact_over_nodes_and_databases(urls: list[str]) -> None:
    nodes = [open_routed(urls[:2], node=f"node-{number}") for number in range(2)]
    leases: list[Lease] = []
    for node in nodes:
        await node.heartbeat()
    for number, name in enumerate(NAMES):
        await nodes[0].create(SessionInfo(id=name, owner="ann"))
        leases.append(await nodes[number % 2].acquire(name, f"test-{number}"))
    counts = await asyncio.gather(
        *(nodes[number % 2].admit_work(name, "ann", limit=5) for number, name in enumerate(NAMES))
    )
    assert sum(others < 5 for others in counts) == 5
    assert [await node.count_running("ann") for node in nodes] == [5, 5]
    for node in nodes:
        await node.close()


async def test_work_and_commands_of_all_databases_reach_a_node(urls: list[str]) -> None:
    holder, successor = (open_routed(urls[:2], node=name) for name in ("one", "two"))
    for node in (holder, successor):
        await node.heartbeat()
    for name in NAMES:
        await holder.create(SessionInfo(id=name))
        lease = await holder.acquire(name, f"holder of {name}")
        await holder.append(lease, events(name, 1, 1), work="running")
        await holder.release(lease)
    claimed: list[str] = []
    while sessions := await successor.claim_work(3):
        claimed += sessions
    claimed += await successor.claim_work(1)
    assert sorted(claimed) == sorted(NAMES)
    for name in NAMES:
        await successor.acquire(name, f"new holder of {name}")
        assert await holder.find_holder(name) == "two"
    posted = [asyncio.create_task(holder.post_command(name, name.encode(), seconds=60)) for name in NAMES]
    answered = 0
    async with asyncio.timeout(60):
        while answered < len(NAMES):
            for command in await successor.read_commands():
                await successor.reply_command(command.id, command.session.encode())
                answered += 1
            await asyncio.sleep(0.05)
    assert [reply.decode() for reply in await asyncio.gather(*posted)] == NAMES
    for node in (holder, successor):
        await node.close()


async def test_news_of_all_databases_carry_their_events(urls: list[str]) -> None:
    writer, reader = (open_routed(urls[:2], node=name) for name in ("writer", "reader"))
    heard: asyncio.Queue[News] = asyncio.Queue()
    by_writer: asyncio.Queue[News] = asyncio.Queue()
    reader.subscribe_news(heard.put_nowait)
    writer.subscribe_news(by_writer.put_nowait)
    leases = [await _held(writer, name) for name in NAMES]
    for queue in (heard, by_writer):
        for _ in range(2):
            await _next(queue, "lost")
    await reader.announce_readers(NAMES)
    for _ in NAMES:
        await _next(by_writer, "readers")
    for lease in leases:
        await writer.append(lease, events(lease.session, 1, 1))
    carried: set[str] = set()
    while len(carried) < len(NAMES):
        news = await _next(heard, "events")
        if news.seq:
            decoded = reader.decode_news(news)
            assert decoded is not None
            assert [event.session for event in decoded] == [news.session]
            carried.add(news.session)
    for store in (writer, reader):
        await store.close()


async def test_a_database_that_is_away_takes_only_its_own_sessions_away(servers: list[PostgresServer]) -> None:
    store = open_routed([server.url for server in servers])
    await store.heartbeat()
    await fill(store, NAMES, "ann")
    first = PostgresStore(servers[0].url)
    there = [name for name in NAMES if await first.has_session(name)]
    away = [name for name in NAMES if name not in there]
    await first.close()
    running = await store.acquire(away[0], "test")
    await store.append(running, events(away[0], 3, 1), work="running")
    assert await store.count_running("ann") == 1
    servers[1].stop(kill=True)
    try:
        async with asyncio.timeout(60):
            while store._places.answering != {0}:  # pyright: ignore[reportPrivateUsage]
                await store.heartbeat()
                await asyncio.sleep(0.2)
        for name in there:
            assert len(await store.read(name)) == 2
        assert set(await store.read_many(dict.fromkeys(NAMES, 0))) == set(there)
        created = [f"ses_new_{number}" for number in range(8)]
        await fill(store, created, "ann")
        held = await store.acquire(created[0], "test")
        assert await store.admit_work(created[0], "ann", limit=2) == 1  # that of the database that is away
        assert await store.admit_work(created[1], "ann", limit=2) == 2
        other = open_routed([server.url for server in servers])
        with pytest.raises(StoreError, match=f"{servers[1].port}.* cannot be reached|does not answer"):
            await other.info(away[1])
        await other.close()
        await store.release(held)
    finally:
        servers[1].start()
    async with asyncio.timeout(60):
        while store._places.answering != {0, 1}:  # pyright: ignore[reportPrivateUsage]
            await store.heartbeat()
            await asyncio.sleep(0.2)
    assert sorted(await all_names(store, 100)) == sorted([*NAMES, *created])
    await store.append(running, events(away[0], 4, 1), work="idle")
    await store.close()


def test_each_database_of_a_pooler_needs_its_direct_address() -> None:
    urls = "postgresql://heald@one/heald,postgresql://heald@two/heald"
    with pytest.raises(ConfigurationError, match="names 2 databases and --news 1"):
        open_store(urls, news="postgresql://heald@one:5432/heald")


async def _held(store: SharedStore, name: str) -> Lease:
    await store.create(SessionInfo(id=name))
    return await store.acquire(name, "test")


async def _next(heard: "asyncio.Queue[News]", topic: str) -> News:
    """The next news of a topic."""
    async with asyncio.timeout(60):
        while True:
            news = await heard.get()
            if news.topic == topic:
                return news
