"""`heald mcp` and `/mcp` of a server, with the official MCP client: the protocol of 2026, and that of 2025."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald_server.context import ServerContext
from heald_server.settings import ServerSettings
from scripted_agents import PIXEL, S, launch, model, slow, weather
from serving_parts import OTHER, TOKEN, Served, context_on, serving

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"], ids=["2026", "2025"])


@asynccontextmanager
async def served(
    folder: Path,
    script: Any,
    tools: Any = None,
    mode: Any = "ask",
    *,
    open_to_all: bool = False,
    prepare: Callable[[ServerContext], object] = lambda _: None,
) -> AsyncGenerator[Served]:
    """A server with an agent that asks before a call does more than read."""
    defaults = SessionSettings(permissions=mode, tools=[*(tools or {}), "files"])
    store = SqliteStore(folder / "sessions.db", durable=False)
    settings = ServerSettings(port=0, needs_token=not open_to_all)
    context = context_on(store, {"scripted": script}, tools=tools, defaults=defaults, settings=settings)
    prepare(context)
    async with serving(context, TOKEN) as running:
        yield running


@asynccontextmanager
async def connected(server: Served, mode: str = "auto", token: str = TOKEN, **options: Any) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(
            streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode, cache=None, **options
        ) as client,
    ):
        yield client


def text_of(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


def session_of(result: types.CallToolResult) -> str:
    return result.structured_content["session"]


async def first_session(server: Served) -> str:
    for _ in range(400):
        if sessions := (await server.context.sessions.list()).sessions:
            return sessions[0].id
        await asyncio.sleep(0.05)
    raise AssertionError("there is no session")


async def events_of(server: Served, session: str, kind: str) -> list[Event]:
    """Wait for events of a type in a log."""
    for _ in range(400):
        if events := [event for event in await server.log(session) if event.type == kind]:
            return events
        await asyncio.sleep(0.05)
    raise AssertionError(f"there is no {kind}")


@MODES
async def test_turns_tools_and_progress(tmp_path: Path, mode: str) -> None:
    lines: list[str | None] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message)

    async with (
        served(tmp_path, model, {"weather": weather}, mode="auto") as server,
        connected(server, mode) as client,
    ):
        assert "run_agent" in [tool.name for tool in (await client.list_tools()).tools]
        first = await client.call_tool("run_agent", {"prompt": "The weather?"}, progress_callback=on_progress)
        assert text_of(first) == "Done: ok Oslo: 3 °C, snow"
        assert not first.is_error
        assert any(line is not None and line.startswith("weather") for line in lines)
        again = await client.call_tool("run_agent", {"prompt": "Thanks", "session": session_of(first)})
        assert text_of(again) == "Answer 2 to “Thanks”."
        assert session_of(again) == session_of(first)
        listed = await client.call_tool("list_sessions", {})
        assert session_of(first) in text_of(listed)


@MODES
@pytest.mark.parametrize(("allow", "outcome"), [(True, "ok rocket launched"), (False, "denied")])
async def test_approval_yes_and_no(tmp_path: Path, mode: str, allow: bool, outcome: str) -> None:
    asked: list[str] = []

    async def decide(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"allow": allow})

    async with (
        served(tmp_path, model, {"launch": launch}) as server,
        connected(server, mode, elicitation_callback=decide) as client,
    ):
        result = await client.call_tool("run_agent", {"prompt": "launch it"})
    assert outcome in text_of(result)
    assert len(asked) == 1
    assert "launch" in asked[0]
    assert "rocket" in asked[0]


@MODES
async def test_without_somebody_to_ask_a_call_is_denied(tmp_path: Path, mode: str) -> None:
    async with (
        served(tmp_path, model, {"launch": launch}) as server,
        connected(server, mode) as client,
    ):
        assert "denied" in text_of(await client.call_tool("run_agent", {"prompt": "launch it"}))


@MODES
async def test_cancelling_ends_the_exchange(tmp_path: Path, mode: str) -> None:
    async with (
        served(tmp_path, slow) as server,
        connected(server, mode) as client,
    ):
        begun = asyncio.create_task(client.call_tool("run_agent", {"prompt": "a long one"}))
        session = await first_session(server)
        await events_of(server, session, "message_start")
        begun.cancel()
        with pytest.raises(asyncio.CancelledError):
            await begun
        ended = await events_of(server, session, "exchange_response")
        assert isinstance(ended[0].data, ExchangeResponse)
        assert ended[0].data.status == "cancelled"


@MODES
async def test_a_failure_a_picture_and_wrong_arguments(tmp_path: Path, mode: str) -> None:
    async with served(tmp_path, model) as server, connected(server, mode) as client:
        failed = await client.call_tool("run_agent", {"prompt": "fail please"})
        assert failed.is_error
        assert "out of order" in text_of(failed)
        seen = await client.call_tool("run_agent", {"prompt": "What is seen?", "images": [PIXEL]})
        assert "image/png" in text_of(seen)
        empty = await client.call_tool("run_agent", {})
        assert empty.is_error
        assert "prompt" in text_of(empty)
        with pytest.raises(MCPError, match="no tool"):
            await client.call_tool("fly", {})
        missing = await client.call_tool("run_agent", {"prompt": "x", "session": "ses_nothing"})
        assert missing.is_error


@MODES
async def test_files_are_resources_of_their_owner_alone(tmp_path: Path, mode: str) -> None:
    write = S([[S.call("create_file", path="a b.txt", content="words")], "written"])
    async with served(tmp_path, lambda: write, mode="auto") as server:
        async with connected(server, mode) as client:
            result = await client.call_tool("run_agent", {"prompt": "Write a file."})
            assert result.structured_content["files"] == ["a b.txt"]
            (resource,) = (await client.list_resources()).resources
            (held,) = (await client.read_resource(resource.uri)).contents
            assert isinstance(held, types.TextResourceContents)
            assert held.text == "words"
            arguments = {"session": session_of(result), "path": "a b.txt"}
            assert not (await client.call_tool("read_file", arguments)).is_error
            assert (await client.call_tool("read_file", arguments | {"path": "../../etc/passwd"})).is_error
            with pytest.raises(MCPError):
                await client.read_resource("heald://sessions/nothing/files/x")
        async with connected(server, mode, OTHER) as other:
            assert (await other.list_resources()).resources == []
            assert (await other.call_tool("read_file", arguments)).is_error
            with pytest.raises(MCPError):
                await other.read_resource(resource.uri)


async def test_a_stranger_gets_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        with pytest.raises((MCPError, ExceptionGroup, httpx2.HTTPError)):
            async with connected(server, token="wrong"):
                pass


async def test_over_pipes_as_a_command(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    async with ScriptedServer([wire_reply("chat", text="Hello from Heald.")]) as endpoint:
        command = [*("-m", "heald_cli.main", "mcp", "--model", "m", "--wire", "chat", "--base-url", endpoint.url)]
        command += ["--data", str(tmp_path / "data"), "--workspace", str(folder)]
        parameters = StdioServerParameters(
            command=sys.executable, args=command, env={**os.environ, "HOME": str(tmp_path)}
        )
        async with Client(parameters) as client:
            result = await client.call_tool("run_agent", {"prompt": "Hi"})
    assert text_of(result) == "Hello from Heald."


def call_message(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def test_a_cut_connection_is_resumed(tmp_path: Path) -> None:
    """The stream of a call breaks; its end comes by Last-Event-ID."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    async with served(tmp_path, slow) as server, httpx2.AsyncClient(headers=headers, timeout=60) as http:
        url = f"{server.url}/mcp"
        about = {"name": "raw", "version": "1"}
        hello = call_message(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
        begun = await http.post(url, json=hello)
        http.headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        http.headers["Mcp-Protocol-Version"] = "2025-11-25"
        await http.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        call = call_message(2, "tools/call", name="run_agent", arguments={"prompt": "a long one"})
        async with http.stream("POST", url, json=call) as answer:
            last = await anext(line async for line in answer.aiter_lines() if line.startswith("id:"))
        await events_of(server, await first_session(server), "text_delta")
        headers = {"Last-Event-ID": last.removeprefix("id:").strip()}
        async with http.stream("GET", url, headers=headers) as rest, asyncio.timeout(60):
            text = await anext(
                line async for line in rest.aiter_lines() if "Word after word" in line and '"id":2' in line
            )
        assert '"status":"completed"' in text


async def test_a_call_of_the_newer_protocol_ends_with_its_connection(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        async with connected(server) as client:
            begun = asyncio.create_task(client.call_tool("run_agent", {"prompt": "a long one"}))
            session = await first_session(server)
            await events_of(server, session, "text_delta")
            begun.cancel()
        ended = await events_of(server, session, "exchange_response")
        assert isinstance(ended[0].data, ExchangeResponse)
        assert ended[0].data.status == "cancelled"


async def test_a_page_is_built(tmp_path: Path) -> None:
    page = "<!DOCTYPE html><html><body><h1>Bakery</h1></body></html>"
    script = S([[S.call("create_file", path="index.html", content=page)], "Built."])
    store = SqliteStore(tmp_path / "sessions.db", durable=False)
    context = context_on(store, {"scripted": lambda: script})
    context.protocol_options["studio"] = {"scores": False}
    lines: list[str | None] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message)

    async with serving(context, TOKEN) as server, connected(server) as client:
        result = await client.call_tool(
            "build_page",
            {"prompt": "A bakery", "stack": "html_css", "model": "scripted"},
            progress_callback=on_progress,
        )
    assert not result.is_error, text_of(result)
    held = [block.resource for block in result.content if isinstance(block, types.EmbeddedResource)]
    assert [resource.text for resource in held if isinstance(resource, types.TextResourceContents)] == [page]
    assert any(line is not None and "running" in line for line in lines)
