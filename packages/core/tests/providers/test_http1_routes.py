"""The route to a server: hosts without a proxy, SOCKS5 proxies, several addresses, refusals of TLS."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from provider_bench import ONCE, error_of, session_at, turn_of
from provider_sockets import RawServer, certificate

from heald.http1.pool import get_once
from heald.http1.proxy import is_excluded
from heald.http1.request import Origin, RequestTarget
from heald.http1.tls import tls_context
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

ANSWER = wire_reply("chat", text="Hello")


# --- NO_PROXY -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "host", "port", "excluded"),
    [
        ("10.0.0.0/8", "10.20.30.40", 443, True),
        ("10.0.0.0/8", "11.0.0.1", 443, False),
        ("10.1.2.3/8", "10.20.30.40", 443, True),
        ("10.0.0.0/8", "10.example.com", 443, False),
        ("fd00::/8", "fd12::1", 443, True),
        ("fd00::/8", "10.0.0.1", 443, False),
        ("10.0.0.0/nonsense", "10.0.0.1", 443, False),
        ("*.example.com", "api.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "badexample.com", 443, False),
        (".example.com", "example.com", 443, True),
        ("example.com", "a.b.Example.COM.", 443, True),
        ("example.com", "badexample.com", 443, False),
        ("example.com:8443", "example.com", 8443, True),
        ("example.com:8443", "example.com", 443, False),
        ("::1", "::1", 80, True),
        ("[::1]", "::1", 80, True),
        ("[::1]:8080", "::1", 8080, True),
        ("[::1]:8080", "::1", 80, False),
        ("2001:db8::1", "2001:0db8:0:0::1", 443, True),
        ("192.0.2.1", "192.0.2.10", 443, False),
        ("other.test, example.com", "example.com", 443, True),
        ("*", "anything", 1, True),
        (".", "example.com", 443, False),
        ("", "example.com", 443, False),
    ],
)
def test_hosts_without_a_proxy(entry: str, host: str, port: int, excluded: bool) -> None:
    assert is_excluded(entry, host, port) is excluded


@pytest.mark.parametrize(("no_proxy", "asked"), [("192.0.2.0/24", 0), ("198.51.100.0/24", 1)])
async def test_a_network_in_the_environment(no_proxy: str, asked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("NO_PROXY", no_proxy)
        target = RequestTarget.parse("http://192.0.2.7/v1", proxy_of("http://192.0.2.7/v1"))
        assert (target.origin.proxy is not None) is bool(asked)


def proxy_of(url: str) -> Any:
    from heald.http1.proxy import proxy_for

    return proxy_for(url)


# --- SOCKS5 ---------------------------------------------------------------------------------------------------------


class SocksServer:
    """A SOCKS5 proxy that connects every request to one port of this machine, and keeps what it was asked."""

    def __init__(self, port: int, *, login: tuple[bytes, bytes] | None = None, reply: int = 0) -> None:
        self.asked: list[tuple[int, bytes, int]] = []
        self._port = port
        self._login = login
        self._reply = reply
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[str]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        try:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            if await self._shake_hands(reader, writer):
                inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    await asyncio.gather(_copy(reader, outer), _copy(inner, writer))
                finally:
                    outer.transport.abort()
        writer.transport.abort()

    async def _shake_hands(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        required_method = 2 if self._login is not None else 0
        writer.write(bytes([5, required_method if required_method in methods else 255]))
        if required_method not in methods:
            return False
        if self._login is not None:
            user = await reader.readexactly((await reader.readexactly(2))[1])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            writer.write(bytes([1, (user, password) != self._login]))
            if (user, password) != self._login:
                return False
        kind = (await reader.readexactly(4))[3]
        size = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        host = await reader.readexactly(size)
        self.asked.append((kind, host, int.from_bytes(await reader.readexactly(2))))
        writer.write(bytes([5, self._reply, 0, 1, 0, 0, 0, 0, 0, 0]))
        return not self._reply


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()
    writer.close()


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@pytest.mark.parametrize("login", [None, (b"me", b"a:b")], ids=["open", "password"])
async def test_a_request_through_socks(login: tuple[bytes, bytes] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER, ANSWER]) as server:
        socks = SocksServer(port_of(server.url), login=login)
        async with socks.running() as place:
            monkeypatch.setenv("all_proxy", f"socks5h://{'me:a%3Ab@' if login else ''}{place}")
            session = session_at("http://models.test")
            assert (await turn_of(session)).text == "Hello"
            assert (await turn_of(session)).text == "Hello"
        assert socks.asked == [(3, b"models.test", 80)]
        assert server.requests[0].path == "/v1/chat/completions"
        assert server.requests[0].headers["host"] == "models.test"


async def test_a_name_that_is_resolved_here(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER]) as server:
        socks = SocksServer(port_of(server.url))
        async with socks.running() as place:
            monkeypatch.setenv("all_proxy", f"socks5://{place}")
            assert (await turn_of(session_at("http://192.0.2.7:8080"))).text == "Hello"
    assert socks.asked == [(1, bytes([192, 0, 2, 7]), 8080)]


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    tls_context.cache_clear()
    yield tmp_path
    tls_context.cache_clear()


async def test_tls_through_socks(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"".join(wire_stream("chat", text="Hello"))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        writer.write(head + body)
        await writer.drain()
        writer.close()

    _, context = certificate(trusted, "models.test")
    async with RawServer(serve, context) as server:
        socks = SocksServer(port_of(server.url))
        async with socks.running() as place:
            monkeypatch.setenv("https_proxy", f"socks5h://{place}")
            assert (await turn_of(session_at("https://models.test"))).text == "Hello"
    assert socks.asked == [(3, b"models.test", 443)]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"reply": 2}, "its rules do not allow the connection"),
        ({"reply": 5}, "the host refused the connection"),
        ({"login": (b"me", b"other")}, "it did not accept the user and password"),
    ],
)
async def test_a_socks_proxy_that_refuses(
    options: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SocksServer(1, **options).running() as place:
        monkeypatch.setenv("all_proxy", f"socks5h://me:secret@{place}")
        error = await error_of(session_at("http://models.test", retry=ONCE))
    assert f"The proxy to http://models.test failed ({reason})" in str(error)
    assert "secret" not in str(error)


# --- several addresses ----------------------------------------------------------------------------------------------


@asynccontextmanager
async def silent_port(host: str, port: int) -> AsyncGenerator[None]:
    """A port whose queue is full: a connection is neither made nor refused."""
    listener = socket.socket()
    waiting: list[socket.socket] = []
    try:
        listener.bind((host, port))
        listener.listen(0)
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            with suppress(BlockingIOError):
                client.connect((host, port))
            waiting.append(client)
        await asyncio.sleep(0.05)
        yield
    finally:
        for client in (listener, *waiting):
            client.close()


async def test_a_silent_address_does_not_delay_the_next_one() -> None:
    async with ScriptedServer([ANSWER]) as server, silent_port("127.0.0.2", port_of(server.url)):
        origin = Origin("http", "models.test", port_of(server.url), addresses=("127.0.0.2", "127.0.0.1"))
        async with asyncio.timeout(60):
            async with get_once(RequestTarget(origin, "/"), {}, tls=None, connect_timeout=120) as reply:
                assert reply.status == 200


async def test_all_addresses_refuse() -> None:
    from heald.http1.errors import Unreachable

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    origin = Origin("http", "models.test", port, addresses=("127.0.0.2", "127.0.0.1", "::1"))
    with pytest.raises(Unreachable):
        async with get_once(RequestTarget(origin, "/"), {}, tls=None, connect_timeout=10):
            pass


# --- refusals of TLS ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [b"\x15\x03\x03\x00\x02\x02\x28", b""], ids=["alert", "closed"])
async def test_a_server_that_refuses_tls(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(answer)
        writer.close()

    async with RawServer(serve) as server:
        url = server.url.replace("http:", "https:")
        error = await error_of(session_at(url, retry=ONCE))
    assert f"{url} refused the TLS connection (" in str(error)
    assert "plain http" not in str(error)
