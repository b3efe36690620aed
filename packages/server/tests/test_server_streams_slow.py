"""Readers that do not read, streams with nothing to say, sessions that are closed or deleted under their readers."""

import asyncio
import gc
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from stream_readers import ENDS, Copy, sse_frames

import heald
from heald.core.events import ExchangeResponse
from heald_check.checker import check_log
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, S, Served, served


def _settings(**limits: Any) -> ServerSettings:
    return ServerSettings(port=0, limits=ServerLimits(**limits))


async def until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def _loud() -> heald.testing.ScriptedModel:
    """Some 12 MB, in events of 30 KB and, at the end of each turn, of 300 KB."""
    turns = [["x" * 300_000, S.call("list_files")] for _ in range(19)]
    return S([*turns, "That is all."], piece=30_000, pause=0.01)


async def _stuck(server: Served, session: str, over: str) -> socket.socket:
    """A client that asks for the stream and then takes nothing."""
    loop = asyncio.get_running_loop()
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    port = server.context.settings.port
    await loop.sock_connect(connection, ("127.0.0.1", port))
    path, more = f"/sessions/{session}/events", ""
    if over == "ws":
        key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13"
        path, more = f"/sessions/{session}/ws", f"Connection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n"
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n{more}\r\n"
    await loop.sock_sendall(connection, head.encode())
    return connection


def _connections(server: Served) -> int:
    return server.context.meters._owners[""].streams  # pyright: ignore[reportPrivateUsage]


def _transports() -> int:
    """Connections that the server still holds, as far as it can be seen in this process."""
    from uvicorn.protocols.http.h11_impl import H11Protocol
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    gc.collect()
    kinds = (H11Protocol, WebSocketsSansIOProtocol)
    held = [connection for connection in gc.get_objects() if isinstance(connection, kinds)]
    return sum(connection.transport.get_write_buffer_size() > 0 for connection in held)


@pytest.mark.parametrize("over", ["sse", "ws"])
async def test_a_client_that_accepts_nothing_is_cut_off_and_nobody_else_notices(over: str, tmp_path: Path) -> None:
    async with served(tmp_path, _loud, settings=_settings(stall_seconds=1.0)) as server:
        session = await server.session()
        stuck = [await _stuck(server, session, over) for _ in range(5)]
        await until(lambda: _connections(server) == 5)
        good = Copy(server.client, session, over=over)
        reading = asyncio.create_task(good.read(ENDS["native"]))
        await server.send(session)
        async with asyncio.timeout(60):
            assert await reading
        log = await server.log(session)
        assert not check_log(log)
        assert [told.json["id"] for told in good.frames] == [event.id for event in log]
        await until(lambda: _connections(server) <= 1)
        await until(lambda: _transports() == 0)  # not even what they had not taken is kept
        for connection in stuck:
            connection.close()
        back = Copy(server.client, session, over=over)
        assert await back.read(ENDS["native"])
        assert back.frames == good.frames


async def test_a_slow_but_steady_reader_is_not_dropped(tmp_path: Path) -> None:
    model = S(["y" * 300_000], piece=3_000)
    async with served(tmp_path, lambda: model, settings=_settings(stall_seconds=2.0)) as server:
        session = await server.session()
        accepted = await server.send(session)
        await server.ended(session, accepted["exchange"])
        async with server.client.get(f"/sessions/{session}/events") as answer:
            frames = sse_frames(answer)
            seen = 0
            async with asyncio.timeout(60):
                async for told in frames:
                    seen += 1
                    assert told.cursor == seen
                    await asyncio.sleep(0.02)
                    if told.json["type"] == "exchange_response":
                        break
        assert seen == len(await server.log(session))


async def test_streams_with_nothing_to_send_have_a_pulse(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(ServerSettings(port=0), heartbeat_seconds=0.2)
    async with served(tmp_path, settings=settings) as server:
        session = await server.session()
        async with server.client.get(f"/sessions/{session}/events") as answer:
            head = await answer.content.readuntil(b": heartbeat\n\n")
            assert head == b"retry: 1000\n\n: heartbeat\n\n"
            assert await answer.content.readuntil(b"\n\n") == b": heartbeat\n\n"
        async with server.client.ws_connect(f"/sessions/{session}/ws") as connection:
            said = [await connection.receive_json() for _ in range(3)]
            assert [message["type"] for message in said] == ["subscribed", "heartbeat", "heartbeat"]
        async with server.client.get(f"/sessions/{session}/events?dialect=openai") as answer:
            assert await answer.content.readuntil(b": heartbeat\n\n")


async def test_deleting_a_session_ends_its_streams_and_what_runs(tmp_path: Path) -> None:
    model = S(["Word after word. " * 200], piece=4, pause=0.01)
    async with served(tmp_path, lambda: model) as server:
        session = await server.session()
        async with (
            server.client.get(f"/sessions/{session}/events") as answer,
            server.client.get(f"/sessions/{session}/events?dialect=loop") as other,
            server.client.ws_connect(f"/sessions/{session}/ws") as socket,
            server.client.ws_connect("/ws") as many,
        ):
            await many.send_json({"type": "subscribe", "session": session})
            await server.send(session)
            while (await many.receive_json()).get("type") != "text_delta":
                pass
            async with server.client.delete(f"/sessions/{session}") as deleted:
                assert deleted.status == 204, await deleted.text()
            async with asyncio.timeout(120):
                told = [told async for told in sse_frames(answer)]
                assert (told[-1].event, told[-1].json["reason"]) == ("goodbye", "deleted")
                assert (await other.content.read()).count(b"event: done") <= 1
                while (message := await socket.receive()).type == aiohttp.WSMsgType.TEXT:
                    pass
                assert (message.type, socket.close_code) == (aiohttp.WSMsgType.CLOSE, 4404)
                while (said := await many.receive_json())["type"] != "goodbye":
                    pass
                assert said == {"type": "goodbye", "session": session, "reason": "deleted", "resume": said["resume"]}
                await many.send_json({"type": "ping", "id": 1})
                assert (await many.receive_json())["type"] == "pong"
        async with server.client.get(f"/sessions/{session}/events") as gone:
            assert gone.status == 404
        with pytest.raises(aiohttp.WSServerHandshakeError, match="404"):
            await server.client.ws_connect(f"/sessions/{session}/ws")
        assert server.context.open_sessions.busy == 0


async def test_idle_sessions_are_closed_under_their_readers_and_reopen(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["Hello."])) as server:
        session = await server.session()
        copy = Copy(server.client, session, over="ws")
        ends: list[str] = []

        def second(told: Any) -> bool:
            ends.extend([told.data] if ENDS["native"](told) else [])
            return len(ends) == 2

        reading = asyncio.create_task(copy.read(second))
        accepted = await server.send(session)
        await server.ended(session, accepted["exchange"])
        assert server.context.open_sessions.find_open(session) is not None
        await asyncio.sleep(0.05)
        await server.context.open_sessions.close_idle(0.0)
        assert server.context.open_sessions.find_open(session) is None
        await server.send(session, "Again.")
        async with asyncio.timeout(120):
            assert await reading
        log = await server.log(session)
        assert [told.json["id"] for told in copy.frames] == [event.id for event in log]
        assert len({event.epoch for event in log}) == 2
        assert not check_log(log)


async def test_nothing_is_kept_for_sessions_that_nobody_uses(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["Hello."])) as server:
        for number in range(6):
            session = await server.session()
            accepted = await server.send(session)
            await server.ended(session, accepted["exchange"])
            if number % 2:
                async with server.client.delete(f"/sessions/{session}") as deleted:
                    assert deleted.status == 204
        await until(lambda: _connections(server) == 0)
        await server.context.open_sessions.close_idle(-1.0)
        assert not server.context.open_sessions._open  # pyright: ignore[reportPrivateUsage]
        assert not server.context.open_sessions._hubs  # pyright: ignore[reportPrivateUsage]


async def test_disconnecting_is_not_cancelling(tmp_path: Path) -> None:
    model = S(["Word after word. " * 12], piece=4, pause=0.01)
    async with served(tmp_path, lambda: model) as server:
        session = await server.session()
        async with server.client.ws_connect(f"/sessions/{session}/ws") as connection:
            await connection.send_json({"type": "send", "text": "Go.", "id": 1})
            while (await connection.receive_json()).get("type") != "text_delta":
                pass
        log = await server.log(session)
        assert log[-1].type != "exchange_response"
        response = (await server.ended(session, log[0].exchange or "")).data
        assert isinstance(response, ExchangeResponse)
        assert response.status == "completed"
