"""Chunks of rows in PostgreSQL: they are short, can be read from any cursor, and wait until no older node is left."""

import random
from collections.abc import AsyncIterator, Sequence
from importlib import import_module
from typing import Any

import pytest

from heald.core.envelope import Event
from heald.core.events import InputJsonDelta, TextDelta, ThinkingDelta
from heald.sessions.leases import Lease
from heald.sessions.store_errors import Fenced, StoreCorrupt, StoreError
from heald_nodes.postgres import migration, schema
from heald_nodes.postgres.chunks import ROWS, ROWS_ZLIB
from heald_nodes.postgres.store import PostgresStore
from sessions_bench import event, events, leased, log_of


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[PostgresStore]:
    made = PostgresStore(postgres_url, node="one")
    yield made
    await made.close()


async def execute(postgres_url: str, query: str, *values: object) -> list[Any]:
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    try:
        return await connection.fetch(query, *values)
    finally:
        await connection.close()


async def codecs(postgres_url: str) -> list[int]:
    return [row[0] for row in await execute(postgres_url, "SELECT codec FROM chunks ORDER BY session, last_seq")]


def deltas(first: int, count: int, text: str = "a word ", block: str = "msg_a.0") -> list[Event]:
    return [event("ses_a", seq, TextDelta(0, block, text)) for seq in range(first, first + count)]


async def append_in_parts(store: PostgresStore, lease: Lease, log: Sequence[Event], count: int) -> None:
    for start in range(0, len(log), count):
        await store.append(lease, log[start : start + count])


async def test_a_delta_costs_few_bytes_also_in_short_appends(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    await append_in_parts(store, lease, deltas(1, 300), 3)
    ((count, size),) = await execute(postgres_url, "SELECT count(*), sum(length(body)) FROM chunks")
    ((rest,),) = await execute(postgres_url, "SELECT length(tail) FROM sessions")
    assert count < 20
    assert 0 < (size + rest) / 300 < 15


async def test_a_log_of_rows_is_read_from_any_cursor_by_another_process(
    store: PostgresStore, postgres_url: str
) -> None:
    source = random.Random(7)
    log: list[Event] = []
    for seq in range(1, 200):
        block = f"msg_a.{seq // 40}"
        payloads = (
            TextDelta(0, block, source.choice(["word", 'quote " and \\', "line\nbreak\t", "日本", "\U0001f600", "\0"])),
            ThinkingDelta(0, block, "thought"),
            InputJsonDelta(0, block, '{"a"'),
            None,
        )
        log.append(event("ses_a", seq, source.choices(payloads, [9, 1, 1, 1])[0]))
    lease = await leased(store)
    start = 0
    while start < len(log):
        count = source.randint(1, 7)
        await store.append(lease, log[start : start + count])
        start += count
    for after in range(0, 199, 9):
        other = PostgresStore(postgres_url)
        assert list(await other.read("ses_a", after=after)) == log[after:]
        await other.close()
        other = PostgresStore(postgres_url)
        assert list((await other.read_many({"ses_a": after}))["ses_a"]) == log[after:]
        assert list(await other.read("ses_a", after=after + 1, upto=after + 2)) == log[after + 1 : after + 2]
        await other.close()


async def test_a_run_whose_anchor_is_missing_is_reported(store: PostgresStore, postgres_url: str) -> None:
    lease = await leased(store)
    await store.append(lease, deltas(1, 2, "a long text " * 50))
    await append_in_parts(store, lease, deltas(3, 4), 2)
    await execute(postgres_url, "UPDATE chunks SET body = 'rubbish' WHERE first_seq = 1")
    other = PostgresStore(postgres_url)
    with pytest.raises(StoreCorrupt, match="event 3"):
        await other.read("ses_a", after=2)
    await other.close()


async def test_a_refused_append_is_no_anchor(store: PostgresStore) -> None:
    lease = await leased(store)
    with pytest.raises(StoreError, match="continues with 1"):
        await store.append(lease, deltas(5, 2))
    with pytest.raises(StoreError, match="continues with 1"):
        await store.append(lease, deltas(2, 1, block="msg_b.0"))
    log = [*events("ses_a", 1, 2), *deltas(3, 7, block="msg_b.0")]
    await append_in_parts(store, lease, log, 3)
    assert await log_of(store, "ses_a") == log
    newer = await store.acquire("ses_a", "other", force=True)
    with pytest.raises(Fenced):
        await store.append(lease, deltas(10, 2))
    later = [event("ses_a", seq, TextDelta(0, "msg_a.0", "later"), epoch=newer.epoch) for seq in range(10, 16)]
    await append_in_parts(store, newer, later, 2)
    assert (await log_of(store, "ses_a"))[9:] == later


async def test_rows_wait_until_no_older_node_is_left(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = PostgresStore(postgres_url)
    await first.list()  # makes the tables
    await first.close()
    await execute(postgres_url, "UPDATE schema_version SET readable_by = 3")  # as an older Heald has made them
    await execute(
        postgres_url,
        "INSERT INTO nodes (name, expires, folders, room, version)"
        " VALUES ('old', extract(epoch FROM clock_timestamp()) + 3, '{}', 1, '0')",
    )
    store = PostgresStore(postgres_url, node="new")
    lease = await leased(store)
    for _ in range(3):
        await store.heartbeat()
    await append_in_parts(store, lease, deltas(1, 6), 3)
    assert set(await codecs(postgres_url)).isdisjoint({ROWS, ROWS_ZLIB})
    await execute(postgres_url, "DELETE FROM nodes WHERE name = 'old'")  # it ends, as the upgrade goes on
    await store.heartbeat()
    await append_in_parts(store, lease, deltas(7, 3), 3)
    assert set(await codecs(postgres_url)).isdisjoint({ROWS, ROWS_ZLIB})
    assert await execute(postgres_url, "SELECT tail FROM sessions") == [(b"",)]
    await store.heartbeat()
    await append_in_parts(store, lease, deltas(10, 9, "a long text " * 40), 3)
    assert set((await codecs(postgres_url))[3:]) == {ROWS_ZLIB}
    await append_in_parts(store, lease, deltas(19, 2), 1)
    assert await execute(postgres_url, "SELECT tail_after FROM sessions WHERE tail <> ''") == [(18,)]
    log = [*deltas(1, 9), *deltas(10, 9, "a long text " * 40), *deltas(19, 2)]
    assert await log_of(store, "ses_a") == log
    await store.close()
    monkeypatch.setattr(schema, "KNOWN", schema.ROWS_SCHEMA - 1)
    older = PostgresStore(postgres_url)
    with pytest.raises(StoreError, match="newer Heald"):
        await older.list()
    await older.close()


async def test_a_later_migration_does_not_let_an_older_heald_in(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = PostgresStore(postgres_url)
    await first.list()
    await first.close()
    newest = schema.KNOWN + 1
    later = schema.PostgresMigration(newest, 3, ("CREATE TABLE later (id integer)",))
    monkeypatch.setattr(migration, "MIGRATIONS", (*schema.MIGRATIONS, later))
    monkeypatch.setattr(schema, "KNOWN", newest)
    second = PostgresStore(postgres_url)
    await second.list()
    assert second.writes_rows
    await second.close()
    assert await execute(postgres_url, "SELECT readable_by FROM schema_version WHERE version = $1", newest) == [
        (schema.PACKED_SCHEMA,)
    ]


async def test_a_node_of_a_newer_heald_under_an_old_name_writes_rows(store: PostgresStore, postgres_url: str) -> None:
    await store.list()
    await execute(postgres_url, "UPDATE schema_version SET readable_by = 3")
    await execute(
        postgres_url,
        "INSERT INTO nodes (name, expires, folders, room, version)"
        " VALUES ('one', extract(epoch FROM clock_timestamp()) + 3, '{}', 1, '0')",
    )
    upgraded = PostgresStore(postgres_url, node="one")
    for _ in range(3):
        await upgraded.heartbeat()
    assert upgraded.writes_rows
    await upgraded.close()


async def test_events_that_are_not_deltas_are_rows_of_their_own(store: PostgresStore) -> None:
    lease = await leased(store)
    log = [*events("ses_a", 1, 2), *deltas(3, 4), *events("ses_a", 7, 1), *deltas(8, 3, block="msg_b.0")]
    await store.append(lease, log)
    await store.append(lease, deltas(11, 2, block="msg_b.0"))
    assert await log_of(store, "ses_a") == [*log, *deltas(11, 2, block="msg_b.0")]
