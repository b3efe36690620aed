"""Events go directly to the nodes that read them, and by the database where that fails."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from heald.core.events import TextDelta
from heald.sessions.leases import Lease
from heald.sessions.news import News
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import READERS_SECONDS
from heald_nodes.postgres import event_feed, node_links, postgres_news
from heald_nodes.postgres.driver import asyncpg
from heald_nodes.postgres.node_links import LinkPort, NodeLinks
from heald_nodes.postgres.notices import Notice
from heald_nodes.postgres.store import PostgresStore
from postgres_tls import running_tls_postgres
from sessions_bench import event


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


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


class Pair:
    """A node that writes `ses_a`, one that reads it, and an ear at the notices of the database."""

    def __init__(self, url: str, clock: Clock) -> None:
        self.writer = PostgresStore(url, node="writer")
        self.reader = PostgresStore(url, node="reader")
        self.heard: list[News] = []
        self.by_database: list[str] = []
        self.lease: Lease | None = None
        self.clock = clock
        self._url = url
        self._seq = 0

    async def start(self) -> None:
        await self.writer.heartbeat()
        heard_by_writer: list[News] = []
        self.writer.subscribe_news(heard_by_writer.append)
        self.reader.subscribe_news(self.heard.append)
        await wait_until(lambda: bool(heard_by_writer) and bool(self.heard))
        self._ear = await asyncpg.connect(self._url)
        channel = self.reader._news  # pyright: ignore[reportPrivateUsage]
        names: list[str] = [channel._channel, channel.own_channel]  # pyright: ignore
        for name in names:
            await self._ear.add_listener(name, lambda *notice: self.by_database.append(notice[3]))
        await self.writer.create(SessionInfo(id="ses_a"))
        self.lease = await self.writer.acquire("ses_a", "x")
        self.clock.now += READERS_SECONDS + 1
        await self.announce()

    @property
    def address(self) -> str:
        return self.reader._news.link_address  # pyright: ignore[reportPrivateUsage]

    @property
    def is_linked(self) -> bool:
        return bool(self.links._links)  # pyright: ignore[reportPrivateUsage]

    @property
    def links(self) -> NodeLinks:
        return self.writer._writer._links  # pyright: ignore[reportPrivateUsage]

    async def break_listeners(self) -> None:
        await self._ear.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%inet_client_addr%'"
            " AND pid <> pg_backend_pid()"
        )

    async def announce(self) -> None:
        await self.reader.announce_readers(["ses_a"])
        await wait_until(lambda: self.writer.is_read_elsewhere("ses_a"))

    async def append(self, text: str = "word ") -> int:
        assert self.lease is not None
        self._seq += 1
        await self.writer.append(self.lease, [event("ses_a", self._seq, TextDelta(0, "msg_a.0", text))])
        return self._seq

    async def append_until_linked(self) -> None:
        """Append until an event comes that the database has told nobody."""
        async with asyncio.timeout(30):
            while True:
                seq = await self.append()
                await wait_until(lambda seq=seq: any(news.seq == seq for news in self.heard))
                await self._ear.execute("SELECT 1")  # notices before this moment have come
                if not any(f'"ses_a", {seq}, ' in payload for payload in self.by_database):
                    return

    async def close(self) -> None:
        with suppress(Exception):
            await self._ear.close()
        await self.writer.close()
        await self.reader.close()


@pytest.fixture
async def pair(postgres_url: str, clock: Clock) -> AsyncIterator[Pair]:
    made = Pair(postgres_url, clock)
    await made.start()
    yield made
    await made.close()


async def test_events_go_directly_to_the_node_that_reads_them(pair: Pair) -> None:
    await pair.append_until_linked()
    pair.by_database.clear()
    for text in ("word ", "\0", 'quote " \n', "half a character \ud83d", "long " * 900):
        seq = await pair.append(text)
        await wait_until(lambda seq=seq: pair.heard[-1].seq == seq)
        assert pair.heard[-1].rows
    events = pair.reader.decode_news(pair.heard[-1])
    assert events is None or events[-1].seq == seq
    assert pair.by_database == []


async def test_a_link_that_breaks_is_told_by_the_database(pair: Pair) -> None:
    await pair.append_until_linked()
    end = await pair.append()
    await wait_until(lambda: pair.heard[-1].seq == end)
    pair.heard.clear()
    pair.by_database.clear()
    for link in list(pair.links._links.values()):  # pyright: ignore[reportPrivateUsage]
        link.abort()
    await wait_until(lambda: any(news.topic == "events" and news.seq == end for news in pair.heard))
    await wait_until(lambda: any(news.topic == "lost" and bool(news.address) for news in pair.heard))
    assert any(f'"ses_a",{end},' in payload for payload in pair.by_database)
    end = await pair.append()  # the port is not tried again at once
    await wait_until(lambda: any(f'"ses_a", {end}, ' in payload for payload in pair.by_database))


async def test_lost_links_lose_no_announcements(pair: Pair) -> None:
    """A node whose port has lost a writer goes on to send its own events to those that have announced readers."""
    feed = pair.reader._feed  # pyright: ignore[reportPrivateUsage]
    await pair.writer.announce_readers(["ses_b"])
    await wait_until(lambda: pair.reader.is_read_elsewhere("ses_b"))
    pair.reader._on_readers(News(topic="lost", address="127.0.0.1 1 x"))  # pyright: ignore[reportPrivateUsage]
    assert not feed.route("ses_c").is_needed
    pair.reader._on_readers(News(topic="lost"))  # pyright: ignore[reportPrivateUsage]
    assert feed.route("ses_c").is_needed


async def test_a_node_whose_listener_broke_opens_another_port(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_news, "CHECK_SECONDS", 0.1)
    await pair.append_until_linked()
    former = pair.address
    await pair.break_listeners()
    await wait_until(lambda: pair.address not in ("", former))
    await pair.announce()
    end = await pair.append()  # announcements may have been lost
    await wait_until(lambda: any(news.seq == end for news in pair.heard))
    await wait_until(lambda: not pair.is_linked)
    pair.clock.now += READERS_SECONDS + 1
    await pair.announce()
    await pair.append_until_linked()


async def test_several_readers_get_events_at_their_ports(pair: Pair, postgres_url: str) -> None:
    await pair.append_until_linked()
    third = PostgresStore(postgres_url, node="third")
    heard: list[News] = []
    third.subscribe_news(heard.append)
    await wait_until(lambda: bool(heard))
    await third.announce_readers(["ses_a"])
    feed = pair.writer._feed  # pyright: ignore[reportPrivateUsage]
    await wait_until(lambda: len(feed.route("ses_a").addresses) == 2)
    await pair.append_until_linked()
    assert heard[-1].seq == pair.heard[-1].seq
    await third.close()
    end = await pair.append()  # its port is closed, and nobody has said that it reads no more
    await wait_until(lambda: any(news.seq == end for news in pair.heard))


def test_a_session_that_one_node_reads_without_a_port_is_told_by_the_database(clock: Clock) -> None:
    feed = event_feed.PostgresEventFeed(event_feed.AnchorCache())
    feed.expect_readers()
    clock.now += READERS_SECONDS + 1
    feed.add_readers("ses_a", "one", "127.0.0.1 1 x")
    assert feed.route("ses_a").addresses == ["127.0.0.1 1 x"]
    feed.add_readers("ses_a", "two")
    assert feed.route("ses_a").addresses == ()
    feed.add_readers("ses_a", "two", "127.0.0.1 2 y")
    assert feed.route("ses_a").addresses == ["127.0.0.1 1 x", "127.0.0.1 2 y"]
    feed.expect_readers()
    assert feed.route("ses_a").addresses == ()


async def test_a_node_whose_database_is_encrypted_opens_no_port() -> None:
    with running_tls_postgres() as (server, authority):
        store = PostgresStore(f"{server.url}?sslmode=verify-full&sslrootcert={authority.certificate}", node="one")
        heard: list[News] = []
        store.subscribe_news(heard.append)
        await wait_until(lambda: bool(heard))
        address = store._news.link_address  # pyright: ignore[reportPrivateUsage]
        await store.close()
        assert address == ""


class Port:
    """An open port, and what it has heard."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.losses = 0
        self.port = LinkPort(self.lines.append, self._on_lost)

    def _on_lost(self) -> None:
        self.losses += 1


@pytest.fixture
async def port() -> AsyncIterator[Port]:
    made = Port()
    await made.port.open("127.0.0.1")
    yield made
    made.port.close()
    await asyncio.sleep(0.01)  # its sockets are closed then


async def test_a_port_wants_the_secret(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_links, "_GREETING_SECONDS", 0.2)
    host, number, secret = port.port.address.split(" ")
    for greeting in (b"", b"x\n", b"x" * 1000, secret.encode()[:-1] + b"\n", b"\n" + secret.encode() + b"\n{}\n"):
        reader, writer = await asyncio.open_connection(host, int(number))
        writer.write(greeting)
        with suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()
    assert port.lines == []
    assert port.losses == 0
    reader, writer = await asyncio.open_connection(host, int(number))
    writer.write(secret.encode() + b"\n{")
    assert await reader.readline() == b"heald\n"
    writer.write(b"}\n")
    await wait_until(lambda: port.lines == [b"{}"])
    writer.close()
    await wait_until(lambda: port.losses == 1)


async def test_a_port_of_another_program_gets_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_links, "_GREETING_SECONDS", 0.2)
    received: list[bytes] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(100))
        writer.write(b"HTTP/1.1 400 Bad Request\r\n")
        await asyncio.sleep(1)
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    number = server.sockets[0].getsockname()[1]
    broken: list[object] = []
    links = NodeLinks(broken.append)
    address = f"127.0.0.1 {number} secret"
    assert not links.has(address)
    await wait_until(lambda: bool(received))
    await asyncio.sleep(0.5)
    assert not links.has(address)
    assert not links.send(address, Notice(e=[("ses_a", 1, 1)]))
    await links.close()
    server.close()
    await asyncio.sleep(1)
    assert broken == []


@pytest.mark.parametrize(("limit", "milliseconds"), [("_MOST_UNSENT", 60_000), ("_UNHEARD_MS", 500)])
async def test_a_node_that_does_not_read_is_given_up(
    port: Port, limit: str, milliseconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where much waits for it, or, on Linux, after two seconds."""
    if limit == "_UNHEARD_MS" and not hasattr(socket, "TCP_USER_TIMEOUT"):
        pytest.skip("This system has no time limit for bytes that nobody acknowledges.")
    monkeypatch.setattr(node_links, "_UNHEARD_MS", milliseconds)
    if limit == "_UNHEARD_MS":
        monkeypatch.setattr(node_links, "_MOST_UNSENT", 2**40)
    broken: list[object] = []
    links = NodeLinks(broken.append)
    address = port.port.address
    await wait_until(lambda: links.has(address))
    for inbound in port.port._inbound:  # pyright: ignore[reportPrivateUsage]
        inbound._transport.pause_reading()  # pyright: ignore
    notice = Notice(e=[("ses_a", 7, 1)], d=[("ses_a", 7, 7, "x" * 100_000)])
    await wait_until(lambda: not links.send(address, notice))
    assert broken == [[("ses_a", 7, 1)]]
    await links.close()


async def test_no_port_behind_a_translation_of_addresses() -> None:
    port = LinkPort(print, print)
    await port.open("192.0.2.1")  # an address of nobody
    assert port.address == ""
    port.close()
