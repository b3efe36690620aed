"""Calls that a small model writes as text run through the same gate, and the log has their form."""

from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import ToolUseContentBlockStart, UserMessage
from heald.core.messages import ToolCall, ToolResult
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

HERMES = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "day": null}}\n</tool_call>'


@heald.tool(effect="read")
async def weather(city: str, day: int = 0) -> str:
    """Weather of a city."""
    return f"{city}: snow"


async def run(
    replies: list[Reply], prompt: str = "Weather in Oslo?", *, wire: str = "chat", **options: Any
) -> tuple[heald.AgentResult, list[Event], ScriptedServer]:
    events: list[Event] = []
    async with ScriptedServer(replies) as server:
        base = server.url if wire == "ollama" else server.url + "/v1"
        quirks = options.pop("quirks", heald.providers.Quirks())
        model = heald.Model("m", wire=wire, base_url=base, api_key="no-key", quirks=quirks)
        async with heald.Agent(model, tools=[weather], **options) as agent:
            agent.subscribe(events.append)
            result = await agent.run(prompt)
    assert check_log(events) == []
    return result, events, server


@pytest.mark.parametrize("wire", ["chat", "ollama"])
async def test_a_call_in_the_text_is_run(wire: str) -> None:
    result, events, server = await run(
        [wire_reply(wire, text=["Let me see. ", *HERMES]), wire_reply(wire, text="Snow.")], wire=wire
    )
    assert (result.text, result.turns) == ("Snow.", 2)
    calls = [event.data for event in events if isinstance(event.data, ToolCall)]
    assert [(call.name, call.input, call.form) for call in calls] == [
        ("weather", {"city": "Oslo", "day": None}, "hermes")
    ]
    assert [e.data.form for e in events if isinstance(e.data, ToolUseContentBlockStart)] == ["hermes"]
    assert [e.data.text for e in events if isinstance(e.data, ToolResult)] == ["Oslo: snow"]
    sent = server.requests[1].body["messages"]
    assert [message["role"] for message in sent][-3:] == ["user", "assistant", "tool"]
    assert sent[-2]["content"] == "Let me see. "
    assert sent[-2]["tool_calls"][0]["function"]["name"] == "weather"


async def test_the_gate_is_the_same() -> None:
    _, events, _ = await run(
        [wire_reply("chat", text=HERMES), wire_reply("chat", text="Sorry.")],
        permissions=heald.Permissions("auto", ["deny weather"]),
    )
    assert [event.data.status for event in events if isinstance(event.data, ToolResult)] == ["denied"]


async def test_an_endpoint_that_parses_calls_is_believed() -> None:
    result, events, _ = await run([wire_reply("chat", text=HERMES)], quirks=heald.providers.Quirks(text_calls=False))
    assert result.text == HERMES
    assert not [event for event in events if isinstance(event.data, ToolCall)]
    native = ToolCall(id="c1", name="weather", input={"city": "Rome"})
    result, events, _ = await run(
        [wire_reply("chat", text='{"name": ', calls=[native]), wire_reply("chat", text="Sun.")]
    )
    assert [event.data.input for event in events if isinstance(event.data, ToolCall)] == [{"city": "Rome"}]


def reminders(events: list[Event]) -> list[str]:
    return [event.data.message.text for event in events if isinstance(event.data, UserMessage)][1:]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I will check the weather in Oslo now.", "announces a step"),
        ("Sure. Let me look it up:", "announces a step"),
        ('<tool_call>{"name": "weather", "argum', "could not be parsed"),
        ('{"name": "weather", "arguments": {"city": ["Oslo", "Rome"]}}', "once for each value"),
    ],
)
async def test_a_model_that_speaks_of_a_call_is_reminded_once(text: str, words: str) -> None:
    result, events, _ = await run([wire_reply("chat", text=text), wire_reply("chat", text=text)])
    assert result.text == text
    [reminder] = reminders(events)
    assert words in reminder


async def test_a_plain_answer_is_not_questioned() -> None:
    for text in ("It snows in Oslo.", "I will be brief: snow.", "Let me know if you need more.", ""):
        _, events, _ = await run([wire_reply("chat", text=text)])
        assert reminders(events) == []


async def test_the_last_turn_of_a_budget_is_not_spent_on_a_reminder() -> None:
    result, events, _ = await run([wire_reply("chat", text="I will check it now.")], budget=heald.Budget(turns=1))
    assert (result.status, reminders(events)) == ("completed", [])
