"""A node that claims work: what it does when a claimed session cannot be opened, and what it logs meanwhile."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

import heald
from heald.core.events import ConversationQueued
from heald.core.messages import user_message
from heald.sessions.memory import MemoryStore
from heald.sessions.one_node import OneNodeStore
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.shared_store import RETRY_CLAIM_SECONDS
from heald.sessions.store_errors import StoreError, StoreFull
from heald_server.cluster import store_placement
from heald_server.cluster.node import ServerNode
from heald_server.cluster.store_placement import StorePlacement
from heald_server.open_sessions import OpenSessions
from heald_server.settings import ServerSettings

SESSION = "ses_waits"


class TroubledStore(OneNodeStore):
    """Notes for how long sessions are returned, and fails to claim as often as requested."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.returned: list[float] = []
        self.claims = 0
        self.failures: list[StoreError] = []

    async def claim_work(self, limit: int) -> Sequence[str]:
        self.claims += 1
        if self.failures:
            raise self.failures.pop(0)
        return await super().claim_work(limit)

    async def unclaim_work(self, session: str, *, seconds: float = RETRY_CLAIM_SECONDS, forget: bool = False) -> None:
        self.returned.append(seconds)
        await super().unclaim_work(session, seconds=0.0, forget=forget)


async def queue_request(store: OneNodeStore) -> None:
    """Store a request that waits for a node."""
    await Sessions(store).create(session=SESSION)
    session = await Sessions(store).open(SESSION, model=heald.testing.ScriptedModel(["x"]))
    session.publish(ConversationQueued(request="ex_1", position=1, message=user_message("Go.")))
    await session.flush()
    await session.close()
    lease = await store.acquire(SESSION, "holder")
    await store.append(lease, [], work="waiting")
    await store.release(lease)


@asynccontextmanager
async def running_node(store: OneNodeStore, failures: list[Exception]) -> AsyncGenerator[OpenSessions]:
    async def options(info: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
        if failures:
            raise failures.pop(0)
        return {"model": heald.testing.ScriptedModel(["Done."])}

    sessions = OpenSessions(Sessions(store), options, after_crash="continue")
    node = ServerNode(store, sessions, folders=(), settings=ServerSettings(), placement=StorePlacement())
    await node.start()
    try:
        yield sessions
    finally:
        await sessions.close(0.0)
        await node.stop()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_placement, "CLAIM_SECONDS", 0.01)


async def test_a_session_that_cannot_be_opened_is_tried_soon_and_then_less_often() -> None:
    store = TroubledStore()
    await queue_request(store)
    async with running_node(store, [StoreError("Away.") for _ in range(7)]), asyncio.timeout(60):
        while (await store.info(SESSION)).work != "idle":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert store.returned == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]


async def test_a_full_disk_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "heald_server.cluster.node")
    store = TroubledStore()
    store.failures = [StoreFull("No room."), StoreFull("No room."), StoreFull("No room."), StoreError("Other.")]
    async with running_node(store, []), asyncio.timeout(60):
        while store.claims < 8:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    lines = [record.getMessage() for record in caplog.records if "claimed" in record.getMessage()]
    assert lines == [
        "no work can be claimed: No room.",
        "no work can be claimed: Other.",
        "over: no work can be claimed",
    ]
