"""Ollama's own chat: a turn as a request body."""

from typing import Any

import pytest

from weft.core.json import JsonObject
from weft.core.messages import (
    File,
    Image,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    tool_results,
    user_message,
)
from weft.core.turn import Reason, Settings
from weft.wires.registry import WIRES
from weft.wires.request import TurnRequest

SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = ToolDefinition(name="weather", description="Weather.", input_schema=SCHEMA)
CALL = ToolCall(id="c1", name="weather", input={"city": "Oslo"})


def body(
    *messages: Message, model: str = "m", tools: list[ToolDefinition] | None = None, **settings: Any
) -> JsonObject:
    request = TurnRequest(
        model=model, messages=list(messages) or [user_message("hi")], tools=tools or [], settings=Settings(**settings)
    )
    return WIRES["ollama"].build_request(request)


def test_the_smallest_request() -> None:
    assert body() == {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"temperature": 0.0}, {"options": {"temperature": 0.0}}),
        ({"top_p": 0.5}, {"options": {"top_p": 0.5}}),
        ({"max_output_tokens": 9}, {"options": {"num_predict": 9}}),
        ({"stop_sequences": ["END"]}, {"options": {"stop": ["END"]}}),
        ({"output_schema": SCHEMA}, {"format": SCHEMA}),
        ({"extra": {"keep_alive": "5m"}}, {"keep_alive": "5m"}),
        ({"reasoning": Reason(effort="high")}, {"think": True}),
        ({"reasoning": Reason(effort="none")}, {"think": False}),
        ({"reasoning": Reason()}, {}),
    ],
)
def test_each_setting(settings: dict[str, Any], fields: JsonObject) -> None:
    assert body(**settings) == body() | fields


@pytest.mark.parametrize(
    ("effort", "think"), [("none", "low"), ("low", "low"), ("medium", "medium"), ("xhigh", "high")]
)
def test_one_family_accepts_a_level(effort: Any, think: str) -> None:
    assert body(model="gpt-oss:20b", reasoning=Reason(effort=effort))["think"] == think


def test_tools() -> None:
    function = {"name": "weather", "description": "Weather.", "parameters": SCHEMA}
    assert body(tools=[TOOL])["tools"] == [{"type": "function", "function": function}]


def test_a_conversation_from_elsewhere() -> None:
    history = [
        user_message("see", Image(data="AAAA")),
        Message(role="assistant", content=[Reasoning("hm"), Text("Look."), CALL]),
        tool_results([ToolResult(id="c1", status="ok", content=[Text("done"), Image(data="BBBB")])]),
    ]
    assert body(*history, system="be brief")["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "see", "images": ["AAAA"]},
        {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Oslo"}}}],
        },
        {"role": "tool", "tool_name": "weather", "content": "done", "images": ["BBBB"]},
    ]


def test_what_the_api_cannot_accept_is_mentioned_not_dropped_in_silence() -> None:
    pdf = File(media_type="application/pdf", data="JVBE", name="report.pdf")
    assert "report.pdf" in str(body(user_message("read this", pdf))["messages"])
    assert "https://example.org/a.png" in str(
        body(user_message("see", Image(url="https://example.org/a.png")))["messages"]
    )
