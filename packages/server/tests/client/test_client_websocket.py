"""The socket under the line, and the calls beside it: bounded, straight, and nobody else's business."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from client_bench import QUICK, TOKEN, serving
from websockets.asyncio.server import ServerConnection, serve
from websockets.utils import accept_key

from certificates import certificate
from heald.http1.tls import tls_context
from heald_server.client.address import parse_address
from heald_server.client.errors import ConnectionLost, NoRemoteSession, ServerRefused, TokenRefused
from heald_server.client.rest import RestClient
from heald_server.client.timing import Timing
from heald_server.client.websocket import HandshakeRefused, NoWebSocket, SocketClosed, WebSocket

SHORT = Timing(patience=1, first=0.01, longest=0.05, dial=0.5, silence=0.4, stable=0.2, goodbye=0.3)

Handle = Callable[[ServerConnection], Awaitable[None]]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter, bytes], Awaitable[None]]


async def opened(
    port: int, *, scheme: str = "ws", host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, largest: int = 10_000
) -> WebSocket:
    url = f"{scheme}://{host}:{port}/ws"
    return await WebSocket.open(
        url, headers={"Authorization": f"Bearer {TOKEN}"}, tls=tls, dial=5, goodbye=0.5, largest=largest
    )


@asynccontextmanager
async def speaking(handle: Handle, tls: ssl.SSLContext | None = None) -> AsyncGenerator[int]:
    async with serve(handle, "127.0.0.1", 0, ssl=tls, max_size=None, close_timeout=0.2) as server:
        yield next(iter(server.sockets)).getsockname()[1]


def lingering(frame: bytes) -> Talk:
    """Shakes hands, sends that, and stays until the client leaves."""

    async def linger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        key = head.lower().partition(b"sec-websocket-key: ")[2].partition(b"\r\n")[0]
        at = head.lower().index(key)
        accept = accept_key(head[at : at + len(key)].decode())
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            b"sec-websocket-accept: %b\r\n\r\n%b" % (accept.encode(), frame)
        )
        while await reader.read(65536):
            pass

    return linger


@asynccontextmanager
async def raw(talk: Talk) -> AsyncGenerator[int]:
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # pyright: ignore[reportArgumentType]
        try:
            await talk(reader, writer, await reader.readuntil(b"\r\n\r\n"))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


# --- one socket ----------------------------------------------------------------------------------------------------


async def test_text_in_both_directions() -> None:
    seen: list[str] = []

    async def echo(connection: ServerConnection) -> None:
        assert connection.request is not None
        seen.append("\n".join(f"{name}: {value}" for name, value in connection.request.headers.raw_items()))
        async for message in connection:
            await connection.send(message)

    async with speaking(echo) as port:
        socket = await opened(port)
        for text in ("one", "zwei €", "", "x" * 9_000):
            await socket.send(text)
            assert await socket.receive(5) == text
        await socket.close()
        with pytest.raises(SocketClosed):
            await socket.receive(5)
        with pytest.raises(SocketClosed):
            await socket.send("more")
    (head,) = seen
    assert f"Authorization: Bearer {TOKEN}" in head
    assert "Sec-WebSocket-Extensions" not in head
    assert "Cookie" not in head


@pytest.mark.parametrize("code", [1000, 1012, 4401, 4404, 4409])
async def test_the_code_that_it_was_closed_with(code: int) -> None:
    async def send_and_close(connection: ServerConnection) -> None:
        await connection.send("last words")
        await connection.close(code)

    async with speaking(send_and_close) as port:
        socket = await opened(port)
        assert await socket.receive(5) == "last words"
        with pytest.raises(SocketClosed) as closed:
            await socket.receive(5)
        assert closed.value.code == code
        await socket.close()


async def test_a_server_that_states_why_but_does_not_hang_up() -> None:
    """Its code counts at once, not after a silence."""

    async with raw(lingering(b"\x88\x02" + (4401).to_bytes(2, "big"))) as port:
        socket = await opened(port)
        async with asyncio.timeout(60):
            with pytest.raises(SocketClosed) as closed:
                await socket.receive(60)
        assert closed.value.code == 4401


@pytest.mark.parametrize(
    "frame",
    [
        b"\x81\x7f" + (20_000).to_bytes(8, "big") + b"x",
        b"\x83\x00",
        b"\xc1\x00",
        b"\x81\x82aaaahi",
        b"\x81\x02\xff\xff",
    ],
    ids=["large", "opcode", "bits", "masked", "utf-8"],
)
async def test_frames_that_are_none(frame: bytes) -> None:
    async with raw(lingering(frame)) as port:
        socket = await opened(port)
        async with asyncio.timeout(60):
            with pytest.raises(SocketClosed):
                await socket.receive(60)
            await socket.close()


async def test_bytes_are_no_message() -> None:
    async def send_answer(connection: ServerConnection) -> None:
        await connection.send(b"{}")
        await connection.wait_closed()

    async with speaking(send_answer) as port:
        socket = await opened(port)
        with pytest.raises(SocketClosed):
            await socket.receive(5)
        await socket.close()


async def test_a_ping_is_a_sign_of_life_and_silence_is_not() -> None:
    async def mostly_quiet(connection: ServerConnection) -> None:
        for _ in range(10):
            await connection.ping()
            await asyncio.sleep(0.1)
        await connection.send("still here")
        await connection.wait_closed()

    async with speaking(mostly_quiet) as port:
        socket = await opened(port)
        assert await socket.receive(0.7) == "still here"
        with pytest.raises(TimeoutError):
            await socket.receive(0.2)
        await socket.close()


async def test_a_goodbye_to_a_server_that_floods() -> None:
    async def flood(connection: ServerConnection) -> None:
        with suppress(Exception):
            while True:
                await connection.send("x" * 5_000)

    async with speaking(flood) as port:
        socket = await opened(port)
        await asyncio.sleep(0.1)  # nobody reads
        async with asyncio.timeout(60):
            await socket.close()


# --- the handshake -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 301, 307, 401, 403, 404, 500, 503])
async def test_a_handshake_that_is_refused(status: int) -> None:
    asked = 0

    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        nonlocal asked
        asked += 1

    async with raw(other) as elsewhere:

        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
            location = f"location: ws://127.0.0.1:{elsewhere}/ws\r\n"
            writer.write(f"HTTP/1.1 {status} No\r\n{location}content-length: 0\r\n\r\n".encode())
            await writer.drain()

        async with raw(refuse) as port:
            with pytest.raises(HandshakeRefused) as refused:
                await opened(port)
    assert (refused.value.status, asked) == (status, 0)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000,
    ],
)
async def test_answers_that_are_no_handshake(answer: bytes) -> None:
    async def send_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        writer.write(answer)
        await writer.drain()

    async with raw(send_answer) as port:
        with pytest.raises((NoWebSocket, OSError)):
            await opened(port)
        address, token = parse_address(f"http://127.0.0.1:{port}", TOKEN)
        with pytest.raises(ConnectionLost):
            await RestClient(address, token, SHORT).open_socket()


async def test_no_answer_at_all() -> None:
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        await reader.read()

    async with raw(hold) as port:
        address, token = parse_address(f"http://127.0.0.1:{port}", TOKEN)
        with pytest.raises(ConnectionLost, match="no answer in time"):
            await RestClient(address, token, SHORT).open_socket()


# --- the way there ---------------------------------------------------------------------------------------------------


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        nonlocal asked
        asked += 1

    async with raw(proxy) as port, serving("One.") as server:
        for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "socks_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        async with server.client() as agent:
            assert (await agent.run("Hi")).text == "One."
    assert asked == 0


async def test_tls_verifies_the_name(tmp_path: Path) -> None:
    server, client = certificate(tmp_path, "localhost")

    async def greet(connection: ServerConnection) -> None:
        await connection.send("hello")
        await connection.wait_closed()

    async with speaking(greet, server) as port:
        socket = await opened(port, scheme="wss", host="localhost", tls=client)
        assert await socket.receive(5) == "hello"
        await socket.close()
        with pytest.raises(ssl.SSLCertVerificationError):
            await opened(port, scheme="wss", tls=client)
        tls_context.cache_clear()
        address, token = parse_address(f"https://localhost:{port}", TOKEN)
        theirs = RestClient(address, token, SHORT)
        for call in (theirs.open_socket, lambda: theirs.conversation("ses_a")):
            with pytest.raises(ConnectionLost, match="its certificate cannot be trusted"):
                await call()
        await theirs.close()


# --- calls beside it -----------------------------------------------------------------------------------------------


@asynccontextmanager
async def asking(answer: bytes, timing: Timing = SHORT, *, hold: bool = False) -> AsyncGenerator[RestClient]:
    async def send_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        writer.write(answer)
        await writer.drain()
        if hold:
            await reader.read()

    async with raw(send_answer) as port:
        address, token = parse_address(f"http://127.0.0.1:{port}", TOKEN)
        made = RestClient(address, token, timing)
        try:
            yield made
        finally:
            await made.close()


def reply(body: bytes, status: int = 200, more: str = "") -> bytes:
    return f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\n{more}\r\n".encode() + body


async def test_an_answer_that_was_packed_in_between() -> None:
    body = gzip.compress(b'{"messages": [], "seq": 7}')
    async with asking(reply(body, more="content-encoding: gzip\r\n")) as theirs:
        assert (await theirs.conversation("ses_a")).seq == 7


async def test_an_answer_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald_server.client.rest.MAX_ANSWER_BYTES", 100_000)
    bomb = gzip.compress(b" " * 50_000_000)
    for answer in (reply(b" " * 100_001), reply(bomb, more="content-encoding: gzip\r\n")):
        async with asking(answer) as theirs:
            with pytest.raises(ConnectionLost, match="its answer is too large"):
                await theirs.conversation("ses_a")


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"])
async def test_an_answer_that_stops(answer: bytes) -> None:
    async with asking(answer, hold=True) as theirs:
        with pytest.raises(ConnectionLost, match="no answer in time"):
            await theirs.conversation("ses_a")
    async with asking(answer) as theirs:
        with pytest.raises(ConnectionLost, match="the connection broke"):
            await theirs.conversation("ses_a")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (301, b"", ServerRefused),
        (401, b"", TokenRefused),
        (403, b'{"error": {"code": "forbidden", "message": "no"}}', ServerRefused),
        (404, b'{"error": {"code": "not_found", "message": "no"}}', ServerRefused),
        (404, b"<html>", ServerRefused),
        (503, b"", ConnectionLost),
    ],
)
async def test_what_refusals_mean(status: int, body: bytes, kind: type[Exception]) -> None:
    async with asking(reply(body, status, "location: http://127.0.0.1:1/\r\n")) as theirs:
        with pytest.raises(kind) as refused:
            await theirs.conversation("ses_a")
    assert not isinstance(refused.value, NoRemoteSession)
    assert TOKEN not in str(refused.value)


async def test_cookies_are_not_kept_and_calls_share_a_connection() -> None:
    heads: list[bytes] = []

    async def send_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: bytes) -> None:
        while True:
            writer.write(reply(b'{"messages": [], "seq": 7}', more="set-cookie: a=b\r\n"))
            try:
                heads.append(await reader.readuntil(b"\r\n\r\n"))
            except asyncio.IncompleteReadError:
                return

    async with raw(send_answers) as port:
        address, token = parse_address(f"http://127.0.0.1:{port}", TOKEN)
        theirs = RestClient(address, token, QUICK)
        for _ in range(4):
            await theirs.conversation("ses_a/../b")
        await theirs.close()
    assert len(heads) == 3
    for head in heads:
        assert head.startswith(b"GET /sessions/ses_a%2F..%2Fb/messages HTTP/1.1\r\n")
        assert b"cookie" not in head.lower()
        assert f"authorization: Bearer {TOKEN}".encode() in head
