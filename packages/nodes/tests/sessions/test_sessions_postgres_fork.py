"""The contract of forks and signed exports, on PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from fork_contract import *  # noqa: F403
from heald.sessions.shared_store import SharedStore
from heald_nodes.postgres.store import PostgresStore
from postgres_schema import own_schema


@pytest.fixture
async def store(postgres_server: str) -> AsyncIterator[SharedStore]:
    async with own_schema(postgres_server) as url:
        made = PostgresStore(url)
        yield made
        await made.close()
