"""Several real servers on one PostgreSQL, and the model endpoint that all of them ask."""

import asyncio
import json
import os
import select
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from crash_parts import Endpoint, Turn, free_port
from crash_parts import endpoint as open_endpoint

from heald.core.envelope import Event, decode_event
from serve_scenario import LOADED_LATE
from warm_process import warm_host

LOADED = ("heald_cli.commands.serve", "heald_nodes.postgres.store", *LOADED_LATE)
TOKEN = "a-token-that-all-nodes-share"


def by_request(messages: Sequence[Turn]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Answer by the first word of the request: `Long` a long text, `Run` a command, `Ask` a question, else a word."""
    asked = max(number for number, message in enumerate(messages) if message["role"] == "user")
    content = messages[asked]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    what, _, rest = text.partition(" ")
    turns = sum(message["role"] == "assistant" for message in messages[asked:])
    if what == "Long":
        return "".join(f"word{number} " for number in range(int(rest))), []
    if what == "Run" and turns == 0:
        return "I run it. ", [("run_command", {"command": rest})]
    if what == "Ask" and turns == 0:
        return "One question. ", [("ask_user", {"question": rest, "suggestions": ["Red", "Blue"]})]
    return "Done. ", []


class ModelThread:
    """The endpoint of a model in a thread of its own, so that it outlives the event loop of a test."""

    def __init__(self, script: Callable[..., Any] = by_request, pause: float = 0.03) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self.endpoint: Endpoint | None = None
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(script, pause),))
        self._thread.start()
        assert self._ready.wait(30)

    @property
    def url(self) -> str:
        assert self.endpoint is not None
        return self.endpoint.url

    async def _run(self, script: Callable[..., Any], pause: float) -> None:
        async with open_endpoint(script, pause) as self.endpoint:
            self._ready.set()
            await self._stop.wait()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        self._loop.close()


class Node:
    """One server process. It keeps its port when it is started again."""

    def __init__(self, name: str, store: str, folder: Path, model: str, *more: str, loaded: str = "") -> None:
        """`loaded` is a module that this kind of node needs beside those of all nodes."""
        self.name = name
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        (folder / "site").mkdir(parents=True, exist_ok=True)
        self._loaded = (*LOADED, loaded) if loaded else LOADED
        self._pid = 0
        self._ready = self._ended = -1
        """Pipes: its output, and what its exit status is written to."""
        self._words = [
            *("serve", "--store", store, "--node", name),
            *("--port", str(self.port), "--no-open", "--json", "--model", "m", "--base-url", model),
            *("--tools", "shell,ask", "--unsandboxed", "--permissions", "auto", "--workspace", str(folder / "site")),
            *more,
        ]

    @property
    def is_running(self) -> bool:
        return self._pid != 0 and not select.select([self._ended], [], [], 0)[0]

    def start(self) -> "Node":
        """Start the process. `wait_ready` waits until it answers."""
        assert not self.is_running
        if self._pid:
            self.wait()
        environment = {**os.environ, "HEALD_TOKEN": TOKEN, "HOME": str(self._folder)}
        (self._ready, output), (self._ended, exit_status) = os.pipe(), os.pipe()
        with open(os.devnull, "rb") as nothing, (self._folder / f"{self.name}.log").open("ab") as log:
            streams = [nothing.fileno(), output, log.fileno(), exit_status]
            self._pid = warm_host(*self._loaded).start({"words": self._words}, self._folder, environment, streams)
        os.close(output)
        os.close(exit_status)
        return self

    def wait_ready(self) -> None:
        assert os.read(self._ready, 1), self.log()

    def signal(self, number: int) -> None:
        os.kill(self._pid, number)

    def wait(self) -> int:
        """Wait for its end. Returns the exit status, a negative one for a signal."""
        assert select.select([self._ended], [], [], 60)[0], "The node does not end."
        status = int(os.read(self._ended, 64))
        os.close(self._ended)
        os.close(self._ready)
        self._pid = 0
        return status

    def kill(self) -> None:
        if self.is_running:
            self.signal(signal.SIGKILL)
            self.wait()

    def log(self) -> str:
        return (self._folder / f"{self.name}.log").read_text()

    @asynccontextmanager
    async def client(self, token: str = TOKEN) -> AsyncGenerator["NodeClient"]:
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(self.url, headers=headers) as http:
            yield NodeClient(http)


class NodeClient:
    """Requests to one node."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self.http = http

    async def request(self, method: str, path: str, body: Any = None, *, status: int | None = None) -> Any:
        async with self.http.request(method, path, json=body) as answer:
            text = await answer.text()
            assert status is None or answer.status == status, (answer.status, text)
            assert status is not None or answer.status < 400, (answer.status, text)
            return json.loads(text) if text else None

    async def status(self, path: str) -> int:
        async with self.http.get(path) as answer:
            return answer.status

    async def create(self, **settings: Any) -> str:
        return (await self.request("POST", "/sessions", settings))["id"]

    async def send(self, session: str, text: str, **more: Any) -> dict[str, Any]:
        return await self.request("POST", f"/sessions/{session}/messages", {"text": text, **more})

    async def events(self, session: str, after: int = 0) -> AsyncGenerator[Event]:
        """Yield the events of a session, live. The stream ends with its connection; who leaves earlier closes it."""
        async with self.http.get(
            f"/sessions/{session}/events?after={after}", timeout=aiohttp.ClientTimeout(total=None, sock_read=60)
        ) as answer:
            assert answer.status == 200, await answer.text()
            name = b""
            async for line in answer.content:
                if line.startswith(b"event: "):
                    name = line[7:].strip()
                elif line.startswith(b"data: ") and name not in (b"goodbye", b"reset"):
                    yield decode_event(line[6:])

    async def until(self, session: str, kind: str, after: int = 0) -> list[Event]:
        """Read events up to one of a type."""
        events: list[Event] = []
        async with asyncio.timeout(60):
            async with aclosing(self.events(session, after)) as stream:
                async for event in stream:
                    events.append(event)
                    if event.type == kind:
                        return events
        raise AssertionError(f"The stream ended without {kind}.")

    async def log(self, session: str) -> list[Event]:
        events: list[Event] = []
        while True:
            page = await self.request("GET", f"/sessions/{session}/log?after={len(events)}&limit=1000")
            if not page["events"]:
                return events
            events += [decode_event(json.dumps(event).encode()) for event in page["events"]]

    async def wait_idle(self, session: str) -> None:
        async with asyncio.timeout(60):
            while (await self.request("GET", f"/sessions/{session}"))["busy"]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def follow(nodes: Sequence[Node], session: str, kind: str, seen: list[Event]) -> None:
    """Read a session up to an event of a type, as a client does: when a connection breaks, the next node serves it."""
    number = 0
    async with asyncio.timeout(90):
        while True:
            node = nodes[number % len(nodes)]
            number += 1
            with suppress(aiohttp.ClientError, ConnectionError, TimeoutError, AssertionError):
                async with (
                    node.client() as client,
                    aclosing(client.events(session, seen[-1].seq if seen else 0)) as stream,
                ):
                    async for event in stream:
                        seen.append(event)
                        if event.type == kind:
                            return
            await asyncio.sleep(0.1)
