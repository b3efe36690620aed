"""Replaces the clocks, the driver and the thread of heartbeats in the modules of nodes during a simulation."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from benchmarks.nodes.simulation.driver import SimulatedDriver
from benchmarks.nodes.simulation.virtual_loop import VirtualStop
from heald_nodes.postgres import address, log, pool, sharing
from heald_nodes.postgres.address import PostgresAddress
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.heartbeat import HeartbeatThread
from heald_nodes.postgres.pool import PostgresPool
from heald_nodes.postgres.schema import PACKED_SCHEMA
from heald_nodes.postgres.store import PostgresStore
from heald_server import open_sessions

_PAGE_CHUNKS = 4
"""Chunks that are read together: few, so that short logs have several pages."""


T = TypeVar("T")


class SimulatedHeartbeats(HeartbeatThread):
    """The thread of heartbeats, as a task. The code of its heartbeats is the real one."""

    def __init__(self, address: PostgresAddress, node: str, is_alive: Callable[[], bool]) -> None:
        self._address = address
        self._node = node
        self._is_alive = is_alive
        self._stopped = VirtualStop()  # pyright: ignore[reportIncompatibleVariableOverride, reportAttributeAccessIssue]
        self._task = asyncio.ensure_future(self._beat_for_ever())


def _only_if_migrating(
    driver: SimulatedDriver, action: Callable[[PostgresConnection], Awaitable[T]], otherwise: T
) -> Callable[[PostgresConnection], Awaitable[T]]:
    """Return an action on a connection that only schedules with a migration need."""

    async def act_or_assume(connection: PostgresConnection) -> T:
        return await action(connection) if driver.migrates else otherwise

    return act_or_assume


def _prepare_with(driver: SimulatedDriver) -> Callable[[PostgresPool, PostgresConnection], Awaitable[None]]:
    """Return what a pool does on its first connection. Its migration is seven statements, which few schedules need."""
    prepare = PostgresPool._prepare  # pyright: ignore[reportPrivateUsage]

    async def prepare_or_assume(pool: PostgresPool, connection: PostgresConnection) -> None:
        if driver.migrates:
            await prepare(pool, connection)
        else:
            pool.schema, pool.service, pool.readable_by, pool.is_utf8 = "public", "simulated", PACKED_SCHEMA, True

    return prepare_or_assume


def _same_store(store: PostgresStore) -> PostgresStore:
    return store


@contextmanager
def simulated_world(driver: SimulatedDriver, now: Callable[[], float]) -> Generator[None]:
    """Have the real code see a simulated database and a virtual clock."""
    replaced: list[tuple[Any, str, object]] = [
        (address, "asyncpg", driver),
        (address, "_is_pooled", _only_if_migrating(driver, address._is_pooled, False)),  # pyright: ignore[reportPrivateUsage]
        (pool, "asyncpg", driver),
        (sharing, "HeartbeatThread", SimulatedHeartbeats),
        (sharing, "_clean", _only_if_migrating(driver, sharing._clean, None)),  # pyright: ignore[reportPrivateUsage]
        (log, "_PAGE_CHUNKS", _PAGE_CHUNKS),
        (PostgresPool, "_prepare", _prepare_with(driver)),
        (open_sessions, "as_shared", _same_store),  # which compares all methods of a store with the protocol
    ]
    for name, module in list(sys.modules.items()):
        is_ours = name.startswith(("heald.", "heald_server.", "heald_nodes."))
        if is_ours and getattr(module, "monotonic", None) is time.monotonic:
            replaced.append((module, "monotonic", now))
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, replacement in replaced:
        setattr(module, name, replacement)
    try:
        yield
    finally:
        for module, name, original in before:
            setattr(module, name, original)
