"""Servers between a mock provider and raw sockets: what a delta costs them, and how late it reaches the client.

The mock provider sends 50 deltas a second to each agent, and each delta holds the time at which it was written. The
clients are raw sockets in this process. Each server has a process of its own.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic_ns
from urllib.parse import urlsplit

from benchmarks.listeners import UPGRADE
from benchmarks.served_figures import BASELINE
from benchmarks.server import Process, start_program
from benchmarks.server_worker import TOKEN

_STAMPS = re.compile(rb"  (\d{6,}) ")
_KEEP = 40
"""Bytes that may hold the beginning of a stamp whose end is still to come."""
_ROOT = Path(__file__).resolve().parents[1]
_WORKERS = _ROOT / ".venv-bench" / "bin" / "python"
"""The environment with the other servers."""
_numbers = count(1)


@dataclass(frozen=True)
class Client:
    """How the clients of a row ask: one request that starts the agent, or a stream of a session that is asked after."""

    server: str
    path: str
    body: str = ""
    """JSON of a POST request; without one the request is a GET."""
    upgrade: bool = False
    has_session: bool = False

    def request(self, host: str, model: str, session: str) -> bytes:
        body = self.body.replace("MODEL", model).replace("NAME", f"c{next(_numbers)}").encode()
        path = self.path.replace("MODEL", model).replace("SESSION", session)
        head = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        if body:
            head += f"Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}{UPGRADE if self.upgrade else ''}\r\n".encode() + body


_AGUI = json.dumps(
    {
        "threadId": "NAME",
        "runId": "NAME",
        "state": {},
        "messages": [{"id": "m1", "role": "user", "content": "Go."}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
        "model": "MODEL",
    }
)
_AI_SDK = json.dumps(
    {
        "id": "NAME",
        "trigger": "submit-message",
        "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Go."}]}],
        "model": "MODEL",
    }
)
_EVENTS, _SOCKET = "/sessions/SESSION/events", "/sessions/SESSION/ws?after=0"

CLIENTS = {
    BASELINE: Client("proxy", "/MODEL"),
    "heald, native, SQLite": Client("sqlite", _EVENTS, has_session=True),
    "heald, native socket, SQLite": Client("sqlite", _SOCKET, upgrade=True, has_session=True),
    "heald, ai-sdk, SQLite": Client("sqlite", "/api/chat", _AI_SDK),
    "heald, ag-ui, SQLite": Client("sqlite", "/agui", _AGUI),
    "heald, native, PostgreSQL": Client("postgres", _EVENTS, has_session=True),
    "heald, ai-sdk, PostgreSQL": Client("postgres", "/api/chat", _AI_SDK),
    "pydantic-ai, its AG-UI adapter": Client("pydantic-ai", "/MODEL", _AGUI),
    "openai-agents behind FastAPI": Client("openai-agents", "/MODEL"),
    "langgraph behind FastAPI": Client("langgraph", "/MODEL"),
}


class Watcher(asyncio.Protocol):
    """One connection. `lags` are in seconds, one for each delta."""

    def __init__(self, request: bytes, deltas: int) -> None:
        loop = asyncio.get_running_loop()
        self._request = request
        self._deltas = deltas
        self._rest = b""
        self.lags: list[float] = []
        self.open: asyncio.Future[None] = loop.create_future()
        self.over: asyncio.Future[None] = loop.create_future()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = monotonic_ns() // 1000
        if not self.open.done():
            self._begin(data)
        data = self._rest + data
        end = 0
        for match in _STAMPS.finditer(data):
            end = match.end()
            if len(self.lags) < self._deltas:  # the complete message repeats them
                self.lags.append((now - int(match[1])) / 1e6)
        self._rest = data[max(end, len(data) - _KEEP) :]
        if len(self.lags) >= self._deltas and not self.over.done():
            self.over.set_result(None)

    def _begin(self, data: bytes) -> None:
        if data.split(b" ", 2)[1] in (b"200", b"101"):
            self.open.set_result(None)
            return
        for waiting in (self.open, self.over):
            waiting.set_exception(RuntimeError(data[:300].decode("utf-8", "replace")))

    def connection_lost(self, exc: Exception | None) -> None:
        for waiting in (self.open, self.over):
            if not waiting.done():
                waiting.set_exception(RuntimeError("the server closed the connection"))


async def watch(url: str, client: Client, model: str, session: str, deltas: int) -> Watcher:
    address = urlsplit(url)
    request = client.request(address.netloc, model, session)
    _, watcher = await asyncio.get_running_loop().create_connection(
        lambda: Watcher(request, deltas), address.hostname or "127.0.0.1", address.port or 80
    )
    return watcher


async def measure(client: Client, server: Process, agents: int, deltas: int) -> tuple[list[float], float]:
    """Watch some agents. Returns the lags in seconds, and the seconds of CPU that a delta costs the server."""
    model = f"bench-paced-{deltas}"
    sessions = [await server.session(model) if client.has_session else "" for _ in range(agents)]
    used = server.cpu
    watchers = [await watch(server.url, client, model, session, deltas) for session in sessions]
    if client.has_session:
        await asyncio.gather(*(watcher.open for watcher in watchers))
        await asyncio.sleep(0.3)  # the streams have read the stored events
        used = server.cpu
        await asyncio.gather(*(server.ask(session) for session in sessions))  # at once, as the clients of other rows
    try:
        async with asyncio.timeout(60 + deltas / 10):
            await asyncio.gather(*(watcher.over for watcher in watchers))
        spent = server.cpu - used
    finally:
        for watcher in watchers:
            for waiting in (watcher.open, watcher.over):
                waiting.cancel()
            if watcher.transport is not None:
                watcher.transport.abort()
    await asyncio.sleep(0.2)  # what the server does after the last delta belongs to no row
    return [lag for watcher in watchers for lag in watcher.lags], spent / (agents * deltas)


async def start_servers(stack: AsyncExitStack, names: set[str]) -> dict[str, Process]:
    """Start a server of each kind. One that cannot be started is named and left out."""
    python = str(_WORKERS) if _WORKERS.exists() else sys.executable
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    provider = (await stack.enter_async_context(start_program("benchmarks.mock_server", python=python))).url
    servers: dict[str, Process] = {}
    for name in sorted(names):
        program = ["benchmarks.rival_servers", name, provider]
        try:
            if name in ("sqlite", "postgres"):
                place = folder if name == "sqlite" else await _start_postgres(stack)
                program = ["benchmarks.server_worker", "live", place, provider]
            servers[name] = await stack.enter_async_context(start_program(*program, python=python))
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            print(f"not measured: {name} ({error or type(error).__name__})", file=sys.stderr)
    return servers


async def _start_postgres(stack: AsyncExitStack) -> str:
    """Use the server that `HEALD_TEST_POSTGRES` names, else start that of the system."""
    if address := os.environ.get("HEALD_TEST_POSTGRES"):
        return address
    sys.path.insert(0, str(_ROOT / "tests" / "support"))
    from postgres_server import find_programs, running_postgres

    if find_programs() is None:
        raise RuntimeError("there is no PostgreSQL")
    return stack.enter_context(running_postgres(fsync=True)).url
