"""Parameters of requests to models: by flag, by variable, in `heald.toml`, for the server; each reaches the model."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import heald_server
from cli_bench import Ran, is_one_line_error, run, run_with, started
from heald.config.paths import user_file
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

Capture = pytest.CaptureFixture[str]
FACTS: dict[str, object] = {"/api/show": {}}


def user(text: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)


async def body_of(capsys: Capture, *words: str, wire: str = "chat") -> dict[str, Any]:
    """The request that `heald run` sends."""
    async with ScriptedServer([wire_reply(wire, text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "Hi", *words, wire=wire))
        assert (ran.code, ran.out) == (0, "Hello\n"), ran.err
        return server.requests[-1].body


WIRES: list[tuple[str, dict[str, Any]]] = [
    ("chat", {"temperature": 0.25, "reasoning_effort": "high", "zone": {"a": 1}}),
    ("responses", {"temperature": 0.25, "reasoning": {"effort": "high", "summary": "auto"}, "zone": {"a": 1}}),
    ("messages", {"zone": {"a": 1}}),
    ("gemini", {"zone": {"a": 1}}),
    ("ollama", {"think": True, "zone": {"a": 1}}),
]


@pytest.mark.parametrize(("wire", "expected"), WIRES)
async def test_flags_reach_the_model_on_every_wire(capsys: Capture, wire: str, expected: dict[str, Any]) -> None:
    body = await body_of(capsys, "--temperature", "0.25", "--effort", "high", "--extra", "zone.a=1", wire=wire)
    assert {name: body.get(name) for name in expected} == expected
    if wire == "messages":
        assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
        assert body["output_config"] == {"effort": "high"}
    if wire == "gemini":
        assert body["generationConfig"]["temperature"] == 0.25
        assert body["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 24576
    if wire == "ollama":
        assert body["options"] == {"temperature": 0.25}


async def test_a_budget_reaches_the_model(capsys: Capture) -> None:
    async with ScriptedServer([wire_reply("messages", text="Hello")]) as server:
        words = run_with(server, "Hi", "--thinking-budget", "3000", wire="messages")
        words[words.index("m")] = "claude-sonnet-4-5"
        assert (await run(capsys, *words)).code == 0
        assert server.requests[0].body["thinking"] == {"type": "enabled", "budget_tokens": 3000}


async def test_a_file_and_a_variable_are_merged_into_extra(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    user("temperature = 0.5\n[extra.zone]\na = 1\nb = 2\n[run.extra]\ntop_k = 40\n[request]\nseed = 7\n")
    monkeypatch.setenv("HEALD_EXTRA", '{"zone": {"b": 3}}')
    monkeypatch.setenv("HEALD_REQUEST_SERVICE_TIER", "flex")
    body = await body_of(capsys, "--extra", "zone.c=[4]", "--extra", "name=text", "--stop", "END")
    assert body["zone"] == {"a": 1, "b": 3, "c": [4]}
    assert (body["top_k"], body["name"], body["stop"]) == (40, "text", ["END"])
    assert (body["temperature"], body["seed"], body["service_tier"]) == (0.5, 7, "flex")


async def test_tools_of_the_provider_labels_and_headers(capsys: Capture) -> None:
    async with ScriptedServer([wire_reply("responses", text="Hello")]) as server:
        tool = 'file_search:{"vector_store_ids": ["vs_1"]}'
        words = ["--server-tool", "web_search", "--server-tool", tool, "--metadata", "team=blue"]
        words += ["--header", "x-team=blue", "--end-user", "u1", "--compact-at", "90000", "--cache-ttl", "24h"]
        ran = await run(capsys, *run_with(server, "Hi", *words, wire="responses"))
        (request,) = server.requests
    assert ran.code == 0, ran.err
    assert request.body["tools"] == [{"type": "web_search"}, {"type": "file_search", "vector_store_ids": ["vs_1"]}]
    assert (request.body["metadata"], request.body["safety_identifier"]) == ({"team": "blue"}, "u1")
    assert request.body["context_management"] == [{"type": "compaction", "compact_threshold": 90000}]
    assert request.body["prompt_cache_retention"] == "24h"
    assert request.headers["x-team"] == "blue"


async def test_a_websocket_is_opened_only_if_it_is_asked_for(capsys: Capture) -> None:
    async with ScriptedServer([wire_reply("responses", text="Hello")]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--websocket", "--compact-by", "provider", wire="responses"))
        assert [request.method for request in server.requests] == ["GET"]
    assert ran.code != 0
    assert "WebSocket" in ran.err


async def refused(capsys: Capture, *words: str) -> Ran:
    async with ScriptedServer([]) as server:
        ran = await run(capsys, *run_with(server, "Hi", *words))
    assert ran.code == 2
    assert is_one_line_error(ran)
    return ran


async def test_wrong_values(capsys: Capture) -> None:
    assert "neither NAME=VALUE nor a JSON object" in (await refused(capsys, "--extra", "zone")).err
    assert "JSON that cannot be read" in (await refused(capsys, "--extra", "{zone")).err
    assert "web_search, web_fetch" in (await refused(capsys, "--server-tool", "teleport")).err
    user("[request]\ntop_p = 3\n")
    assert "must be a number from 0 to 1" in (await refused(capsys)).err


async def test_a_tool_that_the_wire_does_not_have(capsys: Capture) -> None:
    async with ScriptedServer([]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--server-tool", "web_fetch"))
        assert server.requests == []
    assert ran.code == 1
    assert "The chat wire has no web_fetch" in ran.err


async def test_the_server_has_them_too(tmp_path: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello"), wire_reply("chat", text="Hello")]) as provider:
        place = ["--model", "m", "--base-url", f"{provider.url}/v1", "--data", str(tmp_path / "data")]
        words = ["--temperature", "0.25", "--extra", "zone.a=1", "--seed", "7", "--effort", "low"]
        async with started("serve", "--port", "0", "--no-open", "--json", *words, *place) as process:
            assert process.stdout is not None
            ready = json.loads(await asyncio.wait_for(process.stdout.readline(), 120))
            async with heald_server.connect(ready["url"], token=ready["token"]) as agent:
                await asyncio.wait_for(agent.run("Hi"), 60)
        body = provider.requests[0].body
    assert (body["temperature"], body["zone"], body["seed"]) == (0.25, {"a": 1}, 7)
    assert body["reasoning_effort"] == "low"


@pytest.mark.parametrize("extra", [{"model": "other"}, {"messages": []}])
async def test_a_client_of_the_server_cannot_replace_the_model(extra: dict[str, Any]) -> None:
    from heald_server.routes.session_views import NewSession

    with pytest.raises(ValueError, match="extra may not hold"):
        NewSession(extra=extra)


def test_the_extra_of_a_session_reaches_its_agent() -> None:
    from heald.sessions.settings import SessionSettings
    from heald_server.routes.session_views import NewSession

    stored = SessionSettings.of(NewSession(extra={"zone": 1}).settings())
    assert stored.options()["settings"].extra == {"zone": 1}
    assert SessionSettings().options()["settings"] is None
