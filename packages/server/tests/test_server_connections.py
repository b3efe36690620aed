"""Connections without a token cannot use up the server: not by number, and not by slowness."""

import asyncio
import io
import json
import logging
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import aiohttp
import pytest

from heald.testing import ScriptedServer, wire_reply
from heald_server.http import bounded_http, connections
from heald_server.http.connections import Connection, ConnectionTable
from heald_server.http.json_logs import configure_logging
from heald_server.http.loop_errors import RepeatFilter
from heald_server.http.uvicorn_server import bind
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from raw_bytes import raw
from serving_parts import TOKEN, served

HERE = Path(__file__).parent
DESCRIPTORS = 1024
CLIENTS = 2000
SECONDS = 12.0


class _Transport:
    """Remembers whether it was aborted."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.aborted = False

    def get_extra_info(self, _: str) -> tuple[str, int]:
        return self.address, 1

    def abort(self) -> None:
        self.aborted = True


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _opened(table: ConnectionTable, address: str = "10.0.0.1") -> tuple[Connection, _Transport]:
    transport = _Transport(address)
    return table.open(cast("asyncio.Transport", transport)), transport


async def test_responses_on_a_kept_connection_are_sent_at_once() -> None:
    opened: asyncio.Future[asyncio.Transport] = asyncio.get_running_loop().create_future()

    class _Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            opened.set_result(cast("asyncio.Transport", transport))

    bound = bind(ServerSettings(port=0))
    async with await asyncio.get_running_loop().create_server(_Accepted, sock=bound):
        _, writer = await asyncio.open_connection(*bound.getsockname())
        transport = await opened
        accepted: socket.socket = transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        transport.close()
        writer.close()
        await writer.wait_closed()


def test_a_further_unknown_connection_closes_the_one_that_waits_longest() -> None:
    table = ConnectionTable(max_known=10, max_unknown=3)
    (first, oldest), (_, two), (_, three) = _opened(table), _opened(table), _opened(table)
    first.deadline = None  # its request is being answered
    _opened(table)
    assert [connection.aborted for connection in (oldest, two, three)] == [False, True, False]
    assert len(table) == 3


def test_the_address_with_most_connections_loses_one() -> None:
    table = ConnectionTable(max_known=10, max_unknown=3)
    _, honest = _opened(table, "10.0.0.9")
    many = [_opened(table)[1] for _ in range(20)]
    assert not honest.aborted
    assert [connection.aborted for connection in many] == [True] * 18 + [False] * 2


def test_known_connections_are_kept_and_have_a_limit_of_their_own() -> None:
    table = ConnectionTable(max_known=2, max_unknown=1)
    connections_and_transports = [_opened(table) for _ in range(1)]
    assert connections_and_transports[0][0].authenticate()
    second, _ = _opened(table)
    assert second.authenticate()
    assert second.authenticate()  # the next request of the same connection
    third, _ = _opened(table)
    assert not third.authenticate()
    second.close()
    assert third.authenticate()
    assert not connections_and_transports[0][1].aborted


def test_a_late_connection_is_closed() -> None:
    clock = _Clock()
    table = ConnectionTable(max_known=2, max_unknown=2, clock=clock)
    connection, transport = _opened(table)
    clock.now = connections.HEAD_SECONDS
    table.close_late()
    assert not transport.aborted
    clock.now += 0.1
    table.close_late()
    assert transport.aborted
    assert len(table) == 0
    connection.close()  # the protocol hears of it later


def test_nothing_is_accepted_after_the_end() -> None:
    table = ConnectionTable(max_known=2, max_unknown=2)
    _, before = _opened(table)
    table.stop()
    _, after = _opened(table)
    assert before.aborted
    assert after.aborted


def test_equal_lines_are_counted_instead_of_repeated() -> None:
    clock = _Clock()
    repeats = RepeatFilter(10, clock)
    assert repeats.allows("a") == 0
    assert [repeats.allows("a") for _ in range(5)] == [None] * 5
    assert repeats.allows("b") == 0
    clock.now = 11.0
    assert repeats.allows("a") == 5


# --- on real sockets --------------------------------------------------------------------------------------------------


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time limits that a test can wait for."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "UNREAD_SECONDS"):
        monkeypatch.setattr(bounded_http, name, 0.3)


def _heads(port: int) -> dict[str, bytes]:
    host = f"Host: 127.0.0.1:{port}\r\n".encode()
    body = b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    authorization = f"Authorization: Bearer {TOKEN}\r\n".encode()
    return {
        "first head": b"GET /health HTTP/1.1\r\n" + host,
        "second head": b"GET /health HTTP/1.1\r\n" + host + b"\r\nGET /health HTTP/1.1\r\n" + host,
        "second head, known client": b"GET /sessions HTTP/1.1\r\n"
        + host
        + authorization
        + b"\r\nGET / HTTP/1.1\r\n"
        + host,
        "body": b"POST /login HTTP/1.1\r\n" + host + body,
        "body, known client": b"POST /sessions HTTP/1.1\r\n" + host + authorization + body,
        "body after a refusal": b"POST /sessions HTTP/1.1\r\nHost: elsewhere\r\n" + body,
    }


@pytest.mark.usefixtures("short_limits")
@pytest.mark.parametrize("kind", _heads(1))
async def test_every_head_and_body_has_a_time_limit(tmp_path: Path, kind: str) -> None:
    async with served(tmp_path) as server, raw(server) as connection:
        await connection.send(_heads(server.context.settings.port)[kind])
        async with asyncio.timeout(60):
            while await connection.send(b" "):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


@pytest.mark.usefixtures("short_limits")
async def test_a_body_that_keeps_its_rate_may_take_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_http, "BODY_BYTES", 10)
    async with served(tmp_path) as server, raw(server) as connection:
        body = b'{"title": "' + b"x" * 50 + b'"}'
        head = f"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1:{server.context.settings.port}\r\n"
        head += f"Authorization: Bearer {TOKEN}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        await connection.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
        for at in range(0, len(body), 4):
            assert await connection.send(body[at : at + 4])
            await asyncio.sleep(0.1)
        assert b" 201 " in await connection.rest()


@pytest.mark.usefixtures("short_limits")
async def test_a_socket_has_none_of_these_limits(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await server.session()
        async with server.client.ws_connect(f"/sessions/{session}/ws") as socket:
            assert (await socket.receive_json())["type"] == "subscribed"
            with pytest.raises(TimeoutError):  # nothing comes, and nothing is closed
                await socket.receive(2.5)
            await socket.send_json({"type": "ping"})
            assert (await socket.receive_json())["type"] == "pong"


async def test_a_client_that_leaves_before_its_socket_is_accepted_is_no_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path) as server:
        session = await server.session()
        for _ in range(20):
            async with raw(server) as connection:
                head = f"GET /sessions/{session}/ws HTTP/1.1\r\nHost: 127.0.0.1:{server.context.settings.port}\r\n"
                head += f"Authorization: Bearer {TOKEN}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                head += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                await connection.send(head.encode())
        await asyncio.sleep(0.2)
    assert not [line for line in caplog.messages if "failed" in line]


async def test_too_many_known_connections(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(connections=3))
    async with served(tmp_path, settings=settings) as server:
        session = await server.session()
        streams: list[aiohttp.ClientResponse] = []
        while len(streams) < 10:
            got = await server.client.get(f"/sessions/{session}/events", headers={"Connection": "close"})
            streams.append(got)
            if got.status != 200:
                break
        assert streams[-1].status == 503
        assert "as many connections" in (await streams[-1].json())["error"]["message"]
        async with server.client.get("/health") as health:
            assert health.status == 200
        for stream in streams:
            stream.close()


async def test_a_request_cannot_write_lines_into_the_log(tmp_path: Path) -> None:
    """Whatever a path or header holds, the log has one line of JSON for a request."""
    lines = io.StringIO()
    configure_logging("info", [TOKEN], lines)
    try:
        async with served(tmp_path) as server, raw(server) as connection:
            port = server.context.settings.port
            path = "/x%0a%7b%22level%22:%22error%22%7d%0d%1b%5b2J%e2%80%ae"
            head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
            await connection.send(f"{head}Authorization: Bearer {TOKEN}\r\nUser-Agent: a\\nb\r\n\r\n".encode())
            assert b" 404 " in await connection.rest(5)
    finally:
        logging.getLogger("heald").handlers = []
    written = [json.loads(line) for line in lines.getvalue().splitlines()]
    (about,) = [line for line in written if "/x" in line["message"]]
    assert about["level"] == "info"
    assert "\x1b" not in lines.getvalue()
    assert TOKEN not in lines.getvalue()


@asynccontextmanager
async def _limited_server(folder: Path, model: str) -> AsyncGenerator[tuple[int, Path]]:
    """`heald serve` that may have 1,024 descriptors, with its port and the file of its log."""
    log = folder / "log"
    words = [
        *(sys.executable, "-m", "heald_cli.main", "serve", "--no-open", "--json", "--port", "0", "--token", TOKEN),
        *("--data", str(folder / "data"), "--model", "m", "--base-url", model, "--log", "info"),
    ]
    with log.open("wb") as lines:
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh", *words),
            stdout=asyncio.subprocess.PIPE,
            stderr=lines,
        )
        try:
            assert process.stdout is not None
            ready = json.loads(await process.stdout.readline())
            yield int(ready["url"].rpartition(":")[2]), log
        finally:
            process.terminate()
            await process.wait()


async def _latency(client: aiohttp.ClientSession) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with client.get("/health", headers={"Connection": "close"}) as health:
        assert health.status == 200
    return loop.time() - began


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are limited by ulimit")
async def test_two_thousand_dripping_clients(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`/health` and the stream of a client with a token go on, and the log stays small."""
    answer = wire_reply("chat", text="word " * 200)
    async with (
        ScriptedServer([answer] * 1000) as model,
        _limited_server(tmp_path, model.url) as (port, log),
        aiohttp.ClientSession(f"http://127.0.0.1:{port}", timeout=aiohttp.ClientTimeout(30)) as client,
    ):
        drips = await asyncio.create_subprocess_exec(
            *("sh", "-c", 'ulimit -n 8192 2>/dev/null; exec "$@"', "sh", sys.executable),
            *(str(HERE / "dripping_clients.py"), str(port), str(CLIENTS), str(SECONDS)),
            stdout=asyncio.subprocess.PIPE,
        )
        headers = {"Authorization": f"Bearer {TOKEN}"}
        latencies: list[float] = []
        exchanges = 0
        while drips.returncode is None:
            latencies.append(await _latency(client))
            exchanges += await _exchange(client, headers)
            try:
                async with asyncio.timeout(0.2):
                    await drips.wait()
            except TimeoutError:
                pass
        assert drips.stdout is not None
        opened = int(await drips.stdout.read())
        latencies.sort()
        with capsys.disabled():
            median, worst = (latencies[int(len(latencies) * share)] for share in (0.5, 0.99))
            print(
                f"\n{opened} connections, {len(latencies)} times /health: median {median:.3f} s, p99 {worst:.3f} s; "
                f"{exchanges} exchanges; log {log.stat().st_size} bytes"
            )
    assert opened > CLIENTS / 2  # else nobody dripped
    assert exchanges >= 2
    assert 0 < log.stat().st_size < 1_000_000


async def _exchange(client: aiohttp.ClientSession, headers: dict[str, str]) -> int:
    """Ask in a new session, and read the stream to the end of the exchange."""
    async with client.post("/sessions", json={}, headers=headers) as made:
        session = (await made.json())["id"]
    async with client.post(f"/sessions/{session}/messages", json={"text": "Go."}, headers=headers) as asked:
        assert asked.status < 300, await asked.text()
    async with client.get(f"/sessions/{session}/events", headers=headers) as stream:
        assert stream.status == 200
        async for line in stream.content:
            if b'"type":"exchange_response"' in line:
                assert b'"status":"completed"' in line
                return 1
    return 0
