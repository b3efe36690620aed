"""Kill -9 of a server under its clients: nothing is broken, nothing done twice, and their copies have no gap.

A choice of moments by default; `HEALD_CRASHES=all` adds 200 random pairs of fault points.
"""

import asyncio
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from crash_parts import Host, Server, endpoint
from stream_readers import Copy, Enough, ReceivedFrame

from crash_points import POINTS
from heald.core.envelope import Event
from heald.core.events import ConversationDequeued, ExchangeRequest, ExchangeResponse, SessionResumed
from heald.core.messages import ToolCall, ToolResult
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")

ALL = os.environ.get("HEALD_CRASHES") == "all"
PAIRS = 200 if ALL else 1
SEEDS = 20 if ALL else 1
IN_RECOVERY = ("recovery.before", "recovery.after")
AT = {
    "lease.taken": 1,
    "append.before": 14,
    "append.between": 9,
    "append.commit": 16,
    "append.after": 12,
    "release.after": 15,
    "tool.before": 4,
    "tool.after": 5,
}
"""At which passage it dies, somewhere in the middle of the exchange."""


@pytest.fixture
async def server(host: Host, tmp_path: Path) -> AsyncGenerator[Server]:
    async with endpoint() as model, Server(host, tmp_path, model) as server:
        yield server


class Clients:
    """Two that only listen, and one that asks, all of them stubborn."""

    def __init__(self, client: aiohttp.ClientSession, session: str) -> None:
        self._client = client
        self._session = session
        self.copies = [Copy(client, session, over=over) for over in ("sse", "ws")]
        self.accepted: dict[str, str] = {}
        self._reading = [asyncio.create_task(copy.read_through(until_last(), 240)) for copy in self.copies]

    async def ask(self, text: str) -> str | None:
        """Ask once. The exchange, if it was accepted."""
        body = {"text": text, "client_request_id": text}
        try:
            async with self._client.post(f"/sessions/{self._session}/messages", json=body) as answer:
                assert answer.status == 202, await answer.text()
                accepted = await answer.json()
        except (aiohttp.ClientError, ConnectionError):
            return None
        exchange = self.accepted.setdefault(text, accepted["exchange"])
        assert exchange == accepted["exchange"], "the same request became another exchange"
        return exchange

    async def ask_last(self) -> None:
        while await self.ask("Last 0.") is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await self.wait_for_all()

    async def wait_for_answer(self, text: str, server: Server) -> None:
        """Until a request is answered, or nobody is there any more to do that."""
        exchange = self.accepted.get(text)
        async with asyncio.timeout(120):
            while server.is_alive and not (exchange and self.copies[0].has_ended(exchange)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def wait_for_all(self) -> None:
        await asyncio.gather(*self._reading)


def until_last() -> Enough:
    """Until the exchange that was asked for last is over."""
    last: list[str] = []

    def enough(told: ReceivedFrame) -> bool:
        event = told.json
        if event["type"] == "exchange_request" and event["data"].get("client_request_id") == "Last 0.":
            last.append(event["exchange"])
        return event["type"] == "exchange_response" and event["exchange"] in last

    return enough


async def _session(server: Server) -> str:
    """A session that is there before the server."""
    server.database.parent.mkdir(parents=True, exist_ok=True)
    store = SqliteStore(server.database)
    settings: dict[str, Any] = {"model": "m", "tools": ["shell"], "permissions": "auto", "workspace": "work"}
    info = await Sessions(store).create(**settings)
    await store.close()
    return info.id


async def lives(server: Server, faults: list[str | float]) -> list[Event]:
    """One life a fault, or until a moment in seconds has come; then one that ends in peace. Gives the log."""
    async with server.client() as client:
        session = await _session(server)
        clients = Clients(client, session)
        for run, fault in enumerate(faults, 1):
            moment = None if isinstance(fault, str) else fault
            if not await server.start(fault if isinstance(fault, str) else ""):
                continue
            await clients.ask(f"Run {run}.")
            await clients.ask(f"Also {run}.")
            if moment is None:
                await clients.wait_for_answer(f"Also {run}.", server)
            else:
                await asyncio.sleep(moment)
            await server.kill()
        assert await server.start()
        for text in list(clients.accepted):
            assert await clients.ask(text) is not None  # what was accepted is known, and not done again
        await clients.ask_last()
        assert await server.kill(signal.SIGTERM) == signal.SIGTERM
        return await _prove(server, session, clients)


async def _prove(server: Server, session: str, clients: Clients) -> list[Event]:
    store = SqliteStore(server.database)
    log = [event async for event in iterate_events(store, session)]
    await store.close()
    assert check_log(log, host_paths=[str(server.folder)]) == []
    for copy in clients.copies:
        told = [(frame.cursor, frame.json["id"]) for frame in copy.frames]
        assert told == [(event.seq, event.id) for event in log[: len(told)]], "a client's copy is not the log"
        assert len(told) == len(log)
    _prove_effects(server, log)
    over = {event.exchange for event in log if isinstance(event.data, ExchangeResponse)}
    over |= {event.data.request for event in log if isinstance(event.data, ConversationDequeued)}
    assert set(clients.accepted.values()) <= over, "something was accepted and is gone"
    requests = Counter(event.data.client_request_id for event in log if isinstance(event.data, ExchangeRequest))
    assert max(requests.values()) == 1
    text = (server.folder / "log").read_text()
    assert "Traceback" not in text, text
    return log


def _prove_effects(server: Server, log: list[Event]) -> None:
    effects = server.folder / "work" / "effects"
    done = Counter(effects.read_text().split() if effects.exists() else [])
    assert not done or max(done.values()) == 1, "something was done twice"
    commands: dict[str, Any] = {e.data.id: e.data.input for e in log if isinstance(e.data, ToolCall)}
    for event in log:
        if isinstance(event.data, ToolResult) and event.data.status != "interrupted":
            word = commands[event.data.id]["command"].split()[1]
            assert done[word] == (event.data.status == "ok"), event.data


def _statuses(log: list[Event]) -> list[str]:
    return [event.data.status for event in log if isinstance(event.data, ExchangeResponse)]


async def test_without_a_fault_all_is_well(server: Server) -> None:
    log = await lives(server, [])
    assert _statuses(log) == ["completed"]


@pytest.mark.parametrize("point", list(AT))
async def test_killed_at_a_point(point: str, server: Server) -> None:
    log = await lives(server, [f"{point}:{AT[point]}"])
    assert set(_statuses(log)) == {"completed"}
    if point not in ("lease.taken",):
        continued = [event.data.continues for event in log if isinstance(event.data, SessionResumed)]
        assert continued[0] is not None, "it was not killed in the middle"


@pytest.mark.parametrize("point", [*IN_RECOVERY, "append.commit"])
async def test_killed_twice_while_it_recovers(point: str, server: Server) -> None:
    log = await lives(server, ["tool.after:3", point])
    interrupted = [e for e in log if isinstance(e.data, ToolResult) and e.data.status == "interrupted"]
    assert len(interrupted) == 1


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_killed_at_random_moments(seed: int, server: Server) -> None:
    chance = random.Random(seed)
    await lives(server, [chance.uniform(0.01, 2.5) for _ in range(2)])


@pytest.mark.parametrize("seed", range(PAIRS))
async def test_killed_at_random_pairs(seed: int, server: Server) -> None:
    chance = random.Random(f"pair {seed}")
    points = [chance.choice(POINTS) for _ in range(2)]
    await lives(server, [f"{point}:{chance.randint(1, 60 if 'append' in point else 6)}" for point in points])


async def test_what_waited_is_answered_after_a_restart_without_being_repeated(server: Server) -> None:
    async with server.client() as client:
        session = await _session(server)
        assert await server.start("tool.after:2")
        clients = Clients(client, session)
        await clients.ask("Run 1.")
        queued = await clients.ask("Last 0.")
        assert queued is not None
        assert await server.died() == signal.SIGKILL
        assert await server.start()
        await clients.wait_for_all()
        await server.kill(signal.SIGTERM)
        log = await _prove(server, session, clients)
    assert [event.exchange for event in log if isinstance(event.data, ExchangeResponse)][-1] == queued
    assert _statuses(log) == ["completed", "completed"]


async def test_with_close_what_a_killed_server_did_is_closed(host: Host, tmp_path: Path) -> None:
    async with endpoint() as model, Server(host, tmp_path, model, "--after-crash", "close") as server:
        log = await lives(server, ["tool.after:3"])
    assert _statuses(log)[0] == "failed"
    assert _statuses(log)[-1] == "completed"


def test_every_point_is_killed_at() -> None:
    assert set(AT) | set(IN_RECOVERY) == set(POINTS)
