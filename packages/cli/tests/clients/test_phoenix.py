"""Arize Phoenix, a real backend of OpenTelemetry: it shows an exchange as an agent with turns and tools."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from socket import socket
from typing import Any

import aiohttp
import pytest

from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from registry_clients import python_folder

pytestmark = pytest.mark.clients


def _free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answer(request: ReceivedRequest) -> Reply:
    if request.body["messages"][-1]["role"] == "tool":
        return wire_reply("chat", text="There is nothing.")
    return wire_reply("chat", calls=[ToolCall(id="c1", name="list_files", input={})])


@asynccontextmanager
async def _phoenix(folder: Path) -> AsyncGenerator[str]:
    programs = await asyncio.to_thread(python_folder, "arize-phoenix==20.26.1")
    url = f"http://127.0.0.1:{(port := _free_port())}"
    settings = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(_free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        str(programs / "phoenix"), "serve", env=os.environ | settings, stdout=null, stderr=null
    )
    try:
        async with asyncio.timeout(120), aiohttp.ClientSession() as client:
            while await _status(client, f"{url}/v1/projects") != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        yield url
    finally:
        process.terminate()
        async with asyncio.timeout(120):
            await process.wait()


async def _status(client: aiohttp.ClientSession, url: str) -> int:
    try:
        async with client.get(url) as answer:
            return answer.status
    except aiohttp.ClientConnectionError:
        return 0


async def _spans(url: str) -> list[dict[str, Any]]:
    async with asyncio.timeout(60), aiohttp.ClientSession() as client:
        while True:
            async with client.get(f"{url}/v1/projects/default/spans") as answer:
                spans: list[dict[str, Any]] = (await answer.json()).get("data", []) if answer.status == 200 else []
            if len(spans) == 4:
                return spans
            await asyncio.sleep(0.5)


async def test_an_exchange_is_shown_as_an_agent_with_turns_and_tools(tmp_path: Path) -> None:
    async with _phoenix(tmp_path) as url, ScriptedServer(_answer) as model:
        command = [
            *(sys.executable, "-m", "heald_cli.main", "run", "--otel", "--otel-content", "--tools", "read"),
            *("--model", "m", "--base-url", f"{model.url}/v1", "What is here?"),
        ]
        to = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{url}/v1/traces", "OTEL_METRICS_EXPORTER": "none"}
        process = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, env=os.environ | to)
        async with asyncio.timeout(60):
            assert await process.wait() == 0
        spans = {span["context"]["span_id"]: span for span in await _spans(url)}
    (agent,) = (span for span in spans.values() if span["parent_id"] is None)
    assert (agent["name"], agent["span_kind"]) == ("invoke_agent heald", "AGENT")
    assert agent["attributes"]["session.id"].startswith("ses_")
    assert agent["attributes"]["llm.input_messages.0.message.content"] == "What is here?"
    below = [span for span in spans.values() if span["parent_id"] == agent["context"]["span_id"]]
    assert sorted((span["name"], span["span_kind"]) for span in below) == [
        ("chat m", "LLM"),
        ("chat m", "LLM"),
        ("execute_tool list_files", "TOOL"),
    ]
