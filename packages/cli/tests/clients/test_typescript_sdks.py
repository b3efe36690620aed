"""TypeScript packages that others build clients with: the SDKs of A2A and ACP, the inspector of MCP, and `useChat`."""

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from heald.core.events import ExchangeResponse
from heald.core.messages import ToolCall
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import Pause, ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from registry_clients import NODE_SCRIPTS, npm_folder, run_process
from scripted_agents import LOCATE, model, slow, weather
from serving_parts import TOKEN, context_on, served, serving

pytestmark = pytest.mark.clients

LONG = "Word after word. " * 200
FAILED = "The model is out of order."
SCRIPTS = Path(__file__).parent / "typescript_sdks"
REACT = ("@ai-sdk/react@4.0.167", "ai@7.0.169", "react@19.3.1", "react-dom@19.3.1", "jsdom@29.1.1")


async def _run(script: str, packages: tuple[str, ...], *arguments: Any, **environment: str) -> list[Any]:
    """Run a script beside its packages. Returns the lines that it prints."""
    folder = await asyncio.to_thread(npm_folder, *packages)
    source = SCRIPTS / script if (SCRIPTS / script).exists() else NODE_SCRIPTS / script
    shutil.copy(source, folder / script)
    texts = [json.dumps(argument) for argument in arguments]
    lines = await run_process("node", str(folder / script), *texts, env=environment)
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_the_sdk_of_a2a(binding: str, tmp_path: Path) -> None:
    context = context_on(SqliteStore(tmp_path / "s.db", durable=False), {"m": model}, tools={"weather": weather})
    async with serving(context, TOKEN) as server:
        options = {"url": server.url, "token": TOKEN, "binding": binding}
        (got,) = await _run("a2a_client.mjs", ("@a2a-js/sdk@1.3.0",), options)
    assert got["texts"] == [
        "Let me see.Done: ok Oslo: 3 °C, snow",
        "Answer 2 to “Thanks”.",
        "Answer 1 to “Hello”.",
    ]
    assert 30 < got["cut"] < len(LONG) == got["resumed"]
    completed, cancelled = 3, 5
    assert got["states"] == [completed, completed, cancelled]
    assert got["listed"] == [2, 5, 0]
    assert got["errors"][0] == "TaskNotFoundError"
    assert got["errors"][1] is not None


def _answer_editor(request: ReceivedRequest) -> Reply:
    last: dict[str, Any] = request.body["messages"][-1]
    asked = str(last["content"])
    if last["role"] == "tool":
        return wire_reply("chat", text="Done.")
    if "write" in asked:
        call = ToolCall(id="c1", name="create_file", input={"path": "a.txt", "content": "Hi\n"})
        return wire_reply("chat", text="I write.", calls=[call])
    if "long" in asked:
        pieces = list(wire_stream("chat", text=["First ", "and second"]))
        return Reply([*pieces[:2], Pause(30), *pieces[2:]])
    return wire_reply("chat", text="Hello to you.")


async def test_the_sdk_of_acp(tmp_path: Path) -> None:
    async with ScriptedServer(_answer_editor) as provider:
        command = [sys.executable, "-m", "heald_cli.main", "acp", "--model", "m", "--base-url", f"{provider.url}/v1"]
        packages = ("@agentclientprotocol/sdk@2.4.0",)
        (got,) = await _run("acp_editor.mjs", packages, command, str(tmp_path), HOME=str(tmp_path))
    assert got["written"] == {str(tmp_path / "a.txt"): "Hi\n"}
    assert (got["version"], got["permissions"], got["exit"]) == (1, 1, 0)
    assert [got[name] for name in ("write", "cancel", "after")] == ["end_turn", "cancelled", "end_turn"]
    assert got["text"] == "Hello to you."
    assert {"agent_message_chunk", "tool_call", "tool_call_update"} <= set(got["updates"])


async def test_the_inspector_of_mcp(tmp_path: Path) -> None:
    folder = await asyncio.to_thread(npm_folder, "@modelcontextprotocol/inspector@2.12.0")
    inspector = str(folder / "node_modules" / ".bin" / "mcp-inspector")
    context = context_on(SqliteStore(tmp_path / "s.db", durable=False), {"m": model}, tools={"weather": weather})
    async with serving(context, TOKEN) as server:

        async def ask(*arguments: str) -> Any:
            header = ("--header", f"Authorization: Bearer {TOKEN}")
            lines = await run_process(
                inspector, "--cli", f"{server.url}/mcp", "--transport", "http", *header, "--method", *arguments
            )
            return json.loads("\n".join(lines))

        tools = await ask("tools/list")
        assert [tool["name"] for tool in tools["tools"]] == ["run_agent", "list_sessions", "list_files", "read_file"]
        called = await ask("tools/call", "--tool-name", "run_agent", "--tool-arg", "prompt=The weather?")
        assert called["structuredContent"]["text"] == "Done: ok Oslo: 3 °C, snow"
        templates = await ask("resources/templates/list")
        assert templates["resourceTemplates"][0]["uriTemplate"] == "heald://sessions/{session}/files/{+path}"


@pytest.mark.client("`useChat` (`@ai-sdk/react`)", "4.0.167", "`/api/chat`", "streamed answer, second turn, resuming")
async def test_use_chat_in_strict_mode_resumes_after_a_reload(tmp_path: Path) -> None:
    """Strict mode mounts twice, so each page asks twice for what runs."""
    async with served(tmp_path, slow) as server:
        resumed, continued = await _run("use_chat.mjs", REACT, {"url": server.url, "token": TOKEN, "chat": "chat-1"})
        (info,) = (await server.context.sessions.list()).sessions
        ends = [event.data for event in await server.log(info.id) if isinstance(event.data, ExchangeResponse)]
    assert resumed["requests"] == ["GET", "GET"]
    assert [text for _, _, text in resumed["messages"]] == ["Something long", LONG]
    assert continued["requests"] == ["GET", "GET", "POST"]
    assert continued["messages"][2:] == [
        [continued["messages"][2][0], "user", "Thanks"],
        [continued["messages"][3][0], "assistant", "Answer 2 to “Thanks”."],
    ]
    assert resumed["errors"] == continued["errors"] == []
    assert [end.status for end in ends] == ["completed", "completed"]


@pytest.mark.client(
    "CopilotKit (its `@ag-ui/client`)",
    "0.0.59",
    "`/agui`",
    "streamed answer, tool of the client, second turn, error, stop",
)
async def test_the_client_of_ag_ui_in_copilotkit(tmp_path: Path) -> None:
    """CopilotKit brings a client from before version 1.0, which checks events strictly."""
    steps = [
        {"content": "Use both"},
        {"result": "Bergen"},
        {"content": "Please locate"},
        {"content": "Something long", "stop": True},
        {"content": "Please fail"},
        {"content": "Thanks"},
    ]
    async with served(tmp_path, slow, tools={"weather": weather}) as server:
        options = {"url": server.url, "token": TOKEN, "thread": "thread-1", "tools": [LOCATE]}
        results = await _run("agui_agent.mjs", ("@ag-ui/client@0.0.59",), options, steps)
    assert [step["errors"] for step in results] == [[]] * len(steps)
    assert results[1]["messages"][-1]["content"] == "Done: ok Oslo: 3 °C, snow, ok Bergen"
    assert [step["events"][-1].get("outcome") for step in results[2:4]] == [{"type": "success"}, None]
    assert 0 < len(results[3]["messages"][-1]["content"]) < len(LONG)
    assert (results[4]["events"][-1]["type"], results[4]["events"][-1]["message"]) == ("RUN_ERROR", FAILED)
    assert results[5]["messages"][-1]["content"] == "Answer 5 to “Thanks”."
