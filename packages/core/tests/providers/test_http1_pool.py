"""Connections: taken up again where that is safe, dropped where anything is odd, and never left open."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from http1_bench import HEADERS, PieceServer, chunked, fetch, post, read_all, read_request
from provider_bench import until
from provider_sockets import RawServer, certificate

from heald.core.errors import ConnectionFailed
from heald.http1 import connection, pool
from heald.http1.errors import ConnectionBroken
from heald.http1.pool import ConnectionPool
from heald.http1.request import RequestTarget
from heald.http1.tls import tls_context
from heald.providers.transport import BrokenRead, Transport, broken_read

OK = b"HTTP/1.1 200 OK\r\n"
SHORT = OK + b"content-length: 2\r\n\r\nhi"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n" + chunked(b"hi")


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    tls_context.cache_clear()
    yield tmp_path
    tls_context.cache_clear()


@pytest.mark.parametrize("answer", [SHORT, CHUNKED], ids=["length", "chunked"])
async def test_a_thousand_turns_use_one_connection(answer: bytes) -> None:
    async with PieceServer([answer], close=False) as server:
        for _ in range(1000):
            assert (await fetch(server.url)).body == b"hi"
        assert (server.connections, len(server.requests)) == (1, 1000)


async def test_an_end_that_comes_a_little_later_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn is over at its last event; the end of the body comes in a packet of its own."""
    monkeypatch.setattr(pool, "DRAIN_WAIT_SECONDS", 5)
    monkeypatch.setattr(connection, "DRAIN_SECONDS", 10)

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            writer.write(CHUNKED[:-5])
            await asyncio.sleep(0.001)
            writer.write(CHUNKED[-5:])

    async with RawServer(late) as server:
        for _ in range(50):
            response = await post(server.url)
            assert await response.read_chunk() == b"hi"
            assert not response.at_end()
            response.release()
        assert server.connections == 1


async def test_an_end_that_does_not_come_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "DRAIN_SECONDS", 0.2)
    left = asyncio.Event()

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(CHUNKED[:-5])
        await reader.read()
        left.set()

    async with RawServer(never) as server:
        for turn in (1, 2):
            response = await post(server.url)
            assert await response.read_chunk() == b"hi"
            response.release()
            assert server.connections == turn
        await asyncio.wait_for(left.wait(), 60)


async def test_two_hundred_at_once_and_a_second_time() -> None:
    async with PieceServer([CHUNKED], close=False) as server:
        for _ in range(2):
            answers = await asyncio.gather(*(fetch(server.url, b"%d" % number) for number in range(200)))
            assert [answer.body for answer in answers] == [b"hi"] * 200
        assert server.connections <= 200
        assert len({body for _, body in server.requests}) == 200


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"connection: close\r\ncontent-length: 2\r\n\r\nhi",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi",
        SHORT + b"\r\n",
        SHORT + SHORT,
        CHUNKED + b"x",
        CHUNKED + SHORT,
    ],
    ids=["close", "1.0", "line break", "second answer", "byte", "second answer after chunks"],
)
async def test_a_connection_with_anything_odd_is_not_reused(answer: bytes) -> None:
    async with PieceServer([answer], close=False) as server:
        for turn in (1, 2, 3):
            assert (await fetch(server.url)).body == b"hi"
            assert server.connections == turn


async def test_what_comes_unasked_between_turns_ends_the_connection() -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def chatty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(SHORT)
        await asked.wait()
        writer.write(OK + b"content-length: 4\r\n\r\nevil")
        await reader.read()
        left.set()

    async with RawServer(chatty) as server:
        for turn in (1, 2):
            assert (await fetch(server.url)).body == b"hi"
            asked.set()
            await asyncio.wait_for(left.wait(), 120)
            left.clear()
            asked.clear()
            assert server.connections == turn


# --- connections that broke meanwhile -----------------------------------------------------------------------------


class ClosingServer(RawServer):
    """Answers so many requests on a connection, then takes one more and leaves after these bytes."""

    def __init__(self, answers: list[int], last: bytes = b"") -> None:
        super().__init__(self._serve)
        self.requests = 0
        self._answers = answers
        self._last = last

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(self._answers[min(self.connections, len(self._answers)) - 1]):
            await read_request(reader)
            self.requests += 1
            writer.write(SHORT)
            await writer.drain()
        await read_request(reader)
        self.requests += 1
        writer.write(self._last)
        await writer.drain()
        writer.close()


async def test_a_post_on_a_stale_connection_is_not_sent_twice() -> None:
    async with ClosingServer([1, 5]) as server:
        await fetch(server.url)
        with pytest.raises(ConnectionFailed, match="before an answer came"):
            await fetch(server.url)
        assert (server.connections, server.requests) == (1, 2)
        assert (await fetch(server.url)).body == b"hi"
        assert (server.connections, server.requests) == (2, 3)


async def test_a_get_on_a_stale_connection_is_sent_once_more() -> None:
    async with ClosingServer([1, 0]) as server:
        connections = ConnectionPool()
        target = RequestTarget.parse(server.url)
        for _ in range(2):
            sent = connections.send(target.origin, target.encode_head("GET", {}, 0), b"", tls=None, connect_timeout=5)
            if server.requests:
                with pytest.raises(ConnectionBroken):  # the new connection breaks too
                    await sent
            else:
                assert await (await sent).read() == b"hi"
        assert (server.connections, server.requests) == (2, 3)
        await connections.close()


@pytest.mark.parametrize("last", [b"H", OK, b"HTTP/1.1 100 Continue\r\n\r\n"])
async def test_one_that_had_begun_to_answer_is_not_replaced(last: bytes) -> None:
    """The request was read: sending it again is for whoever knows what it does."""
    async with ClosingServer([1, 5], last) as server:
        await fetch(server.url)
        with pytest.raises(ConnectionFailed, match="in the middle of an answer"):
            await fetch(server.url)
        assert (server.connections, server.requests) == (1, 2)


async def test_one_that_nobody_wants_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE_SECONDS", 0.1)
    left: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await read_request(reader)
                writer.write(SHORT)
        except asyncio.IncompleteReadError:
            left.append(1)

    async with RawServer(serve) as server:
        await asyncio.gather(fetch(server.url), fetch(server.url))
        await until(lambda: len(left) == 2)
        await fetch(server.url)
        assert server.connections == 3


async def test_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_IDLE", 3)
    async with PieceServer([SHORT], close=False) as server:
        await asyncio.gather(*(fetch(server.url) for _ in range(8)))
        assert server.connections == 8
        await asyncio.gather(*(fetch(server.url) for _ in range(8)))
        assert server.connections == 13


# --- leaving ----------------------------------------------------------------------------------------------------


class Watched(RawServer):
    """Sends these bytes and waits; `left` is set when the client has gone."""

    def __init__(self, said: bytes) -> None:
        super().__init__(self._serve)
        self.asked = asyncio.Event()
        self.left = asyncio.Event()
        self._said = said

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        self.asked.set()
        writer.write(self._said)
        await reader.read()
        self.left.set()


async def test_a_cancelled_wait_closes_the_connection() -> None:
    async with Watched(b"HTTP/1.1 100 Continue\r\n\r\n") as server:
        task = asyncio.create_task(post(server.url))
        await asyncio.wait_for(server.asked.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 60)


async def test_a_cancelled_read_closes_the_connection() -> None:
    async with Watched(CHUNKED[:-5]) as server:
        response = await post(server.url)
        assert await response.read_chunk() == b"hi"
        task = asyncio.create_task(read_all(response))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 60)


async def test_closing_ends_a_read_with_an_error() -> None:
    """What a watchdog does. An end without an error would look like the end of the answer."""
    async with Watched(CHUNKED[:-5]) as server:
        response = await post(server.url)
        assert await response.read_chunk() == b"hi"
        asyncio.get_running_loop().call_soon(response.close)
        with pytest.raises(Exception) as raised:  # noqa: PT011
            await response.read_chunk()
        assert isinstance(broken_read(raised.value), BrokenRead)
        await asyncio.wait_for(server.left.wait(), 60)


async def test_closing_a_whole_answer_keeps_the_connection_to_others() -> None:
    """It belongs to the next request already."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(SHORT)
        await read_request(reader)
        writer.write(SHORT[:-1])
        await asyncio.sleep(0.05)
        writer.write(SHORT[-1:])
        await reader.read()

    async with RawServer(serve) as server:
        first = await post(server.url)
        await asyncio.sleep(0.01)
        second = await post(server.url)
        first.close()
        first.release()
        assert await read_all(second) == b"hi"
        assert server.connections == 1


# --- a slow reader ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("framing", ["length", "chunked", "close", "tls"])
async def test_a_slow_reader_holds_the_server_back(framing: str, trusted: Path) -> None:
    context = certificate(trusted, "localhost")[1] if framing == "tls" else None
    piece, count = bytes(range(256)) * 256, 800
    sent = 0
    heads = {"length": b"content-length: %d\r\n" % (len(piece) * count), "chunked": b"transfer-encoding: chunked\r\n"}

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read_request(reader)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        writer.write(OK + heads.get(framing, b"") + b"\r\n")
        for _ in range(count):
            writer.write(chunked(piece)[:-5] if framing == "chunked" else piece)
            await writer.drain()
            sent += len(piece)
        if framing == "chunked":
            writer.write(b"0\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async with RawServer(flood, context) as server:
        response = await post(server.url)
        seen, stalled = 0, -1
        while stalled != sent:
            stalled = sent
            await asyncio.sleep(0.2)
        assert sent < len(piece) * count / 2  # what the sockets of the system hold is not ours
        while chunk := await response.read_chunk():
            assert len(chunk) <= 2 * 256 * 1024 + len(piece)
            seen += len(chunk)
            await asyncio.sleep(0)
        assert seen == sent == len(piece) * count
        response.release()


# --- TLS ----------------------------------------------------------------------------------------------------------


async def test_tls(trusted: Path) -> None:
    """Kept alive, with the host's name and the protocol said in the handshake; large bodies both ways."""
    _, context = certificate(trusted, "localhost")
    context.set_alpn_protocols(["h2", "http/1.1"])
    names: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    spoken: list[str | None] = []
    large = bytes(range(256)) * 8192

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        spoken.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        while True:
            _, body = await read_request(reader)
            writer.write(OK + b"transfer-encoding: chunked\r\n\r\n" + chunked(body, body))

    async with RawServer(serve, context) as server:
        for _ in range(3):
            answer = await fetch(f"https://localhost:{server.port}", large)
            assert answer.body == large + large
        assert server.connections == 1
    assert (names, spoken) == (["localhost"], ["http/1.1"])


async def test_a_cancelled_read_over_tls_closes_the_connection_at_once(trusted: Path) -> None:
    _, context = certificate(trusted, "localhost")
    left = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(CHUNKED[:-5])
        try:
            await reader.read()
        finally:
            left.set()

    async with RawServer(serve, context) as server:
        response = await post(server.url)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(read_all(response), 0.05)
        await asyncio.wait_for(left.wait(), 60)


# --- the client's own ---------------------------------------------------------------------------------------------


async def test_no_client_library_is_loaded_for_it() -> None:
    code = (
        "import asyncio, sys\n"
        "sys.path[:0] = sys.argv[1:]\n"
        "from http1_bench import PieceServer, fetch\n"
        "async def main():\n"
        f"    async with PieceServer([{SHORT!r}], close=False) as server:\n"
        "        print((await fetch(server.url)).body.decode())\n"
        "asyncio.run(main())\n"
        "print(*sorted({'aiohttp', 'yarl', 'httpx'} & set(sys.modules)))\n"
    )
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-X", "dev", "-W", "error", "-c", code, str(Path(__file__).parent)],
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    complaints = [line for line in err.splitlines() if not line.startswith(b"Executing ")]  # a busy machine
    assert (out.split(), complaints) == ([b"hi"], [])


async def test_many_addresses_do_not_fill_the_memory() -> None:
    async with PieceServer([SHORT], close=False) as server:
        here = await Transport.for_running_loop()
        for number in range(3000):
            await fetch(f"{server.url}/{number}", headers=HEADERS)
        assert len(here._routes) <= 1024  # pyright: ignore[reportPrivateUsage]
        assert server.connections == 1
