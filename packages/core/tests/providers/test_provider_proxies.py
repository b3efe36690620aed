"""Proxies from the environment: used for others, never for this machine, and told nothing they need not know.

The scripted server plays the proxy: a plain request comes to it with a whole address, a TLS one with CONNECT.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from provider_bench import KEY, ONCE, ask, error_of, is_one_sentence, session_at, turn_of, written
from provider_sockets import RawServer, certificate, refused_port

from heald.core.errors import ConnectionFailed
from heald.http1.tls import tls_context
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

HOST = "http://models.test"
ANSWER = wire_reply("chat", text="Hello")


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
async def test_a_plain_request_goes_to_the_proxy(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER]) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert (await turn_of(session_at(HOST))).text == "Hello"
        (request,) = proxy.requests
    assert request.path == f"{HOST}/v1/chat/completions"
    assert request.headers["host"] == "models.test"
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_a_proxy_that_wants_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:hunter2@"))
        await turn_of(session_at(HOST))
        (request,) = proxy.requests
    assert request.headers["proxy-authorization"] == "Basic bWU6aHVudGVyMg=="
    assert "hunter2" not in request.path


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_reached_directly(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([]) as proxy, ScriptedServer([ANSWER]) as server:
        for variable in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(variable, proxy.url)
        assert (await turn_of(session_at(server.url.replace("127.0.0.1", host)))).text == "Hello"
        assert proxy.requests == []


@pytest.mark.parametrize("no_proxy", ["models.test", ".test", "other.test, models.test", "*"])
async def test_no_proxy_is_honoured(no_proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", no_proxy)
        error = await error_of(session_at(HOST, retry=ONCE))
        assert proxy.requests == []
    assert f"Cannot connect to {HOST}" in str(error)


async def test_no_proxy_names_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "other.test,127.0.0.1")
        assert (await turn_of(session_at(HOST))).text == "Hello"


async def test_a_proxy_for_another_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer([ANSWER]) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        await error_of(session_at(HOST, retry=ONCE))
        assert proxy.requests == []


async def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:hunter2@127.0.0.1:{refused_port()}")
    error, events = await ask(session_at(HOST, retry=ONCE))
    assert isinstance(error, ConnectionFailed)
    assert f"The proxy to {HOST} failed (Connection refused); check" in str(error)
    assert is_one_sentence(str(error))
    assert "hunter2" not in str(error) + written(events)


# --- TLS through a tunnel ---------------------------------------------------------------------------------------


class Tunnel:
    """A proxy for TLS: answers CONNECT, then passes bytes on without reading them."""

    def __init__(self, port: int, refusal: bytes = b"") -> None:
        self.heads: list[bytes] = []
        self._port = port
        self._refusal = refusal

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self._refusal or b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        if self._refusal:
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            await asyncio.gather(_pass(reader, inner_writer), _pass(inner_reader, writer))
        finally:
            inner_writer.transport.abort()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    assert KEY.encode() in head
    stream = b"".join(wire_stream("chat", text="Hello"))
    writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n" + stream)
    await writer.drain()
    writer.close()
    await writer.wait_closed()


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    tls_context.cache_clear()
    yield tmp_path
    tls_context.cache_clear()


async def test_tls_goes_through_a_tunnel(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, context = certificate(trusted, "models.test")
    async with RawServer(answer, context) as server:
        tunnel = Tunnel(server.port)
        async with RawServer(tunnel) as proxy:
            monkeypatch.setenv("https_proxy", proxy.url.replace("//", "//me:hunter2@"))
            assert (await turn_of(session_at("https://models.test"))).text == "Hello"
    (head,) = tunnel.heads
    assert head.startswith(b"CONNECT models.test:443 HTTP/1.1\r\n")
    assert b"Basic bWU6aHVudGVyMg==" in head
    assert KEY.encode() not in head


@pytest.mark.parametrize("status", [403, 407, 502])
async def test_a_tunnel_that_is_refused(status: int, trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate(trusted, "models.test")
    refusal = f"HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n".encode()
    async with RawServer(Tunnel(0, refusal)) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("//", "//me:hunter2@"))
        error, events = await ask(session_at("https://models.test", retry=ONCE))
    assert isinstance(error, ConnectionFailed)
    assert "The proxy to https://models.test failed" in str(error)
    assert str(status) in str(error)
    assert is_one_sentence(str(error))
    assert "hunter2" not in str(error) + written(events)
    assert KEY not in str(error) + written(events)
