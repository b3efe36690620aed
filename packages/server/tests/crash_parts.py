"""A real `heald serve` that can be killed and started again on the same data, and the model endpoint that it asks."""

import asyncio
import json
import os
import random
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from crash_process import HOST, CrashProcess

TOKEN = "a-token-that-outlives-the-process"
TURNS = 10

Turn = dict[str, Any]
Script = Callable[[Sequence[Turn]], tuple[str, list[tuple[str, dict[str, Any]]]]]
"""What the model says to these messages: a text, and calls."""


def ten_turns(messages: Sequence[Turn]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Nine turns with a command that leaves a line in a file, and a last word. Other requests get a short answer."""
    asked = max(number for number, message in enumerate(messages) if message["role"] == "user")
    content = messages[asked]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    what, _, run = text.rstrip(".").partition(" ")
    turn = sum(message["role"] == "assistant" for message in messages[asked:]) + 1
    if what == "Sleep" and turn == 1:
        return "A long one. ", [("run_command", {"command": f"sleep 754.{run}"})]
    if what != "Run" or turn == TURNS:
        return f"That was {run}, and there is no more of it. " * 3, []
    word = f"{run}-{turn}"
    return f"Step {turn} of {run}: a line more in the file. ", [("run_command", {"command": f"echo {word} >> effects"})]


class Endpoint:
    """Speaks Chat Completions, a few characters at a time."""

    def __init__(self, script: Script = ten_turns, pause: float = 0.002) -> None:
        self._script = script
        self._pause = pause
        self._calls = 0
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        text, calls = self._script(body["messages"])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for start in range(0, len(text), 9):
            await self._send_chunk(response, {"content": text[start : start + 9]})
            await asyncio.sleep(self._pause)
        for index, (name, arguments) in enumerate(calls):
            self._calls += 1
            written = json.dumps(arguments)
            begun = {"index": index, "id": f"call_{self._calls}", "type": "function"}
            await self._send_chunk(response, {"tool_calls": [begun | {"function": {"name": name, "arguments": ""}}]})
            for start in range(0, len(written), 12):
                piece = {"index": index, "function": {"arguments": written[start : start + 12]}}
                await self._send_chunk(response, {"tool_calls": [piece]})
        await self._send_chunk(response, {}, "tool_calls" if calls else "stop")
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _send_chunk(self, response: web.StreamResponse, delta: Turn, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk: Turn = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        if finish is not None:
            chunk["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())


@asynccontextmanager
async def endpoint(script: Script = ten_turns, pause: float = 0.002) -> AsyncGenerator[Endpoint]:
    """A model's endpoint on a port of its own."""
    model = Endpoint(script, pause)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", model.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    model.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield model
    finally:
        await runner.cleanup()


def free_port() -> int:
    """A port below those that the system gives to clients: one that comes back too early could meet itself there."""
    while True:
        port = random.randint(12_000, 31_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Host:
    """The process that forks servers. It serves many tests: the fixture `host`."""

    def __init__(self) -> None:
        self._process = CrashProcess(HOST.parent / "serve_scenario.py")
        self._lock = asyncio.Lock()

    async def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        async with self._lock:
            return await asyncio.to_thread(self._process.ask, order)

    def close(self) -> None:
        self._process.close()


class Server:
    """`heald serve` on one folder and one port, in one life after the other."""

    def __init__(self, host: Host, folder: Path, model: Endpoint, *more: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.pid = 0
        self.ended: asyncio.Task[dict[str, Any]] | None = None
        self._host = host
        (folder / "work").mkdir(parents=True, exist_ok=True)
        self._arguments = [
            *("--port", str(self.port), "--token", TOKEN, "--no-open", "--json", "--data", str(folder / "data")),
            *("--model", "m", "--base-url", model.url, "--tools", "shell", "--unsandboxed", "--permissions", "auto"),
            *("--workspace", str(folder / "work"), *more),
        ]

    @property
    def database(self) -> Path:
        return self.folder / "data" / "sessions.db"

    @property
    def is_alive(self) -> bool:
        return self.ended is not None and not self.ended.done()

    async def start(self, fault: str = "") -> bool:
        """Start, and wait until it answers. False if it died before it could."""
        assert not self.is_alive
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        order = {"arguments": self._arguments, "fault": fault, "folder": str(self.folder), "background": True}
        self.pid = (await self._host.ask(order))["pid"]
        self.ended = asyncio.create_task(self._host.ask({"wait": self.pid}))
        async with asyncio.timeout(60):
            while not (ready.exists() and ready.read_text().endswith("\n")):
                if self.ended.done():
                    assert await self.died() == signal.SIGKILL, (self.folder / "log").read_text()
                    return False
                await asyncio.sleep(0.01)
        return True

    async def died(self, patience: float = 60.0) -> int:
        """Wait for its end. Gives the signal that ended it, or 0."""
        assert self.ended is not None
        async with asyncio.timeout(patience):
            return os.WTERMSIG((await asyncio.shield(self.ended))["status"])

    async def kill(self, number: int = signal.SIGKILL) -> int:
        if self.is_alive:
            with suppress(ProcessLookupError):  # it has ended, and the host is about to say so
                os.kill(self.pid, number)
        return await self.died()

    async def __aenter__(self) -> "Server":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.is_alive:
            await self.kill()

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[aiohttp.ClientSession]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(self.url, headers=headers) as client:
            try:
                yield client
            except aiohttp.ClientConnectorError as error:
                with suppress(TimeoutError):
                    ending = await self.died(10)
                    log = (self.folder / "log").read_text()[-2000:]
                    error.add_note(f"The server ended with the signal {ending}. Its log ends with: {log}")
                raise
