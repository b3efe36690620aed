"""The contracts of a store, and of one that nodes share, on two PostgreSQL databases."""

from collections.abc import AsyncIterator

import pytest

from heald.sessions.shared_store import SharedStore
from heald_nodes.postgres.routed_store import open_routed
from postgres_schema import own_schema
from shared_store_contract import *  # noqa: F403
from store_contract import *  # noqa: F403


@pytest.fixture
async def store(postgres_server: str) -> AsyncIterator[SharedStore]:
    async with own_schema(postgres_server) as first, own_schema(postgres_server) as second:
        made = open_routed([first, second])
        yield made
        await made.close()
