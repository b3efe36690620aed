"""The background tasks of a node: one that fails is started again, and one that hangs makes the node unready."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.turn import Usage
from heald.sessions.commit_clock import clock_of
from heald.sessions.memory import MemoryStore
from heald.sessions.news import News
from heald.sessions.one_node import OneNodeStore
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.shared_store import NodeInfo, PostedCommand
from heald.sessions.store_errors import StoreError
from heald_server.access import usage_meters
from heald_server.access.usage_meters import UsageMeters
from heald_server.cluster import node as cluster_node
from heald_server.cluster import node_tasks, store_placement
from heald_server.cluster.node import ServerNode
from heald_server.cluster.node_tasks import wait_for_event
from heald_server.cluster.store_placement import StorePlacement
from heald_server.open_sessions import OpenSessions
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from sessions_bench import events
from usage_events import response

UNEXPECTED = RuntimeError("got result for unknown protocol state 3")


class FailingStore(OneNodeStore):
    """Fails in every method that the tasks of a node call, as often as requested, with an error that nobody expects."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.failures: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.hangs = asyncio.Event()
        self.hangs.set()

    def _fail(self, name: str) -> None:
        self.calls[name] = self.calls.get(name, 0) + 1
        if self.failures.get(name, 0) > 0:
            self.failures[name] -= 1
            raise UNEXPECTED

    async def heartbeat(self, *, folders: Sequence[str] = (), room: int = 0) -> None:
        self._fail("heartbeat")
        await super().heartbeat(folders=folders, room=room)

    async def list_nodes(self) -> Sequence[NodeInfo]:
        self._fail("list_nodes")
        return await super().list_nodes()

    async def claim_work(self, limit: int) -> Sequence[str]:
        self._fail("claim_work")
        return await super().claim_work(limit)

    async def read_commands(self) -> Sequence[PostedCommand]:
        await self.hangs.wait()
        self._fail("read_commands")
        return await super().read_commands()

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        self._fail("read_many")
        return await super().read_many(cursors)

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None, payment: str = "") -> None:
        self.calls["record_spending"] = self.calls.get("record_spending", 0) + 1
        if self.failures.get("record_spending", 0) > 0:
            self.failures["record_spending"] -= 1
            raise StoreError("Away.")
        await super().record_spending(owner, tokens=tokens, usd=usd, payment=payment)

    def publish(self, news: News) -> None:
        self._news.publish(news)


async def _options(info: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
    return {"model": heald.testing.ScriptedModel(["Done."])}


@asynccontextmanager
async def running_node(store: OneNodeStore) -> AsyncGenerator[tuple[ServerNode, OpenSessions]]:
    sessions = OpenSessions(Sessions(store), _options, after_crash="continue")
    node = ServerNode(store, sessions, folders=(), settings=ServerSettings(), placement=StorePlacement())
    await node.start()
    try:
        yield node, sessions
    finally:
        store_hangs = getattr(store, "hangs", None)
        if store_hangs is not None:
            store_hangs.set()
        await sessions.close(0.0)
        await node.stop()


async def wait_until(store: FailingStore, name: str, calls: int) -> None:
    async with asyncio.timeout(60):
        while store.calls.get(name, 0) < calls:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_placement, "CLAIM_SECONDS", 0.01)
    monkeypatch.setattr(node_tasks, "RESTART_SECONDS", 0.01)


class CrowdedStore(FailingStore):
    """A store with three nodes."""

    async def list_nodes(self) -> Sequence[NodeInfo]:
        (node,) = await super().list_nodes()
        return [node, *(NodeInfo(name=name, folders=(), room=1, version=node.version) for name in ("two", "three"))]


async def test_the_pause_between_commits_knows_the_nodes_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_node, "HEARTBEAT_SECONDS", 0.01)
    store = CrowdedStore()
    clock = clock_of(asyncio.get_running_loop())
    assert clock.nodes == 1
    async with running_node(store):
        await wait_until(store, "list_nodes", 2)
        assert clock.nodes == 3


@pytest.mark.parametrize("name", ["heartbeat", "claim_work", "read_commands", "read_many"])
async def test_a_task_that_fails_is_started_again(name: str, caplog: pytest.LogCaptureFixture) -> None:
    store = FailingStore()
    await Sessions(store).create(session="ses_a")
    async with running_node(store) as (node, sessions):
        hub = sessions.hub("ses_a")
        reader = hub.subscribe()
        hub.tail = 0
        store.failures[name] = 2
        calls = store.calls.get(name, 0)
        async with asyncio.timeout(60):
            while store.calls.get(name, 0) < calls + 4:
                store.publish(News(topic="lost"))
                await asyncio.sleep(0.05)
        lease = await store.acquire("ses_a", "x")
        await store.append(lease, events("ses_a", 1, 3))
        async with asyncio.timeout(60):
            while (hub.tail or 0) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        hub.unsubscribe(reader)
        assert node.is_ready
        assert set(node.task_ages) == {"heartbeat", "commands", "events", "claims"}
    assert any("protocol state" in record.getMessage() or record.exc_info for record in caplog.records)


async def test_a_node_whose_task_hangs_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    store = FailingStore()
    async with running_node(store) as (node, _):
        await wait_until(store, "read_commands", 1)
        assert node.is_ready
        store.hangs.clear()
        store.publish(News(topic="commands"))
        monkeypatch.setattr(node_tasks, "LONGEST_SILENCE", 5.0)
        async with asyncio.timeout(60):
            while node.task_ages["commands"] < 5.0:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert not node.is_ready
        store.hangs.set()
        async with asyncio.timeout(60):
            while not node.is_ready:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_usage_that_could_not_be_stored_is_stored_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(usage_meters, "_RETRY_DELAYS", (0.01,))
    caplog.set_level(logging.WARNING)
    store = FailingStore()
    store.failures["record_spending"] = 3
    meters = UsageMeters(ServerLimits(), store=store)
    meters.usage_reactor("ann", "ses_a")(response("ses_a", Usage(input=60, output=50), 0.5))
    await meters.close()
    spent = await store.read_spending("ann", seconds=3600)
    assert (spent.tokens, spent.usd, store.calls["record_spending"]) == (110, 0.5, 4)


async def test_a_server_that_stops_does_not_wait_long_for_a_store_that_is_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(usage_meters, "_RETRY_DELAYS", (0.01,))
    monkeypatch.setattr(usage_meters, "_CLOSE_SECONDS", 0.1)
    store = FailingStore()
    store.failures["record_spending"] = 10**9
    meters = UsageMeters(ServerLimits(), store=store)
    meters.usage_reactor("ann", "ses_a")(response("ses_a", Usage(input=1), 0.5))
    await meters.close()
    assert "the usage of 1 exchanges is not stored" in caplog.text


async def test_whoever_waits_for_an_event_learns_whether_it_came_or_the_time_was_over() -> None:
    event = asyncio.Event()
    assert not await wait_for_event(event, 0.01)
    assert event.is_set()  # as if it had come: whoever waits looks again, and clears it
    assert await wait_for_event(event, 0.0)
    event.clear()
    asyncio.get_running_loop().call_later(0.01, event.set)
    assert await wait_for_event(event, 60.0)
    event.clear()
    waiting = asyncio.create_task(wait_for_event(event, 0.02))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    await asyncio.sleep(0.04)
    assert not event.is_set()  # nobody waits any more
