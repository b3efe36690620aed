"""A network that fails says so in one sentence: where, what, and what to do."""

import asyncio
import socket
from collections.abc import Generator, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest
from provider_bench import KEY, ONCE, ask, attempts, error_of, is_one_sentence, session_at, turn_of, written
from provider_sockets import RawServer, certificate, hang_up, never_answer, refused_port

import heald
from heald.core.errors import ConnectionFailed, ProviderError, ProviderTimeout
from heald.core.events import RetryScheduled
from heald.core.payload import Payload
from heald.http1.tls import tls_context
from heald.testing.streams import wire_stream


def check(error: ProviderError, *words: str) -> None:
    told = str(error)
    assert is_one_sentence(told), told
    assert all(word in told for word in words), told
    assert KEY not in told


@pytest.fixture
def fresh_trust() -> Iterator[None]:
    """The trusted authorities are read once; here the environment changes."""
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


@contextmanager
def full_house() -> Generator[int]:
    """A port whose queue is full: it neither accepts nor refuses."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        try:
            for client in waiting:
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", port))
            yield port
        finally:
            for client in waiting:
                client.close()


async def test_nobody_listens() -> None:
    port = refused_port()
    error, events = await ask(session_at(f"http://127.0.0.1:{port}"))
    assert isinstance(error, ConnectionFailed)
    assert (error.code, error.retryable, error.reached) == ("connection", True, False)
    check(error, f"Cannot connect to http://127.0.0.1:{port} (Connection refused)", "check the address")
    assert attempts(events) == [1, 2, 3]


async def test_no_such_host() -> None:
    error, events = await ask(session_at("http://no-such-host.invalid"))
    assert isinstance(error, ConnectionFailed)
    check(error, "Cannot connect to http://no-such-host.invalid")
    assert attempts(events) == [1, 2, 3]


@pytest.mark.parametrize(("connect", "socket"), [(0.05, 120), (0.3, 0.1)])
async def test_nobody_opens(connect: float, socket: float) -> None:
    """A connection that is neither made nor refused: as few attempts as for a refused one."""
    with full_house() as port:
        timeouts = heald.Timeouts(connect=connect, socket=socket)
        error, events = await ask(session_at(f"http://127.0.0.1:{port}", timeouts=timeouts))
    assert isinstance(error, ProviderError)
    assert error.code in ("timeout", "connection")
    check(error, f"http://127.0.0.1:{port}")
    assert attempts(events) == [1, 2, 3]


async def test_a_server_that_never_answers() -> None:
    """Not even a status line: the socket's clock runs from the request on."""
    async with RawServer(never_answer) as server:
        session = session_at(server.url, retry=ONCE, timeouts=heald.Timeouts(connect=0.2, socket=0.2))
        async with asyncio.timeout(60):
            error = await error_of(session)
    assert isinstance(error, ProviderTimeout)
    check(error)


async def test_a_server_that_hangs_up() -> None:
    async with RawServer(hang_up) as server:
        error, events = await ask(session_at(server.url))
        assert server.connections == 10
    assert isinstance(error, ConnectionFailed)
    assert error.reached
    check(error, f"The connection to {server.url} broke", "try again")
    assert attempts(events) == list(range(1, 11))


async def test_no_http() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        await writer.drain()

    async with RawServer(talk) as server:
        check(await error_of(session_at(server.url, retry=ONCE)), server.url)


# --- TLS --------------------------------------------------------------------------------------------------------


async def test_tls_to_a_plain_port() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()

    async with RawServer(refuse) as server:
        url = server.url.replace("http:", "https:")
        error = await error_of(session_at(url, retry=ONCE))
    assert isinstance(error, ConnectionFailed)
    check(error, url)
    assert "Operation not permitted" not in str(error)  # errno 1 of a TLS error is not an errno of the system
    assert "certificate" not in str(error)  # there was none


async def test_a_handshake_that_never_ends() -> None:
    async with RawServer(never_answer) as server:
        url = server.url.replace("http:", "https:")
        error, events = await ask(session_at(url, timeouts=heald.Timeouts(connect=0.1)))
    assert isinstance(error, ProviderError)
    check(error, url)
    assert attempts(events) == [1, 2, 3]


async def test_plain_to_a_tls_port(tmp_path: Path) -> None:
    _, context = certificate(tmp_path, "localhost")
    async with RawServer(never_answer, context) as server:
        url = server.url.replace("https:", "http:")
        check(await error_of(session_at(url, retry=ONCE)), url)


@pytest.mark.usefixtures("fresh_trust")
async def test_a_certificate_nobody_signed(tmp_path: Path) -> None:
    _, context = certificate(tmp_path, "localhost")
    async with RawServer(hang_up, context) as server:
        error = await error_of(session_at(server.url, retry=ONCE))
    assert isinstance(error, ConnectionFailed)
    check(error, f"The TLS certificate of {server.url} is not trusted", "signed certificate", "SSL_CERT_FILE")


async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    stream = b"".join(wire_stream("chat", text="Hello"))
    writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n" + stream)
    await writer.drain()


@pytest.mark.usefixtures("fresh_trust")
@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
async def test_a_certificate_that_the_environment_trusts(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, context = certificate(tmp_path, "localhost")
    monkeypatch.setenv(variable, str(cert))
    async with RawServer(answer_once, context) as server:
        assert (await turn_of(session_at(server.url))).text == "Hello"


@pytest.mark.usefixtures("fresh_trust")
async def test_a_certificate_of_another_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cert, context = certificate(tmp_path, "models.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    async with RawServer(answer_once, context) as server:
        url = f"https://localhost:{server.port}"
        check(await error_of(session_at(url, retry=ONCE)), url, "not trusted")


# --- and after it -----------------------------------------------------------------------------------------------


async def test_a_server_that_comes_up_meanwhile() -> None:
    port = refused_port()
    async with AsyncExitStack() as stack:
        coming: list[asyncio.Task[RawServer]] = []

        def start(payload: Payload) -> None:
            if isinstance(payload, RetryScheduled):
                coming.append(asyncio.create_task(stack.enter_async_context(RawServer(answer_once, port=port))))

        turn = await session_at(f"http://127.0.0.1:{port}", retry=heald.Retry(base=0.2)).stream_turn(start)
        assert (turn.text, turn.attempts) == ("Hello", 2)
        await asyncio.gather(*coming)


async def test_events_of_a_failed_connection_state_what_the_error_states() -> None:
    error, events = await ask(session_at(f"http://127.0.0.1:{refused_port()}", retry=ONCE))
    assert str(error) in written(events)
