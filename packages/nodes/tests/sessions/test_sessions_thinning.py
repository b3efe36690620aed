"""Joining the deltas of finished messages: the log keeps its numbers, its texts and its promises, and is smaller."""

import sqlite3
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from heald.core.envelope import Event
from heald.core.events import InputJsonDelta, TextDelta
from heald.sessions.event_codec import thin_out
from heald.sessions.memory import MemoryStore
from heald.sessions.session import Session
from heald.sessions.shared_store import SharedStore
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store
from heald_check import check_log
from heald_nodes.postgres.store import PostgresStore
from sessions_bench import call, fresh, log_of, look, model


async def talk(store: Store) -> str:
    name = await fresh(store)
    words = ["word "] * 600
    session = await Session.open(store, name, model=model([*words, call("look", n=1)], [*words]), tools=[look])
    await session.run("Talk.")
    await session.close()
    return name


def texts(log: list[Event]) -> dict[str, str]:
    """The text of each block, from its deltas."""
    texts_by_block: dict[str, str] = {}
    for event in log:
        if isinstance(event.data, TextDelta):
            texts_by_block[event.data.block] = texts_by_block.get(event.data.block, "") + event.data.text
        elif isinstance(event.data, InputJsonDelta):
            texts_by_block[event.data.block] = texts_by_block.get(event.data.block, "") + event.data.partial_json
    return texts_by_block


async def test_a_thinned_log_has_the_same_numbers_and_texts() -> None:
    store = MemoryStore()
    log = await log_of(store, await talk(store))
    runs = thin_out(log)
    thin = [event for run in runs for event in run.events()]
    assert len(runs) < len(log) / 5
    assert [event.seq for event in thin] == [event.seq for event in log]
    assert [event.id for event in thin] == [event.id for event in log]
    assert [event.type for event in thin] == [event.type for event in log]
    assert texts(thin) == texts(log)
    assert not check_log(thin)
    assert thin_out(thin) == runs


async def test_old_sessions_are_thinned_out_in_the_database(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    name = await talk(store)
    before = await log_of(store, name)
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(postgres_url)
    size = await connection.fetchval("SELECT sum(length(body)) FROM chunks")
    assert await store.thin_out(seconds=3600) == 0
    await connection.execute("UPDATE sessions SET updated = updated - 7200")
    assert await store.thin_out(seconds=3600) == 1
    assert await store.thin_out(seconds=3600) == 0
    assert await connection.fetchval("SELECT sum(length(body)) FROM chunks") < size / 2
    await connection.close()
    after = await log_of(store, name)
    assert [event.id for event in after] == [event.id for event in before]
    assert texts(after) == texts(before)
    assert not check_log(after)
    middle = len(before) // 2
    assert await store.read(name, after=middle, limit=10) == after[middle : middle + 10]
    session = await Session.open(store, name, model=model("More."), tools=[look])
    await session.run("Go on.")
    await session.close()
    whole = await log_of(store, name)
    assert whole[: len(after)] == after
    assert not check_log(whole)
    await store.close()


async def test_old_sessions_are_thinned_out_in_the_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    name = await talk(store)
    before = await log_of(store, name)
    connection = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    runs = "SELECT sum(length(body)) FROM events WHERE substr(body, 1, 1) = CAST('[' AS BLOB)"  # of deltas
    (size,) = connection.execute(runs).fetchone()
    assert await store.thin_out(seconds=3600) == 0
    connection.execute("UPDATE sessions SET updated = updated - 7200")
    assert await store.thin_out(seconds=3600) == 1
    assert await store.thin_out(seconds=3600) == 0
    (thin,) = connection.execute(runs).fetchone()
    assert thin < size / 50
    after = await log_of(store, name)
    assert [event.id for event in after] == [event.id for event in before]
    assert texts(after) == texts(before)
    assert not check_log(after)
    middle = len(before) // 2
    assert await store.read(name, after=middle, limit=10) == after[middle : middle + 10]
    session = await Session.open(store, name, model=model(["More ", "words."]), tools=[look])
    await session.run("Go on.")
    await session.close()
    whole = await log_of(store, name)
    assert whole[: len(after)] == after
    assert not check_log(whole)
    connection.execute("UPDATE sessions SET updated = updated - 7200")
    assert await store.thin_out(seconds=3600) == 1  # only what was added
    assert (await log_of(store, name))[: len(after)] == after
    connection.close()
    await store.close()
    store = SqliteStore(tmp_path / "s.db")
    assert not check_log(await log_of(store, name))
    await store.close()


async def test_a_damaged_log_is_not_thinned_out(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    await talk(store)
    connection = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    connection.execute("UPDATE events SET body = CAST('{' AS BLOB) WHERE seq = (SELECT max(seq) - 1 FROM events)")
    rows = connection.execute("SELECT * FROM events").fetchall()
    assert await store.thin_out(seconds=-3600) == 1
    assert await store.thin_out(seconds=-3600) == 0
    assert connection.execute("SELECT * FROM events").fetchall() == rows
    connection.close()
    await store.close()


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, postgres_url: str) -> AsyncIterator[SharedStore]:
    store = SqliteStore(tmp_path / "s.db") if request.param == "sqlite" else PostgresStore(postgres_url)
    yield store
    await store.close()


async def test_a_session_with_work_is_not_thinned_out(store: SharedStore) -> None:
    name = await talk(store)
    lease = await store.acquire(name, "writer")
    assert await store.thin_out(seconds=-3600) == 0
    await store.append(lease, [], work="waiting")
    await store.release(lease)
    assert await store.thin_out(seconds=-3600) == 0
