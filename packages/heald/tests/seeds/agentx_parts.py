"""A real server with a scripted model for clients of document 004, and the document's own code."""

import asyncio
import atexit
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.agent.model_chain import ModelLike
from heald.core.envelope import Event
from heald.core.json import JsonObject
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.http.uvicorn_server import running_server
from heald_server.models import ModelView, ProviderView
from heald_server.settings import ServerSettings
from repository import ROOT

S = heald.testing.ScriptedModel
TOKEN = "a-token-of-these-tests"
MODULES = ROOT / "web" / "node_modules"
PACKAGE = ROOT / "clients" / "agentx"
LISTING = "notes.txt\nreport.pdf"
QUICK = ("--skipLibCheck",)
"""The types of node's packages are not ours to check."""


def document() -> str:
    """The text of document 004. Skips where it is absent."""
    files = sorted((ROOT.parent / "shared" / "seeds").glob("004*.txt"))
    if not files:
        pytest.skip("document 004 is not here")
    return files[0].read_text()


def code_block(heading: str, number: int = 0) -> str:
    """A block of code that follows a heading of the document."""
    after = document().split(heading, 1)[1]
    return re.findall(r"```\w*\n(.*?)```", after, re.S)[number]


# --- the server -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _OneModel:
    script: Callable[[], ModelLike]
    default: str = "scripted"

    def open(self, name: str) -> ModelLike:
        return self.script()

    def list_models(self) -> Sequence[ModelView]:
        return []

    def list_providers(self) -> Sequence[ProviderView]:
        return []


@dataclass
class ToolGate:
    """Holds back a tool that runs, until it is opened."""

    started: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    runs: int = 0


@dataclass(frozen=True)
class Served:
    context: ServerContext
    gate: ToolGate
    client: aiohttp.ClientSession

    @property
    def url(self) -> str:
        return self.context.settings.address

    async def session(self, **settings: Any) -> str:
        async with self.client.post("/sessions", json=settings) as answer:
            assert answer.status == 201, await answer.text()
            return (await answer.json())["id"]

    async def log(self, session: str) -> list[Event]:
        return [event async for event in iterate_events(self.context.sessions.store, session)]


@asynccontextmanager
async def served(
    folder: Path, *turns: Any, held: bool = False, origins: tuple[str, ...] = (), **script: Any
) -> AsyncGenerator[Served]:
    gate = ToolGate()
    if not held:
        gate.opened.set()

    @heald.tool
    async def list_folder(path: str) -> str:
        """List a folder."""
        gate.runs += 1
        gate.started.set()
        await gate.opened.wait()
        return LISTING

    @heald.tool
    async def broken() -> str:
        """Fail."""
        raise RuntimeError("no such disk")

    context = ServerContext(
        Sessions(SqliteStore(folder / "sessions.db", durable=False)),
        _OneModel(lambda: S(turns, **script)),
        settings=ServerSettings(port=0, goodbye_seconds=0.5, origins=origins),
        tokens=AccessTokens({TOKEN: ""}),
        defaults=SessionSettings(permissions="auto", tools=["list_folder", "broken"]),
        tools={"list_folder": list_folder, "broken": broken},
    )
    async with running_server(context) as address:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(address, headers=headers) as client:
            yield Served(context, gate, client)


ASKED = (["Let me look. ", S.call("list_folder", path=".")], "There are two files.")
"""A turn that calls a tool, and the answer."""


# --- a client that reads the socket ---------------------------------------------------------------------------------


async def exchange(server: Served, text: str = "Which files are there?", **settings: Any) -> list[JsonObject]:
    """Send one message over the socket of the dialect. Returns its events."""
    session = await server.session(**settings)
    async with server.client.ws_connect(f"/sessions/{session}/ws?dialect=agentx&after=0") as socket:
        await socket.send_json({"type": "send", "text": text})
        events: list[JsonObject] = []
        async with asyncio.timeout(120):
            while not events or events[-1]["type"] != "exchange_response":
                frame = await socket.receive_json()
                if "uuid" in frame:
                    events.append(frame)
    return events


def of(events: list[JsonObject], kind: str) -> list[JsonObject]:
    return [event for event in events if event["type"] == kind]


# --- TypeScript -------------------------------------------------------------------------------------------------------


def workplace(folder: Path) -> Path:
    """A project with React and the built package. Skips where node or its packages are absent."""
    if shutil.which("node") is None or not (MODULES / "typescript").is_dir():
        pytest.skip("node or web/node_modules is missing; run `npm ci` in web/")
    modules = folder / "node_modules"
    modules.mkdir(parents=True)
    for name in ("react", "react-dom", "scheduler", "@types", "csstype"):
        if (MODULES / name).exists():
            (modules / name).symlink_to(MODULES / name)
    (modules / "@heald").mkdir()
    (modules / "@heald" / "agentx").symlink_to(_built_package())
    return folder


@cache
def _built_package() -> Path:
    """The package as others install it, built once for all tests of a process."""
    package = Path(tempfile.mkdtemp(prefix="heald-agentx-"))
    atexit.register(shutil.rmtree, package, ignore_errors=True)
    shutil.copy(PACKAGE / "package.json", package)
    run_tool("tsc", "-p", str(PACKAGE / "tsconfig.json"), *QUICK, "--outDir", str(package / "dist"), cwd=package)
    return package


def run_tool(name: str, *arguments: str, cwd: Path) -> str:
    command = [str(MODULES / ".bin" / name), *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def bundle(folder: Path, source: str, platform: str) -> Path:
    """Bundle a TypeScript file of a workplace."""
    made = folder / "made" / (Path(source).stem + ".mjs")
    run_tool("rolldown", source, "--platform", platform, "--format", "esm", "--file", str(made), cwd=folder)
    return made


async def run_node(script: Path, *arguments: str) -> list[Any]:
    """Run a script. Returns the JSON lines that it prints."""
    process = await asyncio.create_subprocess_exec(
        *("node", "--no-warnings", "--experimental-websocket", str(script), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(60):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, err.decode()
    return [json.loads(line) for line in out.decode().splitlines()]
