"""Document 002, the agent loop over SSE: a client written from the document, each promise a test."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
import heald_server
from heald.core.errors import ConfigurationError, UnknownProvider
from heald.core.messages import ToolCall
from heald.testing import ScriptedServer, sse_event, wire_reply
from heald.testing.server import Reply
from heald_server import encode_loop_event, sse_fields

S = heald.testing.ScriptedModel
USER = {"role": "user", "content": "Hello"}
READ = ToolCall(id="call_abc", name="read_file", input={"files": [{"path": "example.py"}]})


async def pairs(messages: list[Any], model: Any, **options: Any) -> list[tuple[str, str]]:
    return [pair async for pair in heald_server.run_agent_loop(messages, model, **options)]


@asynccontextmanager
async def openai(monkeypatch: pytest.MonkeyPatch, *replies: Reply) -> AsyncGenerator[ScriptedServer]:
    """The address and the key of OpenAI lead to a scripted server."""
    async with ScriptedServer(replies) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        yield server


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return sse_event({"id": "c", "object": "chat.completion.chunk", "model": "gpt-4o", "choices": [choice]})


# --- run_agent_loop ---------------------------------------------------------------------------------------------------


async def test_run_agent_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """`run_agent_loop(messages, model="gpt-4o")`: OpenAI's model over Chat Completions, pairs of name and JSON."""
    async with openai(monkeypatch, wire_reply("chat", text=["Hello", ","])) as server:
        got = [pair async for pair in heald_server.run_agent_loop([USER])]
        (request,) = server.requests
    assert got == [("content_delta", '{"delta":"Hello"}'), ("content_delta", '{"delta":","}'), ("done", "{}")]
    assert request.path == "/v1/chat/completions"
    assert (request.body["model"], request.body["stream"]) == ("gpt-4o", True)


async def test_other_bare_names_are_refused() -> None:
    with pytest.raises(UnknownProvider, match="write it as 'anthropic/claude-sonnet-4-6'"):
        await pairs([USER], "claude-sonnet-4-6")


async def test_the_agentic_loop_with_its_four_events(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text("print(1)\n")
    replies = [wire_reply("chat", text="Let me look.", calls=[READ]), wire_reply("chat", text="It prints 1.")]
    async with ScriptedServer(replies) as server:
        model = heald.Model("m", base_url=server.url)
        got = [(event, json.loads(data)) for event, data in await pairs([USER], model, workspace=tmp_path)]
    result = got[2][1].pop("result")
    assert got == [
        ("content_delta", {"delta": "Let me look."}),
        ("tool_call_start", {"id": "call_abc", "name": "read_file", "arguments": READ.input}),
        ("tool_call_result", {"id": "call_abc", "is_error": False}),
        ("content_delta", {"delta": "It prints 1."}),
        ("done", {}),
    ]
    assert "print(1)" in result


async def test_tool_call_accumulation(tmp_path: Path) -> None:
    """Arguments in fragments, two calls by index."""
    fragments = [
        {"tool_calls": [{"index": 0, "id": "call_abc", "function": {"name": "add", "arguments": ""}}]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": text}}]} for text in ('{"a', '":', " 1", "}")),
        {"tool_calls": [{"index": 1, "id": "call_def", "function": {"name": "add", "arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": ": 2}"}}]},
    ]
    stream = [*map(chunk, fragments), chunk({}, "tool_calls"), sse_event("[DONE]")]

    def add(a: int) -> str:
        """Add one."""
        return str(a + 1)

    async with ScriptedServer([Reply(stream), wire_reply("chat", text="Done")]) as server:
        model = heald.Model("m", base_url=server.url)
        got = [json.loads(data) for _, data in await pairs([USER], model, tools=[add], workspace=tmp_path)]
        first, second, *results = server.requests[1].body["messages"][-3:]
    assert [call["arguments"] for call in got if "arguments" in call] == [{"a": 1}, {"a": 2}]
    # build_tool_call_messages: the assistant message, then one message for each result
    assert first["role"] == "assistant"
    assert [call["id"] for call in first["tool_calls"]] == ["call_abc", "call_def"]
    assert [(m["role"], m["tool_call_id"], m["content"]) for m in (second, *results)] == [
        ("tool", "call_abc", "2"),
        ("tool", "call_def", "3"),
    ]


async def test_error_results() -> None:
    """A result that begins with `Error:` is an error."""

    def find(name: str) -> str:
        """Find a name."""
        return f"Error: {name} not found" if name == "x" else f"Found {name}"

    model = S([[S.call("find", name="x"), S.call("find", name="y")], "Done."])
    got = [json.loads(data) for event, data in await pairs([USER], model, tools=[find]) if event == "tool_call_result"]
    assert {(result["result"], result["is_error"]) for result in got} == {
        ("Error: x not found", True),
        ("Found y", False),
    }


# --- SYSTEM_PROMPT ----------------------------------------------------------------------------------------------------


async def test_the_system_prompt_is_added_if_there_is_none() -> None:
    model = S(["Hi."])
    await pairs([USER], model)
    assert "works with tools" in model.requests[0].settings.system


async def test_nothing_is_added_to_a_system_message_of_the_caller() -> None:
    model = S(["Hi."])
    await pairs([{"role": "system", "content": "Be brief."}, USER], model)
    assert model.requests[0].settings.system == "Be brief."


# --- TOOLS ------------------------------------------------------------------------------------------------------------


async def test_the_file_tools_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a workspace the current folder is read and never changed; a named workspace is also written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "example.py").write_text("print(1)\n")
    model = S([[S.call("read_file", files=[{"path": "example.py"}])], "Done."])
    got = [json.loads(data) for event, data in await pairs([USER], model) if event == "tool_call_result"]
    assert "print(1)" in got[0]["result"]
    names = {tool.name for tool in model.requests[0].tools}
    assert "read_file" in names
    assert not names & {"write_file", "create_file", "edit_file", "apply_patch", "run_command"}
    model = S([[S.call("write_file", path="new.py", content="x")], "Done."])
    await pairs([USER], model, workspace=tmp_path)
    assert (tmp_path / "new.py").read_text() == "x"
    assert "run_command" not in {tool.name for tool in model.requests[0].tools}


async def test_no_tools() -> None:
    model = S(["Hi."])
    await pairs([USER], model, tools=[])
    assert model.requests[0].tools == []


# --- messages ---------------------------------------------------------------------------------------------------------

CALLED: list[dict[str, Any]] = [
    USER,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": call, "type": "function", "function": {"name": "read_file", "arguments": '{"path": "example.py"}'}}
            for call in ("call_abc", "call_def")
        ],
    },
    {"role": "tool", "tool_call_id": "call_abc", "content": "print(1)"},
    {"role": "tool", "tool_call_id": "call_def", "content": "print(2)"},
]


async def test_messages_that_end_with_a_tool_message_continue() -> None:
    async with ScriptedServer([wire_reply("chat", text="It prints.")]) as server:
        got = await pairs(CALLED, heald.Model("m", base_url=server.url), tools=[])
        sent = server.requests[0].body["messages"]
    assert got == [("content_delta", '{"delta":"It prints."}'), ("done", "{}")]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert sent[3] == {"role": "tool", "tool_call_id": "call_def", "content": "print(2)"}


async def test_results_of_other_calls_are_refused() -> None:
    wrong = [*CALLED[:2], {"role": "tool", "tool_call_id": "call_xyz", "content": "?"}]
    with pytest.raises(ConfigurationError, match="do not belong to the last message"):
        await pairs(wrong, S(["Hi."]))


async def test_the_callers_messages_are_not_changed() -> None:
    messages = [dict(USER)]
    await pairs(messages, S([[S.call("list_files")], "Hi."]))
    assert messages == [USER]


# --- encode_loop_event ------------------------------------------------------------------------------------------------


def test_encode_loop_event() -> None:
    pair = encode_loop_event("content_delta", {"delta": "Hello"})
    assert pair == ("content_delta", '{"delta":"Hello"}')
    assert sse_fields(pair) == {"event": "content_delta", "data": '{"delta":"Hello"}'}


async def test_output_format_of_the_served_loop() -> None:
    """`GET /sessions/{id}/events?dialect=loop` sends `event:` and `data:` lines; the last event is `done` with `{}`."""
    agent = heald.Agent(S([["Hello", S.call("look")], "Bye"], piece=100), tools=[look])
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(
        heald_server.serve_async(agent, port=0, auth="none", ready=ready.set_result, protocols=["native"])
    )
    address = (await ready).partition("#")[0].rstrip("/")
    try:
        async with aiohttp.ClientSession(address) as client, client.post("/sessions", json={}) as created:
            session = (await created.json())["id"]
            async with client.get(f"/sessions/{session}/events?dialect=loop") as stream:
                async with client.post(f"/sessions/{session}/messages", json={"text": "Hello"}) as sent:
                    assert sent.status in (200, 202), await sent.text()
                text = (await asyncio.wait_for(stream.content.readuntil(b"event: done\ndata: {}\n\n"), 120)).decode()
    finally:
        server.cancel()
        with suppress(asyncio.CancelledError):
            await server
    assert asyncio.all_tasks() == {asyncio.current_task()}  # cancelling stops the server in order
    frames = [frame.split("\n") for frame in text.split("\n\n") if "event: " in frame]
    lines = [[line for line in frame if not line.startswith("id: ")] for frame in frames]
    assert [name for name, _ in lines] == [
        "event: content_delta",
        "event: tool_call_start",
        "event: tool_call_result",
        "event: content_delta",
        "event: done",
    ]
    assert lines[0][1] == 'data: {"delta":"Hello"}'
    assert lines[-1][1] == "data: {}"


@heald.tool
def look() -> str:
    """Look around."""
    return "Nothing."


def test_the_loop_is_behind_the_door() -> None:
    """`import heald_server` offers `run_agent_loop`, and loads its modules when it is used."""
    module = "heald_server.protocols.loop.run_loop"
    code = (
        f"import sys, heald_server; assert {module!r} not in sys.modules; print(heald_server.run_agent_loop.__name__)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout.strip() == "run_agent_loop"
