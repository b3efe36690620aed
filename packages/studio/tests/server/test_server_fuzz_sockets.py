"""Malformed input on every way in: no failure, no traceback, no growth, and others are answered all the while.

By default a part of it is sent; HEALD_FUZZ=all sends 100,000.
"""

import asyncio
import logging
import os
from pathlib import Path

import aiohttp
import pytest

import heald
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from malformed import Malformed
from raw_bytes import raw, raw_socket, resident
from serving_parts import TOKEN, S, Served
from walked_routes import whole_server

ALL = os.environ.get("HEALD_FUZZ") == "all"
MESSAGES, FRAMES, REQUESTS, CURSORS = (60_000, 20_000, 15_000, 5_000) if ALL else (2_500, 1_000, 1_000, 500)
MB = 1024 * 1024
SETTINGS = ServerSettings(
    port=0, limits=ServerLimits(messages_per_second=10**7, sessions_per_minute=10**6, exchanges=200, queue=20)
)


def _model() -> heald.testing.ScriptedModel:
    return S(["Hello."] * 100_000)


class Watch:
    """What must hold throughout."""

    def __init__(self, server: Served, caplog: pytest.LogCaptureFixture) -> None:
        self._server = server
        self._caplog = caplog
        self._before = resident()

    async def is_well(self) -> None:
        async with self._server.client.get("/sessions?limit=1") as answer:
            assert answer.status == 200
        failed = [
            record.getMessage() for record in self._caplog.records if record.exc_info or "Traceback" in record.msg
        ]
        failed += [record.getMessage() for record in self._caplog.records if record.levelno >= logging.ERROR]
        assert not failed, failed[:3]
        self._caplog.clear()
        assert resident() - self._before < 250 * MB


async def _made(server: Served) -> list[str]:
    sessions = [await server.session() for _ in range(5)]
    await server.ended(sessions[0], (await server.send(sessions[0]))["exchange"])
    return sessions


@pytest.fixture(autouse=True)
def loud(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)


@pytest.mark.parametrize("where", ["/ws", "/sessions/{}/ws", "/generate-code"])
async def test_messages_that_make_no_sense(where: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with whole_server(tmp_path, SETTINGS, _model) as server:
        sessions = await _made(server)
        make, watch = Malformed(where, sessions), Watch(server, caplog)
        most = {"/ws": MESSAGES, "/sessions/{}/ws": MESSAGES // 3, "/generate-code": MESSAGES // 100}[where]
        sent = 0
        while sent < most:
            async with server.client.ws_connect(where.format(sessions[1]), max_msg_size=0) as socket:
                received = asyncio.Event()
                reading = asyncio.create_task(_read_all(socket, received))
                for _ in range(1 if where == "/generate-code" else 500):
                    message = make.message()
                    sent += 1
                    try:
                        text = message.decode()
                        await (socket.send_str(text) if sent % 3 else socket.send_bytes(message))
                    except UnicodeDecodeError:
                        await socket.send_bytes(message)
                    except (ConnectionError, aiohttp.ClientError):
                        break
                    if socket.closed:
                        break
                if where == "/generate-code":
                    await asyncio.wait([reading], timeout=5)
                else:
                    await _last_word(socket, received)
                reading.cancel()
                await asyncio.wait([reading])
            await watch.is_well()


async def _last_word(socket: aiohttp.ClientWebSocketResponse, received: asyncio.Event) -> None:
    """Once this is answered, all that was sent has been looked at."""
    if socket.closed:
        return
    await socket.send_json({"type": "ping", "id": "the last"})
    async with asyncio.timeout(60):
        await received.wait()


async def _read_all(socket: aiohttp.ClientWebSocketResponse, received: asyncio.Event) -> None:
    async for message in socket:
        if isinstance(message.data, str) and '"the last"' in message.data and "pong" in message.data:
            received.set()
    received.set()


@pytest.mark.parametrize("where", ["/ws", "/sessions/{}/ws"])
async def test_frames_that_are_none(where: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with whole_server(tmp_path, SETTINGS, _model) as server:
        sessions = await _made(server)
        make, watch = Malformed(f"frames {where}", sessions), Watch(server, caplog)
        sent = 0
        while sent < FRAMES // 2:
            async with raw_socket(server, where.format(sessions[1])) as socket:
                for _ in range(make.chance.randrange(1, 30)):
                    sent += 1
                    if not await socket.send(make.frames()):
                        break
                if make.chance.random() < 0.3:
                    await socket.rest(0.05)
            if sent % 10 == 0:
                await watch.is_well()
        await watch.is_well()


async def test_bytes_that_are_no_requests(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with whole_server(tmp_path, SETTINGS, _model) as server:
        sessions = await _made(server)
        make, watch = Malformed("requests", sessions), Watch(server, caplog)
        port = server.context.settings.port
        answered = 0
        for number in range(REQUESTS):
            async with raw(server) as connection:
                await connection.send(make.request(port, TOKEN))
                if make.chance.random() < 0.5:
                    connection.writer.write_eof()
                    got = await connection.rest(2)
                    assert b" 500 " not in got[:20], got
                    answered += got.startswith(b"HTTP/1.1 ")
            if number % 50 == 0:
                await watch.is_well()
        await watch.is_well()
        assert answered > REQUESTS // 10


async def test_cursors_that_are_none(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with whole_server(tmp_path, SETTINGS, _model) as server:
        sessions = await _made(server)
        make, watch = Malformed("cursors", sessions), Watch(server, caplog)
        for number in range(CURSORS):
            dialect = make.chance.choice(["native", "native", "loop", "ai-sdk", "x", ""])
            headers = {"Last-Event-ID": make.cursor().strip() or "-"}
            path = f"/sessions/{make.chance.choice(sessions)}/events?dialect={dialect}"
            async with server.client.get(path, headers=headers) as answer:
                assert answer.status in (200, 400, 409), await answer.text()
                if answer.status == 200 and dialect == "native":
                    assert (await answer.content.readany()).startswith(b"retry: 1000\n\n")
            if number % 50 == 0:
                await watch.is_well()
        await watch.is_well()
