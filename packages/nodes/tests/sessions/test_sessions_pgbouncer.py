"""The store through PgBouncer in transaction mode: every statement may run on another session of the database."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

from heald.sessions.news import News
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import SharedStore
from heald.sessions.store_errors import StoreError
from heald_nodes.postgres.driver import asyncpg
from heald_nodes.postgres.store import PostgresStore
from heald_nodes.postgres.writer import TOUCH_SECONDS
from pgbouncer_server import PgBouncer, running_pgbouncer
from postgres_server import PostgresServer, running_postgres
from shared_store_contract import *  # noqa: F403
from shared_store_contract import events, leased


@pytest.fixture(scope="module")
def database() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def pooler(database: PostgresServer) -> Iterator[PgBouncer]:
    with running_pgbouncer(database) as pooler:
        yield pooler


@pytest.fixture
async def name(database: PostgresServer) -> str:
    """The name of an empty database: a pooler refuses the search path of an address."""
    name = f"heald_{uuid4().hex}"
    connection = await asyncpg.connect(database.url)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return name


@pytest.fixture
async def store(pooler: PgBouncer, name: str) -> AsyncIterator[SharedStore]:
    made = PostgresStore(pooler.url_of(name))
    yield made
    await made.close()


def direct_url(database: PostgresServer, name: str) -> str:
    return database.url.removesuffix("/postgres") + f"/{name}"


async def test_many_statements_at_once_run_on_whichever_session_is_free(pooler: PgBouncer, name: str) -> None:
    stores = [PostgresStore(pooler.url_of(name), node=f"node-{number}") for number in range(3)]
    for store in stores:
        await store.heartbeat()

    async def write(store: PostgresStore, session: str) -> int:
        lease = await leased(store, session)
        for seq in range(1, 41, 2):
            await store.append(lease, events(session, seq, 2))
            await store.read_many({session: seq})
        return len(await store.read(session))

    names = [(store, f"ses_{number}") for number, store in enumerate(stores * 4)]
    assert await asyncio.gather(*(write(store, session) for store, session in names)) == [40] * 12
    for store in stores:
        await store.close()


async def test_the_sessions_of_a_pooler_keep_their_settings(pooler: PgBouncer, name: str) -> None:
    store = PostgresStore(pooler.url_of(name), node="one")
    await store.heartbeat()
    assert await store._control.fetchval("SHOW plan_cache_mode") == "auto"  # pyright: ignore[reportPrivateUsage]
    await store.close()


async def test_without_a_direct_address_news_are_polled(
    pooler: PgBouncer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    writer, reader = PostgresStore(pooler.url_of(name)), PostgresStore(pooler.url_of(name))
    heard: asyncio.Queue[News] = asyncio.Queue()
    reader.subscribe_news(heard.put_nowait)
    with caplog.at_level(logging.WARNING, "heald.store"):
        assert (await _next(heard, "lost")).topic == "lost"
    assert "is a connection pooler" in caplog.text
    assert "--news postgresql://" in caplog.text
    lease = await leased(writer)
    await writer.append(lease, events("ses_a", 1, 3))
    news = await _next(heard, "events")
    assert (news.session, news.seq, news.epoch) == ("ses_a", 3, lease.epoch)
    await writer.append(lease, events("ses_a", 4, 1))
    assert (await _next(heard, "events")).seq == 4
    await writer.put_record("token", "ann", b"1")
    assert (await _next(heard, "records")).name == "token"
    await writer.delete_record("token", "ann")
    assert (await _next(heard, "records")).name == "token"
    await reader.heartbeat()
    await reader.create(SessionInfo(id="ses_held"))
    await reader.acquire("ses_held", "test")
    posted = asyncio.create_task(writer.post_command("ses_held", b"{}", seconds=30))
    assert (await _next(heard, "commands")).session == "ses_held"
    (command,) = await reader.read_commands()
    await reader.reply_command(command.id, b"done")
    assert await posted == b"done"
    for store in (writer, reader):
        await store.close()


async def test_a_poll_finds_an_append_that_did_not_change_the_time_of_its_session(
    database: PostgresServer, pooler: PgBouncer, name: str
) -> None:
    writer, reader = PostgresStore(pooler.url_of(name)), PostgresStore(pooler.url_of(name))
    heard: asyncio.Queue[News] = asyncio.Queue()
    reader.subscribe_news(heard.put_nowait)
    lease = await leased(writer)
    await writer.append(lease, events("ses_a", 1, 3))
    assert (await _next(heard, "events")).seq == 3
    connection = await asyncpg.connect(direct_url(database, name))
    await connection.execute("UPDATE sessions SET updated = updated - $1::float8", TOUCH_SECONDS - 2)
    await connection.close()
    await writer.append(lease, events("ses_a", 4, 1))
    assert (await _next(heard, "events")).seq == 4
    for store in (writer, reader):
        await store.close()


async def test_with_a_direct_address_news_come_by_notices(
    database: PostgresServer, pooler: PgBouncer, name: str
) -> None:
    direct = direct_url(database, name)
    writer = PostgresStore(pooler.url_of(name), node="writer", news_url=direct)
    reader = PostgresStore(pooler.url_of(name), node="reader", news_url=direct)
    heard: asyncio.Queue[News] = asyncio.Queue()
    by_writer: asyncio.Queue[News] = asyncio.Queue()
    writer.subscribe_news(by_writer.put_nowait)
    reader.subscribe_news(heard.put_nowait)
    await _next(heard, "lost")
    await _next(by_writer, "lost")
    await reader.announce_readers(["ses_a"])
    await _next(by_writer, "readers")
    lease = await leased(writer)
    await writer.append(lease, events("ses_a", 1, 1))
    news = await _next(heard, "events")
    decoded = reader.decode_news(news)
    assert decoded is not None
    assert [event.seq for event in decoded] == [1]
    for store in (writer, reader):
        await store.close()


@pytest.mark.parametrize("kind", ["pooler", "other"])
async def test_a_direct_address_that_cannot_be_used_is_named(
    database: PostgresServer, pooler: PgBouncer, name: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = pooler.url_of(name) if kind == "pooler" else database.url
    store = PostgresStore(pooler.url_of(name), news_url=wrong)
    heard: asyncio.Queue[News] = asyncio.Queue()
    with caplog.at_level(logging.WARNING, "heald.store"):
        store.subscribe_news(heard.put_nowait)
        await _next(heard, "lost")  # it polls
    reason = "has no session mode" if kind == "pooler" else "is not the database of the store"
    assert reason in caplog.text
    assert "test" not in caplog.text  # the password
    await store.close()


async def test_a_pooler_in_session_mode_carries_notices(
    database: PostgresServer, pooler: PgBouncer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with running_pgbouncer(database, mode="session", sessions=40) as sessions:
        store = PostgresStore(pooler.url_of(name), news_url=sessions.url_of(name))
        heard: asyncio.Queue[News] = asyncio.Queue()
        with caplog.at_level(logging.WARNING, "heald.store"):
            store.subscribe_news(heard.put_nowait)
            await _next(heard, "lost")
        assert not caplog.text
        await store.put_record("token", "ann", b"1")
        await _next(heard, "records")
        await store.close()


async def test_a_setting_that_the_pooler_refuses_is_named(pooler: PgBouncer) -> None:
    store = PostgresStore(f"{pooler.url}?search_path=heald")
    with pytest.raises(StoreError, match=r"refuses the setting search_path; remove it .* ALTER ROLE"):
        await store.info("ses_a")
    await store.close()


async def test_the_store_outlives_a_restart_of_the_pooler(database: PostgresServer, name: str) -> None:
    with running_pgbouncer(database) as pooler:
        store = PostgresStore(pooler.url_of(name))
        lease = await leased(store)
        await store.append(lease, events("ses_a", 1, 2))
        pooler.stop()
        waiting = asyncio.create_task(store.append(lease, events("ses_a", 3, 2)))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        pooler.start()
        await waiting
        assert [event.seq for event in await store.read("ses_a")] == [1, 2, 3, 4]
        await store.close()


async def _next(heard: "asyncio.Queue[News]", topic: str) -> News:
    """The next news of a topic."""
    async with asyncio.timeout(60):
        while True:
            news = await heard.get()
            if news.topic == topic:
                return news
