"""A node that gets no news, or too late: its readers have the whole log all the same."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

import heald
from heald.sessions.leases import Lease
from heald.sessions.news import News, OnNews
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald_nodes.postgres.store import PostgresStore
from heald_server.cluster import node as node_module
from heald_server.cluster.node import ServerNode
from heald_server.cluster.store_placement import StorePlacement
from heald_server.open_sessions import OpenSessions
from heald_server.settings import ServerSettings
from heald_server.streams.event_stream import EventStream
from sessions_bench import events, leased

NEVER = 3600.0
MISSED = 1000


class DeafStore(PostgresStore):
    """A store whose news can be turned off."""

    def __init__(self, url: str, *, node: str) -> None:
        super().__init__(url, node=node)
        self.is_deaf = False
        self.missed = 0
        """The end of the log in the last news that was not heard."""
        self._callbacks: list[OnNews] = []

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        self._callbacks.append(callback)

        def on_news(news: News) -> None:
            if self.is_deaf:
                self.missed = max(self.missed, news.seq)
            else:
                callback(news)

        return super().subscribe_news(on_news)

    def reconnect(self) -> None:
        """Hear again, as after a connection that was away."""
        self.is_deaf = False
        for callback in self._callbacks:
            callback(News(topic="lost"))


@pytest.fixture
async def writer(postgres_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_url, node="writer")
    await store.heartbeat()
    yield store
    await store.close()


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[DeafStore]:
    made = DeafStore(postgres_url, node="reader")
    yield made
    await made.close()


async def _options(info: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
    return {"model": heald.testing.ScriptedModel(["Done."])}


@asynccontextmanager
async def reading(store: PostgresStore, heartbeat: float = NEVER) -> AsyncGenerator[list[int]]:
    """A node with one reader of `ses_a`. Yields the seqs that the reader gets."""
    sessions = OpenSessions(Sessions(store), _options, after_crash="continue")
    node = ServerNode(store, sessions, folders=(), settings=ServerSettings(), placement=StorePlacement())
    await node.start()
    stream = EventStream(store, sessions.hub, "ses_a", 0)
    seqs: list[int] = []

    async def read() -> None:
        async for batch in stream.batches(heartbeat):
            seqs.extend(entry.event.seq for entry in batch)

    task = asyncio.create_task(read())
    try:
        yield seqs
    finally:
        stream.stop()
        await task
        await sessions.close(0.0)
        await node.stop()


async def append_chunks(writer: PostgresStore, lease: Lease, first: int, count: int) -> None:
    """Store events, each as a chunk of its own."""
    for seq in range(first, first + count):
        await writer.append(lease, events("ses_a", seq, 1))


async def wait_whole(seqs: list[int], end: int) -> None:
    async with asyncio.timeout(60):
        while len(seqs) < end:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert seqs == list(range(1, end + 1))


async def start_reader(writer: PostgresStore, seqs: list[int]) -> Lease:
    """Have the hub of the reader know the end of the log."""
    lease = await writer.acquire("ses_a", "x")
    end = 0
    async with asyncio.timeout(60):
        while len(seqs) < 2:
            end += 1
            await append_chunks(writer, lease, end, 1)
            await asyncio.sleep(0.05)
    await wait_whole(seqs, end)
    return lease


async def test_a_reader_that_missed_many_chunks_reads_all_of_them_after_a_reconnect(
    writer: PostgresStore, store: DeafStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "EVENTS_SECONDS", NEVER)
    await writer.create(SessionInfo(id="ses_a"))
    async with reading(store) as seqs:
        lease = await start_reader(writer, seqs)
        end = len(seqs)
        store.is_deaf = True
        await append_chunks(writer, lease, end + 1, MISSED)
        async with asyncio.timeout(60):
            while store.missed < end + MISSED:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert len(seqs) == end
        store.reconnect()
        await wait_whole(seqs, end + MISSED)


async def test_a_node_that_hears_nothing_reads_what_other_nodes_store(
    writer: PostgresStore, store: DeafStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "EVENTS_SECONDS", 0.2)
    await writer.create(SessionInfo(id="ses_a"))
    async with reading(store) as seqs:
        lease = await start_reader(writer, seqs)
        end = len(seqs)
        store.is_deaf = True
        await append_chunks(writer, lease, end + 1, 300)
        await wait_whole(seqs, end + 300)


async def test_the_heartbeat_of_a_stream_finds_what_no_news_told(
    writer: PostgresStore, store: DeafStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "EVENTS_SECONDS", NEVER)
    store.is_deaf = True
    lease = await leased(writer)
    async with reading(store, heartbeat=0.2) as seqs:
        await append_chunks(writer, lease, 1, 300)
        await wait_whole(seqs, 300)


async def test_a_node_that_hears_nothing_runs_commands(
    writer: PostgresStore, store: DeafStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "COMMANDS_SECONDS", 0.2)
    store.is_deaf = True
    await writer.create(SessionInfo(id="ses_a"))
    async with reading(store):
        await store.acquire("ses_a", "x")
        reply = await writer.post_command("ses_a", b'{"type":"release","waiting":false}', seconds=30)
        assert b"200" in reply
