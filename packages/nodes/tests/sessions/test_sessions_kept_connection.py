"""The connection of the commits of a node: it is kept from one commit to the next, and replaced when it breaks."""

from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

import pytest

from heald.core.events import TextDelta
from heald_nodes.postgres import kept_connection
from heald_nodes.postgres.address import PostgresAddress
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.kept_connection import KeptConnection
from heald_nodes.postgres.pool import PostgresPool
from heald_nodes.postgres.store import PostgresStore
from sessions_bench import event, leased, log_of


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[PostgresPool]:
    made = PostgresPool(PostgresAddress(postgres_url), size=1)
    yield made
    await made.close()


async def backend_of(connection: PostgresConnection) -> int:
    return await connection.fetchval("SELECT pg_backend_pid()")


async def test_it_is_the_same_connection_until_a_block_fails(pool: PostgresPool) -> None:
    kept = KeptConnection(pool)
    async with kept as first:
        pass
    async with kept as second:
        assert second is first
        backend = await backend_of(second)
    with pytest.raises(TimeoutError):
        async with kept:
            raise TimeoutError  # the answer of a statement may still come
    async with kept as third:
        assert await backend_of(third) != backend
    await kept.release()
    async with pool.connection() as borrowed:  # the only one of the pool
        assert await backend_of(borrowed) != backend


async def test_one_that_was_idle_for_long_is_replaced(pool: PostgresPool, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptConnection(pool)
    async with kept as first:
        backend = await backend_of(first)
    monkeypatch.setattr(kept_connection, "IDLE_SECONDS", 0.0)
    async with kept as second:
        assert await backend_of(second) != backend
    await kept.release()


async def test_commits_go_on_after_their_connection_was_ended(postgres_url: str) -> None:
    store = PostgresStore(postgres_url, node="one")
    lease = await leased(store)
    asyncpg: Any = import_module("asyncpg")
    observer = await asyncpg.connect(postgres_url)
    log = [event("ses_a", seq, TextDelta(0, "msg_a.0", f"word {seq}")) for seq in range(1, 7)]
    for stored in log:
        await store.append(lease, [stored])
        if stored.seq % 2:
            await observer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                " AND datname = current_database() AND query LIKE '%UPDATE sessions s SET last_seq%'"
            )
    assert await log_of(store, "ses_a") == log
    await observer.close()
    await store.close()
