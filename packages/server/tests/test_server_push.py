"""Live events that go to a connection without a task: in order, each once, and read from the store where that fails."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from sessions_log import LOG, delta_event

from heald.sessions.leases import Lease
from heald.sessions.memory import MemoryStore
from heald.sessions.session_info import SessionInfo
from heald_server.streams.event_hub import EncodedEvent, EventHub
from heald_server.streams.event_stream import EventStream
from raw_bytes import raw
from serving_parts import TOKEN, S, served

HEARTBEAT = 3600.0


class Pushed:
    """A stream of a session, the events that were pushed, and those that its task read."""

    def __init__(self, store: MemoryStore, lease: Lease) -> None:
        self.hub = EventHub(LOG)
        self.pushed: list[int] = []
        self.read: list[int] = []
        self.accepts = True
        self._store = store
        self._lease = lease
        self._seq = 0
        self.stream = EventStream(store, lambda _: self.hub, LOG, 0)
        self.stream.push = self._push
        self.task = asyncio.create_task(self._read())

    async def add(self, count: int, *, to_hub: bool = True) -> None:
        """Store events, and add them to the hub as the recorder does."""
        for _ in range(count):
            self._seq += 1
            event = delta_event(self._seq)
            await self._store.append(self._lease, [event])
            if to_hub:
                self.hub.add(event)
        await self.turn()

    async def turn(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    def _push(self, entries: Sequence[EncodedEvent]) -> bool:
        if self.accepts:
            self.pushed += [entry.event.seq for entry in entries]
        return self.accepts

    async def _read(self) -> None:
        async for entries in self.stream.batches(HEARTBEAT):
            self.read += [entry.event.seq for entry in entries]


@pytest.fixture
async def pushed() -> AsyncGenerator[Pushed]:
    store = MemoryStore()
    await store.create(SessionInfo(id=LOG))
    made = Pushed(store, await store.acquire(LOG, "test"))
    await made.turn()
    yield made
    made.stream.stop()
    await made.task


async def test_live_events_are_pushed_and_the_task_sleeps(pushed: Pushed) -> None:
    for _ in range(3):
        await pushed.add(2)
    assert (pushed.pushed, pushed.read, pushed.stream.seq) == ([1, 2, 3, 4, 5, 6], [], 6)


async def test_what_a_slow_connection_refuses_is_read_by_the_task(pushed: Pushed) -> None:
    await pushed.add(1)
    pushed.accepts = False
    await pushed.add(3)
    pushed.accepts = True
    await pushed.add(1)
    assert (pushed.pushed, pushed.read) == ([1, 5], [2, 3, 4])


async def test_events_that_the_hub_lacks_come_from_the_store(pushed: Pushed) -> None:
    await pushed.add(2)
    await pushed.add(2, to_hub=False)
    await pushed.add(1)
    pushed.hub.invalidate()
    await pushed.turn()
    await pushed.add(1)
    assert sorted(pushed.pushed + pushed.read) == [1, 2, 3, 4, 5, 6]
    assert pushed.read == [3, 4, 5]


async def test_an_error_while_pushing_ends_the_stream(pushed: Pushed) -> None:
    def fail(_: Sequence[EncodedEvent]) -> bool:
        raise ValueError("broken dialect")

    pushed.stream.push = fail
    await pushed.add(1)  # the push that waits is the earlier one
    pushed.accepts = False
    await pushed.add(1)
    await pushed.add(1)
    with pytest.raises(ValueError, match="broken dialect"):
        await pushed.task
    pushed.task = asyncio.create_task(asyncio.sleep(0))


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_the_body_has_the_framing_of_its_version(tmp_path: Path, version: str) -> None:
    model = S(["Word after word. " * 20], piece=5, pause=0.002)
    async with served(tmp_path, lambda: model) as server:
        session = await server.session()
        port = server.context.settings.port
        head = f"GET /sessions/{session}/events HTTP/{version}\r\nHost: 127.0.0.1:{port}\r\n"
        async with raw(server) as connection:
            await connection.send(f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
            answer = await connection.reader.readuntil(b"\r\n\r\n")
            assert (b"transfer-encoding: chunked" in answer.lower()) == (version == "1.1")
            await server.send(session)
            body = b""
            async with asyncio.timeout(120):
                while b"event: exchange_response" not in body:
                    if version == "1.0":
                        body += await connection.reader.readline()
                        continue
                    size = int((await connection.reader.readuntil(b"\r\n")).decode(), 16)
                    body += await connection.reader.readexactly(size)
                    assert await connection.reader.readexactly(2) == b"\r\n"
        ids = [int(line[4:]) for line in body.split(b"\n") if line.startswith(b"id: ")]
        assert ids == list(range(1, len(ids) + 1))
        assert body.count(b"event: text_delta") == 68
