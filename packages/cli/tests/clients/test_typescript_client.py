"""`clients/typescript` in node against a real `heald serve`; the answers of its model are scripted."""

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from heald.core.messages import ToolCall
from heald.testing.server import Pause, ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from registry_clients import build_once, run_process
from repository import ROOT
from serve_scenario import LOADED_LATE
from warm_process import start_warm, warm_host

_PACKAGE = ROOT / "clients" / "typescript"
_TSC = ROOT / "web" / "node_modules" / ".bin" / "tsc"
_TOKEN = "a-token-of-the-typescript-tests"
_PAGE = "<h1>Built</h1>"


@pytest.fixture
async def package(tmp_path: Path) -> Path:
    """A folder with the flows, and the built package in its node_modules."""
    if shutil.which("node") is None or not _TSC.exists():
        pytest.skip("node or web/node_modules is missing; run `npm ci` in web/")

    async def build(folder: Path) -> None:
        await run_process(str(_TSC), "-p", str(_PACKAGE), "--skipLibCheck", "--outDir", str(folder / "dist"))

    settings = (_PACKAGE / "package.json", _PACKAGE / "tsconfig.json", ROOT / "web" / "package-lock.json")
    sources = [*sorted((_PACKAGE / "src").rglob("*.ts")), *settings, Path(__file__)]
    named = [str(source.relative_to(ROOT)).encode() for source in sources]
    built = await build_once("typescript", [*named, *(source.read_bytes() for source in sources)], build)
    installed = tmp_path / "node_modules" / "@heald/client"
    installed.mkdir(parents=True)
    shutil.copy(_PACKAGE / "package.json", installed)
    (installed / "dist").symlink_to(built / "dist")
    shutil.copy(Path(__file__).parent / "typescript" / "flows.mjs", tmp_path)
    return tmp_path


def _answer(request: ReceivedRequest) -> Reply:
    messages: list[dict[str, Any]] = request.body["messages"]
    asked = next(message["content"] for message in reversed(messages) if message["role"] == "user")
    text = asked if isinstance(asked, str) else " ".join(part.get("text", part["type"]) for part in asked)
    results = [str(message["content"]) for message in messages[-2:] if message["role"] == "tool"]
    match text.split()[0]:
        case _ if results:
            return wire_reply("chat", text=f"Done: {results[-1]}")
        case "write":
            call = ToolCall(id="c1", name="write_file", input={"path": "note.txt", "content": "kept"})
            return wire_reply("chat", calls=[call])
        case "clock" | "broken" as name:
            return wire_reply("chat", calls=[ToolCall(id="c1", name=name, input={})])
        case "slow":
            pieces = list(wire_stream("chat", text=["First ", "and second"]))
            return Reply([*pieces[:2], Pause(30), *pieces[2:]])
        case "long":
            pieces = wire_stream("chat", text=["word "] * 400)
            return Reply([part for piece in pieces for part in (piece, Pause(0.001))])  # each one is an event
        case "fail":
            return Reply([b'{"error": {"message": "Not here."}}'], status=400, content_type="application/json")
        case _ if "zebra" in text:
            call = ToolCall(id="c1", name="create_file", input={"path": "index.html", "content": _PAGE})
            return wire_reply("chat", calls=[call])
        case _:
            return wire_reply("chat", text=f"You sent: {text}")


@asynccontextmanager
async def _serving(folder: Path) -> AsyncGenerator[str]:
    """The address of a `heald serve` that is a process of its own."""
    async with ScriptedServer(_answer) as model:
        words = [
            *("serve", "--port", "0", "--no-open", "--json"),
            *("--data", str(folder / "data"), "--model", "m", "--base-url", f"{model.url}/v1", "--permissions", "auto"),
        ]
        host = warm_host("heald_cli.commands.serve", *LOADED_LATE)
        environment = os.environ | {"HEALD_TOKEN": _TOKEN}
        process = await start_warm(host, *words, folder=folder, environment=environment, said=None)
        try:
            async with asyncio.timeout(60):
                ready = json.loads(await process.stdout.readline())
            yield ready["url"]
        finally:
            os.kill(process.pid, signal.SIGTERM)
            try:
                async with asyncio.timeout(120):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


async def _run(package: Path, url: str, *flows: str) -> Any:
    """Run flows in one process of node. Returns what each found, by its name."""
    script = ["node", "--no-warnings", "--experimental-websocket", "flows.mjs", url, _TOKEN, *flows]
    return json.loads((await run_process(*script, cwd=package))[-1])


async def test_the_flows_of_a_client(package: Path, tmp_path: Path) -> None:
    async with _serving(tmp_path) as url:
        flows = await _run(package, url, "turns", "approvals", "forks", "tools", "cancel", "pictures", "studio")
    assert flows["turns"] == {"first": "You sent: one", "second": "You sent: two", "usage": True, "listed": 1}
    approvals = flows["approvals"]
    assert approvals["asked"] == ["write_file", "write_file"]
    assert approvals["content"] == "kept"
    assert approvals["files"] == ["note.txt"]
    assert approvals["yes"] != approvals["no"]
    forks = flows["forks"]
    assert (forks["title"], forks["shared"], forks["changed"]) == ("What if", True, ["result"])
    assert forks["left"] != forks["right"] == "Done: a full disk"
    assert flows["tools"] == {"good": "Done: noon", "bad": "Done: No battery."}
    assert flows["cancel"] == {"status": "cancelled", "cancelled": True}
    assert flows["pictures"] == {"text": "You sent: picture image_url", "kinds": ["text", "image"]}
    assert flows["studio"] == {"stacks": True, "status": "completed", "page": _PAGE}


async def test_errors_have_the_codes_of_the_server(package: Path, tmp_path: Path) -> None:
    async with _serving(tmp_path) as url:
        errors = (await _run(package, url, "errors"))["errors"]
    assert errors["codes"] == [
        *["not_found"] * 3,
        *["unauthorized"] * 3,
        "unreachable",
        "invalid_cursor",
        "enough",
    ]
    assert [status for status, _ in errors["snapshots"]] == ["idle"]
    assert errors["status"] == "failed"


async def test_a_stream_that_is_cut_goes_on_after_the_last_event(package: Path, tmp_path: Path) -> None:
    async with _serving(tmp_path) as url:
        flows = await _run(package, url, "sse", "websocket")
    for transport in ("sse", "websocket"):
        expected = {"status": "completed", "cuts": 4, "doubled": 0, "missing": 0, "same": True}
        assert flows[transport] == expected, transport


async def test_a_store_has_every_event_once_and_its_messages_arrive_once(package: Path, tmp_path: Path) -> None:
    async with _serving(tmp_path) as url:
        store = (await _run(package, url, "store"))["store"]
    assert store == {"sent": True, "same": True, "requests": 1, "cuts": 4, "lost": 1}
