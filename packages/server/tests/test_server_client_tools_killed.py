"""Kill -9 of a server while a call waits for its client: the call waits on and takes its late result."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from crash_parts import Host, Server, endpoint

from heald.core.events import ExchangeResponse
from heald.core.messages import ToolResult
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")

WHERE = {"name": "where_am_i", "description": "Where the user is."}


def asks_once(messages: Sequence[dict[str, Any]]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """A call after each message of the user, then a last word."""
    return ("", [("where_am_i", {})]) if messages[-1]["role"] == "user" else ("In Oslo.", [])


async def _waiting(client: aiohttp.ClientSession, session: str) -> str:
    async with asyncio.timeout(120):
        while True:
            async with client.get(f"/sessions/{session}/pending") as answer:
                if calls := (await answer.json())["client_calls"]:
                    return calls[0]["id"]
            await asyncio.sleep(0.02)


async def _result(client: aiohttp.ClientSession, session: str, call: str) -> tuple[int, str]:
    body = {"call_id": call, "content": "Oslo"}
    async with client.post(f"/sessions/{session}/tool_results", json=body) as answer:
        return answer.status, await answer.text()


async def test_a_server_that_was_killed_while_a_call_waited(host: Host, tmp_path: Path) -> None:
    async with endpoint(asks_once) as model, Server(host, tmp_path, model) as server:
        assert await server.start()
        async with server.client() as client:
            async with client.post("/sessions", json={"client_tools": [WHERE]}) as answer:
                session = (await answer.json())["id"]
            async with client.post(f"/sessions/{session}/messages", json={"text": "Where am I?"}) as answer:
                assert answer.status == 202
            lost = await _waiting(client, session)
        await server.kill()
        assert await server.start()
        async with server.client() as client:
            assert await _waiting(client, session) == lost
            assert (await _result(client, session, lost))[0] == 200
            status, sentence = await _result(client, session, lost)
            assert (status, "does not wait for a result" in sentence) == (409, True)
            async with client.post(f"/sessions/{session}/messages", json={"text": "And now?"}) as answer:
                assert answer.status == 202
            call = await _waiting(client, session)
            assert call != lost
            assert (await _result(client, session, call))[0] == 200
            async with asyncio.timeout(120), client.get(f"/sessions/{session}/events") as answer:
                ends = 0
                while ends < 2:
                    ends += b"event: exchange_response" in await answer.content.readline()
        await server.kill()
        store = SqliteStore(server.database)
        log = [event async for event in iterate_events(store, session)]
        await store.close()
    assert not check_log(log)
    ends = [event.data.status for event in log if isinstance(event.data, ExchangeResponse)]
    results = [event.data.status for event in log if isinstance(event.data, ToolResult)]
    assert (ends, results) == (["completed", "completed"], ["ok", "ok"])
