"""SIGTERM: clients are told where to go on, what runs is ended, the process goes, and the next one takes over."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from time import monotonic

import aiohttp
import pytest
from crash_parts import Host, Server, endpoint
from stream_readers import ENDS, Copy, sse_frames

from heald.core.events import ExchangeResponse
from heald.core.json import loads
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")

PATIENCE = 20.0
"""Seconds within which a server is gone: twice its goodbye, and room for a busy machine."""


@pytest.fixture
async def server(host: Host, tmp_path: Path) -> AsyncGenerator[Server]:
    async with endpoint(pause=0.05) as model, Server(host, tmp_path, model) as server:
        yield server


async def _session(client: aiohttp.ClientSession) -> str:
    async with client.post("/sessions", json={"workspace": "work"}) as answer:
        assert answer.status == 201, await answer.text()
        return (await answer.json())["id"]


async def _ask(client: aiohttp.ClientSession, session: str, text: str) -> str:
    async with client.post(f"/sessions/{session}/messages", json={"text": text}) as answer:
        assert answer.status == 202, await answer.text()
        return (await answer.json())["exchange"]


async def _all(connection: aiohttp.ClientWebSocketResponse) -> list[str]:
    return [message.data async for message in connection]


async def test_all_who_listen_are_reported_where_to_go_on(server: Server) -> None:
    assert await server.start()
    async with server.client() as client:
        session = await _session(client)
        async with (
            client.get(f"/sessions/{session}/events") as answer,
            client.get(f"/sessions/{session}/events?dialect=loop") as other,
            client.ws_connect(f"/sessions/{session}/ws") as single,
            client.ws_connect("/ws") as many,
            client.ws_connect("/ws") as silent,
        ):
            await many.send_json({"type": "subscribe", "session": session})
            copies = [Copy(client, session, over=over) for over in ("sse", "ws")]
            exchange = await _ask(client, session, "Run 1.")
            for copy in copies:
                await copy.read(lambda told: told.json["type"] == "tool_result")
            sockets = [asyncio.create_task(_all(connection)) for connection in (single, many, silent)]
            began = monotonic()
            assert await server.kill(signal.SIGTERM) == signal.SIGTERM
            assert monotonic() - began < PATIENCE
            told = [told async for told in sse_frames(answer)]
            assert (told[-1].event, told[-1].json["reason"]) == ("goodbye", "shutdown")
            assert told[-1].json["resume"] == told[-2].cursor
            assert b"goodbye" not in await other.content.read()
            *said, nothing = await asyncio.gather(*sockets)
            assert [connection.close_code for connection in (single, many, silent)] == [1012] * 3
            assert nothing == []
            for words in said:
                assert loads(words[-1])["type"] == "goodbye"
                assert loads(words[-1])["resume"] == loads(words[-2])["seq"]
        assert await server.start()
        for copy in copies:
            assert await copy.read(lambda told: ENDS["native"](told) and told.json["exchange"] == exchange)
        assert await server.kill(signal.SIGTERM) == signal.SIGTERM
        store = SqliteStore(server.database)
        log = [event async for event in iterate_events(store, session)]
        await store.close()
    assert not check_log(log)
    for copy in copies:
        assert [frame.json["id"] for frame in copy.frames] == [event.id for event in log]
    assert "Traceback" not in (server.folder / "log").read_text()


async def test_a_short_exchange_is_let_finish(server: Server) -> None:
    assert await server.start()
    async with server.client() as client:
        session = await _session(client)
        await _ask(client, session, "Short 1.")
        await server.kill(signal.SIGTERM)
        store = SqliteStore(server.database)
        log = [event async for event in iterate_events(store, session)]
        await store.close()
    assert [event.data.status for event in log if isinstance(event.data, ExchangeResponse)] == ["completed"]


async def test_nothing_is_left_running_and_the_port_is_free(server: Server) -> None:
    """A command that would run for minutes ends with the server that started it."""
    assert await server.start()
    async with server.client() as client:
        session = await _session(client)
        async with client.get(f"/sessions/{session}/events") as answer:
            await _ask(client, session, "Sleep 7.")
            async for told in sse_frames(answer):
                if told.json["type"] == "tool_executing":
                    break
        await asyncio.sleep(0.5)
        assert _processes("sleep 754.7")
        began = monotonic()
        await server.kill(signal.SIGTERM)
        assert monotonic() - began < PATIENCE
        assert not _processes("sleep 754.7")
        assert await server.start()
        async with client.get("/health") as answer:
            assert answer.status == 200
        await server.kill(signal.SIGTERM)


def _processes(words: str) -> list[str]:
    lines: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        lines += [line] if words in line else []
    return lines


async def test_a_client_that_reads_nothing_does_not_hold_it_up(server: Server) -> None:
    assert await server.start()
    async with server.client() as client:
        session = await _session(client)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
        head = f"GET /sessions/{session}/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        writer.write(f"{head}Authorization: Bearer a-token-that-outlives-the-process\r\n\r\n".encode())
        await writer.drain()
        await _ask(client, session, "Short 2.")
        began = monotonic()
        await server.kill(signal.SIGTERM)
        assert monotonic() - began < PATIENCE
        del reader
        writer.close()


async def test_new_work_is_refused_while_it_goes(server: Server) -> None:
    assert await server.start()
    async with server.client() as client:
        session = await _session(client)
        await _ask(client, session, "Run 1.")
        dying = asyncio.create_task(server.kill(signal.SIGTERM))
        await asyncio.sleep(0.02)
        seen: set[int] = set()
        while not dying.done():
            try:
                async with client.post(f"/sessions/{session}/messages", json={"text": "More."}) as answer:
                    seen.add(answer.status)
            except (aiohttp.ClientError, ConnectionError):
                await asyncio.sleep(0.05)
        await dying
    assert seen <= {202, 503}
