"""Several nodes on one PostgreSQL: leases that live with their node, claims, commands, news, and lost connections."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from typing import Any
from urllib.parse import quote

import pytest

from heald.core.events import UserMessage
from heald.core.messages import user_message
from heald.sessions.news import News
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import NODE_SECONDS, NotAnswered, NotHeld
from heald.sessions.store_errors import Fenced, SessionBusy, StoreError
from heald_nodes.postgres.driver_errors import StoreUnreachable
from heald_nodes.postgres.store import PostgresStore
from postgres_server import PASSWORD, PostgresServer, running_postgres
from sessions_bench import event, events, leased, log_of

MakeStore = Callable[[str], PostgresStore]


@pytest.fixture
async def node(postgres_url: str) -> AsyncIterator[MakeStore]:
    """Makes nodes of one store."""
    made: list[PostgresStore] = []

    def make(name: str) -> PostgresStore:
        made.append(PostgresStore(postgres_url, node=name))
        return made[-1]

    yield make
    for store in made:
        await store.close()


async def expire(postgres_url: str, name: str) -> None:
    """Let the heartbeats of a node be as old as those of a dead one."""
    await set_age(postgres_url, name, 60.0)


async def set_age(postgres_url: str, name: str, seconds: float) -> None:
    """Let the last heartbeat of a node be some seconds old."""
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("UPDATE service SET beat = extract(epoch FROM clock_timestamp())")
    await connection.execute(
        "UPDATE nodes SET expires = extract(epoch FROM clock_timestamp()) + $2,"
        " lease = (SELECT clock FROM service) + $2 WHERE name = $1",
        name,
        NODE_SECONDS - seconds,
    )
    await connection.close()


async def stall(postgres_url: str, seconds: float) -> None:
    """Let the database have been away for some seconds until now: all that it knows is older by them."""
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("UPDATE service SET beat = beat - $1", seconds)
    await connection.execute("UPDATE nodes SET expires = expires - $1", seconds)
    await connection.close()


async def wait_for(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


# --- leases of nodes -------------------------------------------------------------------------------------------------


async def test_the_lease_of_a_living_node_lasts_without_renewal(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    lease = await leased(node_one)
    assert lease.expires == float("inf")
    assert await node_one.renew(lease) is lease
    with pytest.raises(SessionBusy):
        await node_two.acquire("ses_a", "other")
    assert await node_two.find_holder("ses_a") == "one"


async def test_the_sessions_of_a_dead_node_are_claimed_and_it_writes_nothing_more(
    node: MakeStore, postgres_url: str
) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 2), work="running")
    assert await node_two.claim_work(5) == []
    await expire(postgres_url, "one")
    assert await node_two.claim_work(5) == ["ses_a"]
    await node_one.heartbeat()  # it was only frozen
    with pytest.raises(Fenced):
        await node_one.append(lease, events("ses_a", 3, 1))
    assert len(await log_of(node_two, "ses_a")) == 2
    other = await node_two.acquire("ses_a", "two")
    await node_two.append(other, events("ses_a", 3, 1, epoch=other.epoch))


async def test_a_claimed_session_is_not_claimed_by_another_node_until_it_is_returned(
    node: MakeStore, postgres_url: str
) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="waiting")
    await node_one.release(lease)
    assert await node_one.claim_work(5) == ["ses_a"]
    assert await node_two.claim_work(5) == []
    await node_one.unclaim_work("ses_a")
    assert await node_two.claim_work(5) == []  # a node that cannot open it is not asked at once
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("UPDATE sessions SET not_before = 0")
    await connection.close()
    assert await node_two.claim_work(5) == ["ses_a"]


async def test_a_session_with_a_folder_goes_to_a_node_that_offers_it(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat(folders=["other"])
    await node_two.heartbeat(folders=["site", "other"])
    await node_one.create(SessionInfo(id="ses_a", settings={"workspace": "site"}))
    lease = await node_one.acquire("ses_a", "x")
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    await node_one.release(lease)
    assert await node_one.claim_work(5) == []
    assert await node_two.claim_work(5) == ["ses_a"]


async def test_a_node_that_ends_is_dead_at_once(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    await node_one.end_node()
    assert await node_two.claim_work(5) == ["ses_a"]


async def test_a_wrong_clock_of_a_node_changes_no_lease(node: MakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    node_one, node_two = node("one"), node("two")
    lease = await leased(node_one)
    monkeypatch.setattr("time.time", lambda: 9e9)
    with pytest.raises(SessionBusy):
        await node_two.acquire("ses_a", "late")
    assert abs((await node_two.info("ses_a")).updated - lease.expires) < 60


async def test_heartbeats_and_claims_are_planned_once(node: MakeStore) -> None:
    store = node("one")
    await store.heartbeat()
    pools = store._control, store._pool  # pyright: ignore[reportPrivateUsage]
    assert [await pool.fetchval("SHOW plan_cache_mode") for pool in pools] == ["force_generic_plan", "auto"]


# --- group commit ----------------------------------------------------------------------------------------------------


async def test_the_appends_of_a_moment_are_few_commits(node: MakeStore) -> None:
    node_one = node("one")
    leases = [await leased(node_one, f"ses_{number}") for number in range(100)]
    for first in (1, 3, 5):
        await asyncio.gather(*(node_one.append(lease, events(lease.session, first, 2)) for lease in leases))
    assert node_one.commits <= 6
    for lease in leases:
        assert [stored.seq for stored in await log_of(node_one, lease.session)] == [1, 2, 3, 4, 5, 6]


async def test_appends_of_one_session_at_the_same_moment_keep_their_order(node: MakeStore) -> None:
    node_one = node("one")
    lease = await leased(node_one)
    await asyncio.gather(*(node_one.append(lease, events("ses_a", 1 + 2 * n, 2)) for n in range(10)))
    assert [stored.seq for stored in await log_of(node_one, "ses_a")] == list(range(1, 21))


async def test_deltas_cost_few_bytes(node: MakeStore, postgres_url: str) -> None:
    node_one = node("one")
    lease = await leased(node_one)
    for first in range(1, 401, 20):
        await node_one.append(lease, events("ses_a", first, 20))
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    rows, size = await connection.fetchrow("SELECT count(*), sum(length(body)) FROM chunks")
    await connection.close()
    assert rows == 20
    assert size / 400 < 60


async def test_a_damaged_chunk_is_reported_with_its_event(node: MakeStore, postgres_url: str) -> None:
    node_one = node("one")
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 30))
    await node_one.append(lease, events("ses_a", 31, 30))
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("UPDATE chunks SET body = 'rubbish' WHERE first_seq = 31")
    with pytest.raises(StoreError, match="event 31"):
        await node_one.read("ses_a")
    await connection.execute("DELETE FROM chunks WHERE first_seq = 1")
    with pytest.raises(StoreError, match="event 1"):
        await node_one.read("ses_a", upto=30)
    await connection.close()


async def test_titles_and_names_that_the_database_cannot_store(node: MakeStore) -> None:
    node_one = node("one")
    await node_one.create(SessionInfo(id="ses_a", title="a\0b\ud800c"))
    assert (await node_one.info("ses_a")).title == "a\ufffdb\ufffdc"
    with pytest.raises(StoreError):
        await node_one.info("ses_\0")
    lease = await node_one.acquire("ses_a", "x")
    await node_one.append(lease, [event("ses_a", 1, UserMessage(user_message("a\0b")))])
    assert (await log_of(node_one, "ses_a"))[0].data == UserMessage(user_message("a\0b"))


# --- commands --------------------------------------------------------------------------------------------------------


async def test_a_command_reaches_the_holder_and_its_reply_the_sender(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    await leased(node_one)
    arrived = asyncio.Event()
    node_one.subscribe_news(lambda news: arrived.set() if news.topic == "commands" else None)
    await asyncio.sleep(0.3)
    posted = asyncio.create_task(node_two.post_command("ses_a", b'"cancel"', seconds=10))
    async with asyncio.timeout(60):
        await arrived.wait()
    assert await node_two.read_commands() == []
    (command,) = await node_one.read_commands()
    assert (command.session, command.body) == ("ses_a", b'"cancel"')
    assert await node_one.read_commands() == []
    await node_one.reply_command(command.id, b'"done"')
    assert await posted == b'"done"'


async def test_a_command_for_a_session_without_holder_is_withdrawn(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    lease = await leased(node_one)
    await node_one.release(lease)
    with pytest.raises(NotHeld):
        await node_two.post_command("ses_a", b"1", seconds=5)
    assert await node_one.read_commands() == []


async def test_the_command_of_a_dead_holder_is_done_by_the_next(node: MakeStore, postgres_url: str) -> None:
    node_one, node_two, node_three = node("one"), node("two"), node("three")
    for store in (node_one, node_two, node_three):
        await store.heartbeat()
    await leased(node_one)
    posted = asyncio.create_task(node_three.post_command("ses_a", b"1", seconds=20))
    accepted: list[object] = []
    async with asyncio.timeout(60):
        while not accepted:
            accepted += await node_one.read_commands()
            await asyncio.sleep(0.05)
    await node_two.acquire("ses_a", "two", force=True)
    await expire(postgres_url, "one")
    (command,) = await node_two.read_commands()
    await node_two.reply_command(command.id, b"2")
    assert await posted == b"2"


async def test_a_command_that_nobody_answers_ends(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await leased(node_one)
    with pytest.raises(NotAnswered):
        await node_two.post_command("ses_a", b"1", seconds=0.6)


# --- spending --------------------------------------------------------------------------------------------------------


async def test_a_payment_whose_answer_was_lost_counts_once(node: MakeStore) -> None:
    node_one, node_two = node("one"), node("two")
    for store in (node_one, node_one, node_two):
        await store.record_spending("ann", tokens=10, usd=0.5, payment="evt_1")
    spent = await node_two.read_spending("ann", seconds=3600)
    assert (spent.tokens, spent.usd) == (10, 0.5)


# --- a database that restarts ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


async def test_appends_survive_a_crash_of_the_database(own_server: PostgresServer) -> None:
    store = PostgresStore(own_server.url, node="one")
    try:
        lost: list[News] = []
        store.subscribe_news(lambda news: lost.append(news) if news.topic == "lost" else None)
        leases = [await leased(store, f"ses_crash_{number}") for number in range(10)]
        await wait_for(lambda: len(lost) == 1)
        stop = asyncio.Event()

        async def write(session: str, index: int) -> int:
            seq = 1
            while not stop.is_set():
                await store.append(leases[index], events(session, seq, 3))
                seq += 3
                await asyncio.sleep(0.001)
            return seq - 1

        writers = [asyncio.create_task(write(lease.session, n)) for n, lease in enumerate(leases)]
        for _ in range(2):
            await asyncio.sleep(0.3)
            await asyncio.to_thread(own_server.stop, kill=True)
            await asyncio.to_thread(own_server.start)
        await asyncio.sleep(0.5)
        stop.set()
        async with asyncio.timeout(60):
            ends = await asyncio.gather(*writers)
        for lease, end in zip(leases, ends, strict=True):
            assert [stored.seq for stored in await log_of(store, lease.session)] == list(range(1, end + 1))
        await wait_for(lambda: len(lost) >= 2)
    finally:
        await store.close()


async def test_a_node_that_was_cut_off_judges_nobody_dead(own_server: PostgresServer) -> None:
    node_one, node_two = PostgresStore(own_server.url, node="one"), PostgresStore(own_server.url, node="two")
    try:
        await node_one.heartbeat()
        await node_two.heartbeat()
        lease = await leased(node_one, "ses_cut_off")
        await node_one.append(lease, events("ses_cut_off", 1, 1), work="running")
        await asyncio.to_thread(own_server.stop)
        await asyncio.sleep(3.2)
        await asyncio.to_thread(own_server.start)
        await node_two.heartbeat()
        assert await node_two.claim_work(5) == []
        await node_one.heartbeat()
        await node_one.append(lease, events("ses_cut_off", 2, 1))
    finally:
        await node_one.close()
        await node_two.close()


@pytest.mark.parametrize("seconds", [1.0, 2.0, 3.0, 4.0, 20.0, 3600.0])
async def test_a_stall_of_the_database_kills_no_node(node: MakeStore, postgres_url: str, seconds: float) -> None:
    """Whichever query runs first when it is back: those of claims and of opening judge before any heartbeat."""
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    await stall(postgres_url, seconds)
    assert await node_two.claim_work(5) == []
    assert await node_two.find_holder("ses_a") == "one"
    with pytest.raises(SessionBusy):
        await node_two.acquire("ses_a", "other")
    assert [info.name for info in await node_two.list_nodes()] == ["one", "two"]
    await node_two.heartbeat()
    assert await node_two.claim_work(5) == []
    await node_one.append(lease, events("ses_a", 2, 1))


async def test_a_node_that_dies_in_a_stall_is_replaced_after_it(node: MakeStore, postgres_url: str) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    await stall(postgres_url, 20.0)
    await node_two.heartbeat()
    assert await node_two.claim_work(5) == []
    for _ in range(4):
        await stall(postgres_url, 1.0)  # so long as between two heartbeats
        await node_two.heartbeat()
    assert await node_two.claim_work(5) == ["ses_a"]


async def test_a_node_that_is_dead_itself_claims_nothing(node: MakeStore, postgres_url: str) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    for name in ("one", "two"):
        await expire(postgres_url, name)
    assert await node_one.claim_work(5) == []
    assert await node_two.claim_work(5) == []
    await node_one.heartbeat()
    assert await node_one.claim_work(5) == []  # what it holds itself
    await expire(postgres_url, "one")
    await node_two.heartbeat()
    assert await node_two.claim_work(5) == ["ses_a"]


async def test_a_claim_that_its_node_forgot_ends(node: MakeStore, postgres_url: str) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="waiting")
    await node_one.release(lease)
    assert await node_one.claim_work(5) == ["ses_a"]
    assert await node_two.claim_work(5) == []
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("UPDATE sessions SET not_before = not_before - 10")
    await connection.close()
    assert await node_two.claim_work(5) == ["ses_a"]
    held = await node_two.acquire("ses_a", "two")
    await node_two.release(held)
    assert await node_one.claim_work(5) == ["ses_a"]  # at once: it was opened meanwhile


async def test_a_process_that_is_no_node_opens_what_all_nodes_left(node: MakeStore, postgres_url: str) -> None:
    node_one, command = node("one"), node("command")
    await node_one.heartbeat()
    await leased(node_one)
    await stall(postgres_url, 5.0)
    with pytest.raises(SessionBusy):
        await command.acquire("ses_a", "other")
    await stall(postgres_url, 10.0)
    await command.acquire("ses_a", "other")


@pytest.mark.parametrize(
    ("age", "connected", "dead"), [(2.0, False, True), (2.0, True, False), (0.5, False, False), (3.5, True, True)]
)
async def test_a_node_whose_heartbeats_lost_their_connection_is_dead_sooner(
    node: MakeStore, postgres_url: str, age: float, connected: bool, dead: bool
) -> None:
    node_one, node_two = node("one"), node("two")
    await node_one.heartbeat()
    await node_two.heartbeat()
    lease = await leased(node_one)
    await node_one.append(lease, events("ses_a", 1, 1), work="running")
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    await set_age(postgres_url, "one", age)
    await connection.execute(
        "UPDATE nodes SET backend = CASE WHEN $1 THEN pg_backend_pid() ELSE 2000000000 END WHERE name = 'one'",
        connected,
    )
    assert await node_two.claim_work(5) == (["ses_a"] if dead else [])
    await connection.close()


async def test_the_heartbeats_of_a_thread_name_their_connection(node: MakeStore, postgres_url: str) -> None:
    node_one = node("one")
    await node_one.heartbeat()
    end = node_one.support_heartbeat(lambda: True)
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    async with asyncio.timeout(60):
        while not await connection.fetchval(  # noqa: ASYNC110
            "SELECT count(*) FROM nodes n JOIN pg_stat_activity a ON a.pid = n.backend"
        ):
            await asyncio.sleep(0.05)
    end()
    await connection.close()


async def test_a_database_that_cannot_be_reached(own_server: PostgresServer) -> None:
    address = own_server.url.replace(str(own_server.port), "1")
    store = PostgresStore(address, patience=0.2)
    with pytest.raises(StoreUnreachable) as caught:
        await store.info("ses_a")
    assert PASSWORD not in str(caught.value)
    assert quote(PASSWORD) not in str(caught.value)
    await store.close()


# --- the address -----------------------------------------------------------------------------------------------------


async def test_the_password_comes_from_the_environment(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEALD_STORE_PASSWORD", PASSWORD)
    store = PostgresStore(own_server.bare_url)
    assert (await store.list()).sessions is not None
    await store.close()
    monkeypatch.setenv("HEALD_STORE_PASSWORD", "wrong")
    store = PostgresStore(own_server.bare_url, patience=0.2)
    with pytest.raises(StoreError, match="refuses the user or password"):
        await store.list()
    await store.close()
