"""The Claude Code that comes with the SDK, as a real process, against a model that is scripted on the loopback."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import claude_agent_sdk
import pytest
from claude_agent_sdk import ClaudeAgentOptions

import heald
from heald.core.envelope import Event
from heald.core.messages import ToolCall
from heald.providers.claude_agent import ClaudeAgent
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

BUNDLED = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
KEY = "sk-ant-api03-canary0000000000000"
pytestmark = pytest.mark.skipif(not BUNDLED.exists(), reason="this SDK brings no Claude Code for this machine")


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C"


def calls(*made: tuple[str, dict[str, Any]]) -> Reply:
    return wire_reply(
        "messages", calls=[ToolCall(id=f"toolu_{n}", name=name, input=i) for n, (name, i) in enumerate(made)]
    )


def scripted(script: list[Reply]) -> Callable[[ReceivedRequest], Reply]:
    """The next answer for each request of the model; Claude Code wants each message under an id of its own."""
    played = iter(enumerate(script))

    def reply(request: ReceivedRequest) -> Reply:
        if not request.path.startswith("/v1/messages?") or request.method != "POST":
            return Reply([b"{}"], content_type="application/json")
        number, said = next(played)
        body = [part.replace(b"msg_scripted", b"msg_%d" % number) for part in said.body if isinstance(part, bytes)]
        return replace(said, body=body)

    return reply


async def talk(
    folder: Path, script: list[Reply], *prompts: str, sdk_tools: list[str], **agent: Any
) -> tuple[list[Any], list[Event], list[ReceivedRequest]]:
    events: list[Event] = []
    async with asyncio.timeout(120), ScriptedServer(scripted(script)) as server:
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CONFIG_DIR": str(folder / "config"),
            "HOME": str(folder),
        }
        options = ClaudeAgentOptions(env=env, cwd=folder)
        model = ClaudeAgent(model="claude-sonnet-4-6", sdk_tools=sdk_tools, options=options)
        async with heald.Agent(model, tools=[weather], **agent) as client:
            client.subscribe(events.append)
            results = [await client.run(prompt) for prompt in prompts]
        return results, events, server.requests


async def test_tools_of_both_sides_rules_and_a_second_exchange(tmp_path: Path) -> None:
    script = [
        calls(
            ("mcp__heald__weather", {"city": "Oslo"}),
            ("Bash", {"command": "echo hello", "description": "greet"}),
            ("Read", {"file_path": "/etc/hostname"}),
        ),
        wire_reply("messages", thinking="Cold.", text="Take a coat."),
        wire_reply("messages", text="And boots."),
    ]
    rules = heald.Permissions("auto", ["deny Read"])
    done, events, requests = await talk(
        tmp_path, script, "What should I wear?", "And on my feet?", sdk_tools=["Bash", "Read"], permissions=rules
    )
    assert [result.text for result in done] == ["Take a coat.", "And boots."]
    assert check_log(events) == []
    results: list[Any] = [event.data for event in events if event.type == "tool_result"]
    told = {result.name: result for result in results}
    assert {name: result.status for name, result in told.items()} == {"weather": "ok", "Bash": "ok", "Read": "denied"}
    assert "hello" in told["Bash"].text
    sent = requests[-1].content.decode()
    assert "Oslo: 3 \u00b0C" in sent
    assert "The rule 'deny Read' forbids it" in sent
    assert "Take a coat." in sent
    assert KEY not in str(events)


async def test_the_model_has_no_tools_but_healds(tmp_path: Path) -> None:
    _, _, requests = await talk(tmp_path, [wire_reply("messages", text="Hello.")], "@/etc/hostname /help", sdk_tools=[])
    asked = next(request.body for request in requests if request.path.startswith("/v1/messages?"))
    assert [tool["name"] for tool in asked["tools"]] == ["mcp__heald__weather"]
    assert asked["messages"][-1]["content"][-1]["text"] == "@/etc/hostname /help"
