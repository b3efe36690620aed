"""The tails of logs in PostgreSQL: short appends gather in the row of their session until they are a chunk."""

import asyncio
import random
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

import pytest

from heald.core.envelope import Event
from heald.core.events import TextDelta
from heald.sessions.store_errors import Fenced, StoreCorrupt, StoreError
from heald_nodes.postgres import log_tails, migration, schema
from heald_nodes.postgres.log_tails import TAIL_BYTES
from heald_nodes.postgres.packed_tail import is_packed
from heald_nodes.postgres.store import PostgresStore
from sessions_bench import event, events, leased, log_of


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[PostgresStore]:
    made = PostgresStore(postgres_url, node="one")
    yield made
    await made.close()


@pytest.fixture
async def other(postgres_url: str) -> AsyncIterator[PostgresStore]:
    made = PostgresStore(postgres_url, node="two")
    yield made
    await made.close()


async def execute(postgres_url: str, query: str, *values: object) -> list[Any]:
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    try:
        return [tuple(row) for row in await connection.fetch(query, *values)]
    finally:
        await connection.close()


async def places(postgres_url: str) -> tuple[list[Any], list[Any]]:
    """The first and last seqs of chunks, and those of tails."""
    return (
        await execute(postgres_url, "SELECT first_seq, last_seq FROM chunks ORDER BY session, last_seq"),
        await execute(postgres_url, "SELECT tail_after + 1, last_seq FROM sessions WHERE tail <> '' ORDER BY key"),
    )


def delta(seq: int, text: str = "a word ", *, block: str = "msg_a.0", epoch: int = 1) -> Event:
    return event("ses_a", seq, TextDelta(0, block, text), epoch=epoch)


async def test_short_appends_are_a_tail_and_then_a_chunk(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    source = random.Random(1)
    log = [delta(seq, f"{source.getrandbits(128):x} ") for seq in range(1, 80)]
    for stored in log:
        await store.append(lease, [stored])
        assert await store.read("ses_a", after=stored.seq - 1) == [stored]
    chunks, tails = await places(postgres_url)
    ends = [*chunks, *tails]
    assert 1 < len(chunks) < 12
    assert [first for first, _ in ends[1:]] == [last + 1 for _, last in ends[:-1]]
    ((size,),) = await execute(postgres_url, "SELECT length(tail) FROM sessions")
    assert 0 < size <= TAIL_BYTES
    assert (await store.info("ses_a")).last_seq == 79


async def test_a_long_append_is_a_chunk_with_the_tail_before_it(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    log = [delta(1), delta(2), delta(3, "a long text " * 100), delta(4)]
    for stored in log:
        await store.append(lease, [stored])
    assert await places(postgres_url) == ([(1, 3)], [(4, 4)])
    assert await log_of(store, "ses_a") == log


async def test_an_append_of_several_rows_keeps_their_order(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    log = [delta(1, "one"), delta(2, "two"), delta(3, "three", block="b"), delta(4, "four", block="b")]
    await store.append(lease, log[:1])
    await store.append(lease, log[1:])
    assert await places(postgres_url) == ([], [(1, 4)])
    assert await log_of(store, "ses_a") == log


async def test_a_tail_is_read_from_any_cursor(store: PostgresStore, other: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    log = [delta(seq, ("a long text " * 100 if seq < 4 else f"word {seq} ")) for seq in range(1, 9)]
    for stored in log:
        await store.append(lease, [stored])
    assert await places(postgres_url) == ([(1, 1), (2, 2), (3, 3)], [(4, 8)])
    for after in range(9):
        assert list(await other.read("ses_a", after=after)) == log[after:]
        assert list((await other.read_many({"ses_a": after})).get("ses_a", ())) == log[after:]
        assert list(await other.read("ses_a", after=after, limit=2)) == log[after : after + 2]
        assert list(await other.read("ses_a", after=after, upto=5)) == log[after:5]


async def test_the_next_writer_continues_the_tail_of_the_last_one(
    store: PostgresStore, other: PostgresStore, postgres_url: str
) -> None:
    lease = await leased(store)
    await store.append(lease, [delta(1)])
    await store.append(lease, [delta(2)])
    newer = await other.acquire("ses_a", "other", force=True)
    with pytest.raises(Fenced):
        await store.append(lease, [delta(3)])
    later = [delta(seq, epoch=newer.epoch) for seq in (3, 4)]
    await other.append(newer, later[:1])
    assert await places(postgres_url) == ([], [(1, 3)])
    await other.append(newer, [*later[1:], delta(5, "a long text " * 100, epoch=newer.epoch)])
    assert await places(postgres_url) == ([(1, 5)], [])
    assert [stored.seq for stored in await log_of(store, "ses_a")] == [1, 2, 3, 4, 5]


async def test_an_append_after_one_that_failed_reads_the_tail(
    store: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer of a commit is lost, so its writer does not know whether the tail has grown."""
    lease = await leased(store)
    await store.append(lease, [delta(1)])
    writer = store._writer  # pyright: ignore[reportPrivateUsage]
    append = writer._append  # pyright: ignore[reportPrivateUsage]

    async def lose_answer(*arguments: Any) -> Any:
        await append(*arguments)
        monkeypatch.undo()
        raise ConnectionResetError

    monkeypatch.setattr(writer, "_append", lose_answer)
    await store.append(lease, [delta(2)])
    await store.append(lease, [delta(3, "a long text " * 100)])
    assert await places(postgres_url) == ([(1, 3)], [])
    assert await log_of(store, "ses_a") == [delta(1), delta(2), delta(3, "a long text " * 100)]


@pytest.mark.parametrize("change", ["tail = tail || ' '", "tail = ''", "tail_after = 1"])
async def test_a_tail_that_is_not_the_known_one_is_not_replaced(
    store: PostgresStore, postgres_url: str, change: str
) -> None:
    lease = await leased(store)
    await store.append(lease, [delta(1)])
    await execute(postgres_url, f"UPDATE sessions SET {change}")
    before = await places(postgres_url)
    with pytest.raises(StoreError, match="read it again"):
        await store.append(lease, [delta(2, "a long text " * 100)])
    assert await places(postgres_url) == before


async def test_a_change_of_work_keeps_the_tail(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    await store.append(lease, [delta(1)], work="running")
    await asyncio.gather(store.append(lease, [], work="idle"), store.append(lease, [delta(2)]))
    assert await places(postgres_url) == ([], [(1, 2)])


async def test_a_thinned_log_has_no_tail(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    log = [delta(1), delta(2), *events("ses_a", 3, 1)]
    for stored in log:
        await store.append(lease, [stored])
    assert (await places(postgres_url))[1] == [(1, 3)]
    await store.release(lease)
    assert await store.thin_out(seconds=-3600) == 1
    assert await places(postgres_url) == ([(1, 3)], [])
    assert [stored.seq for stored in await log_of(store, "ses_a")] == [1, 2, 3]
    newer = await store.acquire("ses_a", "test")
    await store.append(newer, [delta(4, epoch=newer.epoch)])
    assert await places(postgres_url) == ([(1, 3)], [(4, 4)])
    assert [stored.seq for stored in await log_of(store, "ses_a")] == [1, 2, 3, 4]


async def test_a_damaged_tail_is_reported(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    await store.append(lease, [delta(1)])
    await execute(postgres_url, "UPDATE sessions SET tail = 'rubbish'")
    with pytest.raises(StoreCorrupt, match="event 1"):
        await store.read("ses_a")
    await store.release(lease)
    assert await store.thin_out(seconds=-3600) == 1
    assert await execute(postgres_url, "SELECT body FROM chunks") == [(b"rubbish",)]  # it stays as it is
    with pytest.raises(StoreCorrupt, match="event 1"):
        await store.read("ses_a")


async def test_a_session_of_an_older_heald_gets_a_tail(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of the schema before tails is migrated; its log stays, and nodes of that schema may go on."""
    with monkeypatch.context() as earlier:
        earlier.setattr(migration, "MIGRATIONS", schema.MIGRATIONS[: schema.ROWS_SCHEMA])
        earlier.setattr(migration, "PACKED_SCHEMA", schema.ROWS_SCHEMA)
        earlier.setattr(migration, "KNOWN", schema.ROWS_SCHEMA)
        asyncpg: Any = import_module("asyncpg")
        connection = await asyncpg.connect(postgres_url)
        assert await migration.migrate_schema(connection) == schema.ROWS_SCHEMA
    await connection.execute(
        "INSERT INTO sessions (id, owner, kind, title, title_key, created, updated, epoch, settings, draft, last_seq)"
        " VALUES ('ses_a', '', '', '', '', 1, 1, 1, '{}', false, 7)"
    )
    older_append = await connection.prepare("UPDATE sessions SET last_seq = $1 WHERE id = 'ses_a' RETURNING last_seq")
    await older_append.fetch(7)
    store = PostgresStore(postgres_url, node="new")
    assert (await store.info("ses_a")).last_seq == 7
    assert not store.writes_tails
    await older_append.fetch(8)  # a node of the earlier schema still runs
    lease = await store.acquire("ses_a", "test")
    await store.append(lease, [delta(9, epoch=lease.epoch)])
    assert await places(postgres_url) == ([(9, 9)], [])
    for _ in range(2):
        await store.heartbeat()
    assert store.writes_tails
    await store.append(lease, [delta(10, epoch=lease.epoch)])
    assert await places(postgres_url) == ([(9, 9)], [(10, 10)])
    assert [stored.seq for stored in await store.read("ses_a", after=8)] == [9, 10]
    await store.close()
    await connection.close()


async def stored_tail(postgres_url: str, session: str = "ses_a") -> bytes:
    ((tail,),) = await execute(postgres_url, "SELECT tail FROM sessions WHERE id = $1", session)
    return tail


async def test_a_packed_tail_waits_until_no_older_node_is_left(
    store: PostgresStore, other: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes of the schema before packed tails are replaced one by one. A tail that they have begun is read, and becomes
    a chunk."""
    await store.list()  # makes the tables
    await execute(postgres_url, "UPDATE schema_version SET readable_by = $1", schema.TAIL_SCHEMA)
    await execute(
        postgres_url,
        "INSERT INTO nodes (name, expires, folders, room, version, codec)"
        " VALUES ('old', extract(epoch FROM clock_timestamp()) + 3, '{}', 1, '0', 5)",
    )
    upgraded = PostgresStore(postgres_url, node="upgraded")
    lease = await leased(upgraded)
    log = [delta(seq, f"word {seq} ") for seq in range(1, 9)]
    for stored in log[:3]:
        await upgraded.heartbeat()
        await upgraded.append(lease, [stored])
    tail = await stored_tail(postgres_url)
    assert tail.count(b"\n") == 2
    assert not is_packed(tail)
    await execute(postgres_url, "DELETE FROM nodes WHERE name = 'old'")  # it ends, as the upgrade goes on
    for _ in range(2):
        await upgraded.heartbeat()
    for stored in log[3:]:
        await upgraded.append(lease, [stored])
    assert await places(postgres_url) == ([(1, 4)], [(5, 8)])
    assert is_packed(await stored_tail(postgres_url))
    assert await log_of(other, "ses_a") == log
    await upgraded.close()
    monkeypatch.setattr(schema, "KNOWN", schema.TAIL_SCHEMA)
    older = PostgresStore(postgres_url)
    with pytest.raises(StoreError, match="newer Heald"):
        await older.list()
    await older.close()


async def test_a_node_that_may_not_pack_yet_makes_a_chunk_of_a_packed_tail(
    store: PostgresStore, other: PostgresStore, postgres_url: str
) -> None:
    """Nodes learn one after the other that no older one is left."""
    lease = await leased(store)
    await store.append(lease, [delta(1)])
    await execute(postgres_url, "UPDATE schema_version SET readable_by = $1", schema.TAIL_SCHEMA)
    newer = await other.acquire("ses_a", "other", force=True)
    assert not other.packs_tails
    for seq in (2, 3, 4):
        await other.append(newer, [delta(seq, epoch=newer.epoch)])
    assert await places(postgres_url) == ([(1, 2)], [(3, 4)])
    assert not is_packed(await stored_tail(postgres_url))
    assert [stored.seq for stored in await log_of(store, "ses_a")] == [1, 2, 3, 4]


async def test_a_tail_is_continued_by_whoever_has_packed_it_or_not(
    store: PostgresStore, other: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_tails, "_MOST_STREAMS", 1)
    lease = await leased(store)
    second = await leased(store, "ses_b")
    for seq in range(1, 7):
        await store.append(lease, [delta(seq, f"word {seq} ")])
        await store.append(second, [event("ses_b", seq, TextDelta(0, "msg_b.0", f"word {seq} "))])
    newer = await other.acquire("ses_a", "other", force=True)
    await other.append(newer, [delta(7, "word 7 ", epoch=newer.epoch)])
    assert await places(postgres_url) == ([], [(1, 7), (1, 6)])
    assert is_packed(await stored_tail(postgres_url))
    texts = [stored.data.text for stored in await log_of(store, "ses_a") if isinstance(stored.data, TextDelta)]
    assert texts == [f"word {seq} " for seq in range(1, 8)]
    assert [stored.seq for stored in await log_of(other, "ses_b")] == [1, 2, 3, 4, 5, 6]


async def test_a_packed_tail_of_text_that_repeats_becomes_a_chunk_too(
    store: PostgresStore, other: PostgresStore, postgres_url: str
) -> None:
    lease = await leased(store)
    log = [delta(seq, "a" * 700) for seq in range(1, 21)]
    for stored in log:
        await store.append(lease, [stored])
    assert await places(postgres_url) == ([(1, 11)], [(12, 20)])
    assert await log_of(other, "ses_a") == log


async def test_a_damaged_packed_tail_is_reported_and_harms_no_other_session(
    store: PostgresStore, other: PostgresStore, postgres_url: str
) -> None:
    lease = await leased(store)
    for seq in (1, 2):
        await store.append(lease, [delta(seq)])
    await execute(postgres_url, "UPDATE sessions SET tail = overlay(tail PLACING '\\xffff' FROM 3) WHERE id = 'ses_a'")
    with pytest.raises(StoreCorrupt, match="event 1"):
        await store.read("ses_a")
    second = await leased(other, "ses_b")
    newer = await other.acquire("ses_a", "other", force=True)
    await asyncio.gather(
        other.append(newer, [delta(3, epoch=newer.epoch)]), other.append(second, [event("ses_b", 1, None)])
    )
    assert [stored.seq for stored in await log_of(other, "ses_b")] == [1]
    with pytest.raises(StoreCorrupt, match="event 1"):
        await other.read("ses_a")
