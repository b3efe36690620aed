"""Programs and networks that are not ours: proxies that keep connections, balancers, containers, slow lines, SDKs that
repeat requests, and pages that wait for a sign of life."""

import asyncio
import gzip
import json
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest
from openai import APIStatusError, AsyncOpenAI

import heald
from heald.core.json import loads
from heald.sessions.memory import MemoryStore
from heald.testing.server import Reply, ScriptedServer
from heald_server.http import uvicorn_server
from heald_server.http.uvicorn_server import UvicornServer, bind
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from raw_bytes import raw
from serving_parts import TOKEN, S, Served, context_on, served, serving

STALL = 0.6
PROXIES_KEEP = 60


# --- a socket with nothing to say ------------------------------------------------------------------------------------


async def test_a_socket_that_follows_nothing_has_a_pulse(tmp_path: Path) -> None:
    """A page without a session sees no pings: without messages it takes the connection for a dead one."""
    settings = ServerSettings(port=0, heartbeat_seconds=0.1)
    async with served(tmp_path, settings=settings) as server, server.client.ws_connect("/ws") as connection:
        async with asyncio.timeout(120):
            said = [await connection.receive_json() for _ in range(3)]
        assert said == [{"type": "heartbeat"}] * 3


# --- a slow line -----------------------------------------------------------------------------------------------------


def _bind_with_small_buffers(settings: ServerSettings) -> socket.socket:
    """As on a slow line, where the kernel holds little of what was written."""
    bound = bind(settings)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return bound


async def _read_slowly(server: Served, head: str, end: bytes) -> bytes:
    """Read a response of the server, far slower than a batch of events in the time limit."""
    loop = asyncio.get_running_loop()
    received = b""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.setblocking(False)
        await loop.sock_connect(line, ("127.0.0.1", server.context.settings.port))
        await loop.sock_sendall(line, head.encode())
        while end not in received[-2000:]:
            await asyncio.sleep(0.02)
            piece = await loop.sock_recv(line, 3072)
            assert piece, "the server has disconnected"
            received += piece
    return received


@pytest.mark.parametrize("over", ["sse", "ws"])
async def test_a_slow_reader_is_served_as_long_as_it_reads(
    over: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn_server, "bind", _bind_with_small_buffers)
    settings = ServerSettings(port=0, limits=ServerLimits(stall_seconds=STALL))
    async with served(tmp_path, lambda: S(["y" * 200_000], piece=3_000), settings=settings) as server:
        session = await server.session()
        await server.ended(session, (await server.send(session))["exchange"])
        identity = f"Host: 127.0.0.1:{server.context.settings.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        upgrade = f"Connection: Upgrade\r\nUpgrade: websocket\r\n{key}" if over == "ws" else ""
        path = "ws" if over == "ws" else "events"
        head = f"GET /sessions/{session}/{path}?after=0 HTTP/1.1\r\n{identity}{upgrade}\r\n"
        async with asyncio.timeout(60):
            received = await _read_slowly(server, head, b'"type":"exchange_response"')
        assert received.count(b'"type":"text_delta"') == sum(
            event.type == "text_delta" for event in await server.log(session)
        )


# --- proxies, balancers and containers -------------------------------------------------------------------------------


async def test_a_proxy_closes_an_idle_connection_before_the_server_does() -> None:
    context = context_on(MemoryStore(), {"scripted": lambda: S(["Hello."])})

    async def app(*_: object) -> None:
        """Answers nothing."""

    assert UvicornServer(app, context).config.timeout_keep_alive > PROXIES_KEEP


async def _status(server: Served, path: str, host: str, token: str | None = None) -> int:
    headers = {"Host": host} | ({"Authorization": f"Bearer {token}"} if token else {})
    async with aiohttp.ClientSession() as client, client.get(f"{server.url}{path}", headers=headers) as answer:
        return answer.status


async def test_a_server_on_a_network_has_the_names_that_programs_with_its_token_use(tmp_path: Path) -> None:
    settings = ServerSettings(host="0.0.0.0", port=0)
    async with served(tmp_path, settings=settings) as server:
        port = server.context.settings.port
        assert await _status(server, "/", f"localhost:{port}") == 200
        assert await _status(server, "/v1/models", f"localhost:{port}", TOKEN) == 200
        assert await _status(server, "/v1/models", f"heald:{port}", TOKEN) == 200  # another container
        assert await _status(server, "/v1/models", f"heald:{port}") == 403
        assert await _status(server, "/v1/models", f"heald:{port}", "a-token-that-nobody-has") == 403
        assert await _status(server, "/", f"rebound.test:{port}") == 403
        async with aiohttp.ClientSession() as client:
            headers = {"Host": f"heald:{port}", "Authorization": f"Bearer {TOKEN}"}
            async with client.ws_connect(f"{server.url}/ws", headers=headers) as connection:
                assert not connection.closed


async def test_a_token_is_no_name_of_a_server_on_this_machine(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        assert await _status(server, "/v1/models", f"heald:{server.context.settings.port}", TOKEN) == 403


@pytest.mark.parametrize("path", ["/health", "/ready"])
async def test_a_balancer_that_names_no_host_is_answered(path: str, tmp_path: Path) -> None:
    async with served(tmp_path) as server, raw(server) as connection:
        await connection.send(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        assert (await connection.rest()).startswith(b"HTTP/1.1 200 OK")


# --- requests in forms that are rare -------------------------------------------------------------------------------


UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nSec-WebSocket-Version: 13"
)


@pytest.mark.parametrize(
    ("target", "host", "more", "status"),
    [
        ("http://{address}/health", "{address}", "Connection: close", b"200"),
        ("HTTP://{address}/v1/models?a=%2F", "{address}", "Connection: close", b"200"),
        ("http://{address}", "elsewhere.test", "Connection: close", b"200"),  # the address counts, not the header
        ("http://elsewhere.test/v1/models", "{address}", "Connection: close", b"403"),
        ("http://elsewhere.test%2F@{address}/v1/models", "{address}", "Connection: close", b"403"),
        ("ftp://{address}/health", "{address}", "Connection: close", b"404"),
        ("http://{address}/ws", "elsewhere.test", UPGRADE, b"101"),
        ("http://elsewhere.test/ws", "{address}", UPGRADE, b"403"),
    ],
)
async def test_a_target_may_be_a_whole_address(
    target: str, host: str, more: str, status: bytes, tmp_path: Path
) -> None:
    async with served(tmp_path) as server, raw(server) as connection:
        address = f"127.0.0.1:{server.context.settings.port}"
        head = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n{more}\r\n\r\n"
        await connection.send(head.format(address=address).encode())
        answer = await connection.reader.readline()
        assert answer.split(b" ")[1] == status, answer


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/sessions", {"title": "Ä"}, 201),
        ("/login", {"token": TOKEN}, 200),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}]}, 200),
        ("/api/chat", {"messages": [{"role": "user", "content": "Hello"}]}, 200),
    ],
)
async def test_a_body_may_begin_with_a_byte_order_mark(
    path: str, body: dict[str, object], status: int, tmp_path: Path
) -> None:
    async with served(tmp_path) as server:
        headers = {"Content-Type": "application/json"}
        data = json.dumps(body, ensure_ascii=False).encode("utf-8-sig")
        async with server.client.post(path, data=data, headers=headers) as answer:
            assert answer.status == status, await answer.text()


async def test_a_compressed_body_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        data = gzip.compress(b'{"title": "Mine"}')
        async with server.client.post("/sessions", data=data, headers=headers) as answer:
            assert (answer.status, answer.headers["Accept-Encoding"]) == (415, "identity")
            assert "without a Content-Encoding" in (await answer.json())["error"]["message"]
        headers["Content-Encoding"] = "identity"
        async with server.client.post("/sessions", data=b'{"title": "Mine"}', headers=headers) as answer:
            assert answer.status == 201


# --- SDKs that repeat requests ---------------------------------------------------------------------------------------


ASK: dict[str, Callable[[AsyncOpenAI], Awaitable[object]]] = {
    "chat": lambda client: client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}]),
    "responses": lambda client: client.responses.create(model="m", input="Hello"),
}


@pytest.mark.parametrize(("status", "seen"), [(400, 400), (401, 400), (404, 404)])
@pytest.mark.parametrize("api", list(ASK))
async def test_an_sdk_does_not_repeat_an_exchange_that_failed(api: str, status: int, seen: int) -> None:
    """With its default settings: other tests turn its repetitions off."""
    refusal = Reply.json({"error": {"message": "Refused.", "code": "refused"}}, status)
    async with ScriptedServer(lambda _: refusal) as provider:

        def model() -> heald.Model:
            return heald.Model("m", wire="chat", base_url=f"{provider.url}/v1", api_key="key", provider="test")

        async with (
            serving(context_on(MemoryStore(), {"m": model})) as server,
            AsyncOpenAI(base_url=f"{server.url}/v1", api_key=TOKEN) as client,
        ):
            assert client.max_retries > 0
            with pytest.raises(APIStatusError) as caught:
                await ASK[api](client)
            assert caught.value.status_code == seen
            assert len(provider.requests) == 1


# --- a server that stops ---------------------------------------------------------------------------------------------


def _asked(*, stream: bool) -> dict[str, object]:
    return {"model": "scripted", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.mark.parametrize("stream", [True, False])
async def test_a_response_is_completed_when_the_server_stops(stream: bool, tmp_path: Path) -> None:
    """A client of another API cannot resume: a rolling restart would break every request."""
    words = "Word after word. " * 20
    async with served(tmp_path, lambda: S([words], piece=4, pause=0.01)) as server:
        asking = asyncio.create_task(_text_of(server, _asked(stream=stream)))
        async with asyncio.timeout(120):
            while not server.context._streams:  # noqa: ASYNC110  # pyright: ignore[reportPrivateUsage]
                await asyncio.sleep(0.01)
            server.context.end_streams()
            assert await asking == words


async def _text_of(server: Served, body: dict[str, object]) -> str:
    """All text of a completion, streamed or not."""
    async with server.client.post("/v1/chat/completions", json=body) as answer:
        assert answer.status == 200, await answer.text()
        if not body["stream"]:
            return (await answer.json())["choices"][0]["message"]["content"]
        lines = [line[6:] async for line in answer.content if line.startswith(b"data: {")]
        assert not any(b'"error"' in line for line in lines), lines[-1]
        return "".join(loads(line)["choices"][0]["delta"].get("content", "") for line in lines)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_server_that_stops_accepts_no_request(stream: bool, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        await _text_of(server, _asked(stream=stream))
        server.context.end_streams()
        async with server.client.post("/v1/chat/completions", json=_asked(stream=stream)) as answer:
            assert (answer.status, "Retry-After" in answer.headers) == (503, True)
