"""Kill -9 of a server at random moments with eight sessions at work: after each restart every exchange is completed.

Two kills by default; `HEALD_CRASHES=all` makes thirty of them.
"""

import asyncio
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from crash_parts import TURNS, Host, Server, endpoint, ten_turns

from heald.core.envelope import Event
from heald.core.events import ExchangeRequest, ExchangeResponse, MessageStart
from heald.core.messages import ToolCall, ToolResult
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")

KILLS = 30 if os.environ.get("HEALD_CRASHES") == "all" else 2
SESSIONS = 8


async def _ask(client: aiohttp.ClientSession, session: str, text: str) -> bool:
    """Send a request as a client does that repeats it until it is accepted."""
    body = {"text": text, "client_request_id": text}
    try:
        async with client.post(f"/sessions/{session}/messages", json=body) as answer:
            assert answer.status == 202, await answer.text()
            return True
    except (aiohttp.ClientError, ConnectionError):
        return False


async def _wait_for_end(client: aiohttp.ClientSession, session: str, text: str) -> str:
    """Wait for the outcome of a request."""
    exchange = ""
    async with client.get(f"/sessions/{session}/events?after=0") as stream:
        async for line in stream.content:
            if not line.startswith(b"data: ") or b'"layer":"exchange"' not in line:
                continue
            event: dict[str, Any] = json.loads(line[6:])
            if event["type"] == "exchange_request" and event["data"].get("client_request_id") == text:
                exchange = event["exchange"]
            if event["type"] == "exchange_response" and event["exchange"] == exchange:
                return event["data"]["status"]
    raise AssertionError("the stream ended first")


async def test_killed_at_random_moments_with_eight_sessions(host: Host, tmp_path: Path) -> None:
    chance = random.Random(18)
    requests = 0

    def counted(messages: Any) -> Any:
        nonlocal requests
        requests += 1
        return ten_turns(messages)

    async with endpoint(counted) as model, Server(host, tmp_path, model, "--max-exchanges", "50") as server:
        assert await server.start()
        async with server.client() as client:
            body = {"workspace": "work", "tools": ["shell"], "permissions": "auto"}
            sessions: list[str] = []
            for _ in range(SESSIONS):
                async with client.post("/sessions", json=body) as answer:
                    sessions.append((await answer.json())["id"])
        for kill in range(KILLS):
            texts = {session: f"Run {kill}-{number}." for number, session in enumerate(sessions)}
            async with server.client() as client:
                asking = [asyncio.create_task(_ask(client, session, text)) for session, text in texts.items()]
                await asyncio.sleep(chance.uniform(0.02, 3.0))
                await server.kill()
                accepted = await asyncio.gather(*asking)
            assert await server.start()
            async with server.client() as client, asyncio.timeout(240):
                for session, was_accepted in zip(sessions, accepted, strict=True):
                    if not was_accepted:
                        assert await _ask(client, session, texts[session])
                ends = await asyncio.gather(*(_wait_for_end(client, s, text) for s, text in texts.items()))
            assert set(ends) == {"completed"}, ends
        await server.kill()
        await _prove(server, sessions, requests)


async def _prove(server: Server, sessions: list[str], requests: int) -> None:
    store = SqliteStore(server.database)
    starts = 0
    done = Counter((server.folder / "work" / "effects").read_text().split())
    assert max(done.values()) == 1, "something was done twice"
    for session in sessions:
        log = [event async for event in iterate_events(store, session)]
        assert check_log(log, host_paths=[str(server.folder)]) == []
        starts += sum(isinstance(event.data, MessageStart) for event in log)
        asked = Counter(event.data.client_request_id for event in log if isinstance(event.data, ExchangeRequest))
        assert len(asked) == KILLS
        assert max(asked.values()) == 1, "something was asked twice"
        ends = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
        assert [(end.status, end.turns) for end in ends] == [("completed", TURNS)] * KILLS
        _prove_results(log, done)
    await store.close()
    assert abs(requests - starts) <= KILLS * SESSIONS  # a kill may come between a start and its request, either way


def _prove_results(log: list[Event], done: "Counter[str]") -> None:
    commands = {event.data.id: event.data.input["command"] for event in log if isinstance(event.data, ToolCall)}
    for event in log:
        if isinstance(event.data, ToolResult) and event.data.status != "interrupted":
            assert event.data.status == "ok"
            assert done[commands[event.data.id].split()[1]] == 1
