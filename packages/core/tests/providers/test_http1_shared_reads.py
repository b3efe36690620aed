"""Streams that are read together: what arrives meanwhile waits in the socket and comes in one piece, none is lost."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from http1_bench import chunked, post, read_all, read_request
from provider_sockets import RawServer

from heald.http1 import connection
from heald.http1.shared_reads import SharedReads, shared_reads
from heald.providers.transport import Response

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


class StepServer(RawServer):
    """Sends the next piece of its answer when the test wants it."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self._writer: asyncio.StreamWriter | None = None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        while True:
            try:
                await read_request(reader)
            except asyncio.IncompleteReadError:
                return
            writer.write(HEAD)

    async def send(self, *chunks: bytes) -> None:
        assert self._writer is not None
        for chunk in chunks:
            self._writer.write(chunked(chunk).removesuffix(END))
            await self._writer.drain()
            await _turns()

    async def end(self) -> None:
        assert self._writer is not None
        self._writer.write(END)
        await _turns()

    def break_off(self) -> None:
        assert self._writer is not None
        self._writer.transport.abort()


async def _turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0.001)


@pytest.fixture
async def server() -> AsyncGenerator[StepServer]:
    async with StepServer() as server:
        yield server


@pytest.fixture
async def reads() -> AsyncGenerator[SharedReads]:
    shared = shared_reads(asyncio.get_running_loop())
    shared.is_active = True
    yield shared
    shared.end()


async def _stream(server: StepServer) -> Response:
    response = await post(server.url)
    response.share_reads()
    return response


async def _next(response: Response) -> bytes:
    async with asyncio.timeout(60):
        return await response.read_chunk()


async def test_what_arrives_while_reads_wait_comes_in_one_piece(server: StepServer, reads: SharedReads) -> None:
    response = await _stream(server)
    await server.send(b"a")
    assert await _next(response) == b"a"
    await server.send(b"b", b"c", b"d")
    waiting = asyncio.ensure_future(response.read_chunk())
    await _turns()
    assert not waiting.done()
    assert reads.release() == 1
    async with asyncio.timeout(60):
        assert await waiting == b"bcd"
    response.close()


async def test_the_end_of_shared_reads_lets_everything_flow(server: StepServer, reads: SharedReads) -> None:
    response = await _stream(server)
    await server.send(b"a")
    reads.end()
    assert await _next(response) == b"a"
    for piece in (b"b", b"c"):
        await server.send(piece)
        assert await _next(response) == piece
    assert reads.release() == 0
    response.close()


async def test_a_response_that_is_no_stream_is_not_held(server: StepServer, reads: SharedReads) -> None:
    response = await post(server.url)
    for piece in (b"a", b"b"):
        await server.send(piece)
        assert await _next(response) == piece
    assert reads.release() == 0
    response.close()


async def test_a_stream_that_brings_much_is_not_held(
    server: StepServer, reads: SharedReads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SMALL_READ", 4)
    response = await _stream(server)
    for piece in (b"aaaa", b"bbbb"):
        await server.send(piece)
        assert await _next(response) == piece
    assert reads.release() == 0
    response.close()


async def test_a_held_stream_that_is_closed_is_forgotten(server: StepServer, reads: SharedReads) -> None:
    response = await _stream(server)
    await server.send(b"a")
    response.close()
    await _turns()
    assert reads.release() == 0


async def test_the_connection_of_a_held_stream_is_used_for_the_next_one(server: StepServer, reads: SharedReads) -> None:
    for _ in range(3):
        response = await _stream(server)
        await server.send(b"a")
        assert await _next(response) == b"a"
        await server.end()
        reads.release()
        assert await read_all(response) == b""
        response.release()
    assert server.connections == 1


async def test_a_held_stream_that_is_released_drains_at_once(server: StepServer, reads: SharedReads) -> None:
    """Its reader is done: the end is read without the others."""
    response = await _stream(server)
    await server.send(b"a")
    response.release()
    await server.end()
    again = await _stream(server)
    assert server.connections == 1
    again.close()


async def test_a_connection_that_breaks_while_it_is_held_is_an_error(server: StepServer, reads: SharedReads) -> None:
    response = await _stream(server)
    await server.send(b"a")
    assert await _next(response) == b"a"
    server.break_off()
    await _turns()
    reads.release()
    with pytest.raises(Exception, match="in the middle of an answer"):
        await _next(response)
