"""`heald serve --workers`: several processes on one port and one store."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald_server
from cli_bench import run_process, started
from heald.testing.server import Pause, Reply, ScriptedServer, Step
from heald.testing.streams import wire_stream
from heald_cli.commands import serve
from heald_cli.main import main
from heald_cli.workers import WorkerSupervisor
from heald_server.http import uvicorn_server
from heald_server.http.uvicorn_server import bind
from heald_server.settings import ServerSettings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")
WORDS = [f"word{number} " for number in range(200)]


def children(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


@asynccontextmanager
async def serving(*words: str) -> AsyncGenerator[tuple[dict[str, Any], asyncio.subprocess.Process]]:
    """A server with two workers, and the line that it printed when they were ready."""
    options = ["--workers", "2", "--port", "0", "--no-open", "--json", *words]
    async with started("serve", *options) as process, asyncio.timeout(120):
        assert process.stdout is not None
        assert process.stderr is not None
        line = await process.stdout.readline()
        assert line, (await process.stderr.read()).decode()
        yield json.loads(line), process


async def node_names(url: str, least: int) -> set[str]:
    """Ask on new connections until so many nodes have answered."""
    names: set[str] = set()
    while len(names) < least:
        async with aiohttp.ClientSession() as http, http.get(f"{url}/ready") as answer:
            names.add((await answer.json())["node"])
    return names


def slow_words(_: Any) -> Reply:
    steps: list[Step] = []
    for chunk in wire_stream("chat", text=WORDS):
        steps += [chunk, Pause(0.02)]
    return Reply(steps)


async def test_both_workers_serve_the_port_and_end_with_it() -> None:
    async with serving() as (ready, process):
        assert ready["pid"] == process.pid
        assert len(await node_names(ready["url"], 2)) == 2
        assert len(children(process.pid)) == 2
        port = ready["url"].rpartition(":")[2]
        second = await run_process("serve", "--port", port, "--workers", "2", "--no-open")
        assert f"127.0.0.1:{port} cannot be used" in second.err
        process.terminate()
        await process.communicate()  # the workers hold its output open until they end
        assert process.returncode == -signal.SIGTERM


async def test_an_exchange_survives_the_death_of_each_worker() -> None:
    async with ScriptedServer([slow_words] * 10) as model:
        place = ["--model", "m", "--base-url", f"{model.url}/v1"]
        async with serving(*place) as (ready, process):
            async with heald_server.connect(ready["url"], ready["token"]) as agent:
                heard = asyncio.Event()
                agent.subscribe(lambda _: heard.set(), types=["text_delta"])
                running = asyncio.create_task(agent.run("Write."))
                await heard.wait()
                for worker in children(process.pid):
                    os.kill(worker, signal.SIGKILL)
                    while worker in (workers := children(process.pid)) or len(workers) < 2:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                result = await running
            assert (result.status, result.text) == ("completed", "".join(WORDS))
            process.terminate()
            _, errors = await process.communicate()
            assert errors.decode().count("ended by signal 9; another one is started") == 2


async def test_workers_end_when_the_process_that_started_them_is_killed() -> None:
    async with serving() as (_, process):
        process.kill()
        await process.communicate()  # the workers hold its output open until they end


def test_the_port_belongs_to_the_server_at_every_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that look for a free port get others while the listeners of the workers are bound."""
    attempts: list[int] = []

    def bind_against_another(settings: ServerSettings, *, shares_port: bool = False) -> socket.socket:
        if settings.port:
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind((settings.host, settings.port))
            attempts.append(settings.port)
        return bind(settings, shares_port=shares_port)

    def run_none(supervisor: WorkerSupervisor) -> int:
        return 0

    for module in (serve, uvicorn_server):
        monkeypatch.setattr(module, "bind", bind_against_another)
    monkeypatch.setattr(WorkerSupervisor, "run", run_none)
    assert main(["serve", "--workers", "3", "--port", "0", "--no-open"]) == 0
    assert len(attempts) == 2


async def test_a_worker_that_cannot_start_ends_the_server_with_its_error() -> None:
    place = ["--port", "0", "--no-open", "--data", "/dev/null/no-folder"]
    failed = await run_process("serve", "--workers", "2", *place)
    assert failed.code == 2
    assert "/dev/null/no-folder" in failed.err
