"""The contracts that hold for PostgreSQL, on the simulated database: the store behaves the same on both."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from benchmarks.nodes.simulation.database import SimulatedDatabase
from benchmarks.nodes.simulation.driver import SimulatedDriver
from benchmarks.nodes.simulation.patches import simulated_world

from heald.sessions.shared_store import SharedStore
from heald_nodes.postgres.store import PostgresStore
from shared_store_contract import *  # noqa: F403
from store_contract import *  # noqa: F403


@pytest.fixture
async def store() -> AsyncIterator[SharedStore]:
    clock = asyncio.get_running_loop().time
    database = SimulatedDatabase(clock)
    database.reset()
    with simulated_world(SimulatedDriver(database), clock):
        simulated = PostgresStore("postgresql://one@simulated/heald")
        yield simulated
        await simulated.close()
