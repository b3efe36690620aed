"""Anthropic Messages: a turn as a request body."""

import base64
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
    assistant,
    tool_results,
    user_message,
)
from weft.core.turn import Reason, Settings
from weft.wires.registry import WIRES
from weft.wires.request import TurnRequest

SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}}
CLOSED: JsonObject = SCHEMA | {"required": [], "additionalProperties": False}
TOOL = ToolDefinition(name="weather", description="Weather.", input_schema=SCHEMA)
CALL = ToolCall(id="c1", name="weather", input={"city": "Oslo"})
CACHE: JsonObject = {"cache_control": {"type": "ephemeral"}}
ADAPTIVE: JsonObject = {"type": "adaptive", "display": "summarized"}
NEW, OLD = "claude-opus-4-6", "claude-sonnet-4-5"


def body(
    *messages: Message, model: str = NEW, tools: list[ToolDefinition] | None = None, **settings: Any
) -> JsonObject:
    settings.setdefault("cache", False)
    request = TurnRequest(
        model=model, messages=list(messages) or [user_message("hi")], tools=tools or [], settings=Settings(**settings)
    )
    return WIRES["messages"].build_request(request)


def test_the_smallest_request() -> None:
    assert body() == {
        "model": NEW,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "max_tokens": 32000,
        "stream": True,
    }


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        ({"system": "be brief"}, "system", [{"type": "text", "text": "be brief"}]),
        ({"temperature": 0.0}, "temperature", 0.0),
        ({"top_p": 0.5}, "top_p", 0.5),
        ({"max_output_tokens": 9}, "max_tokens", 9),
        ({"stop_sequences": ["END"]}, "stop_sequences", ["END"]),
        (
            {"output_schema": SCHEMA},
            "output_config",
            {"format": {"type": "json_schema", "schema": CLOSED}},
        ),
        ({"extra": {"metadata": {"user_id": "u"}}}, "metadata", {"user_id": "u"}),
    ],
)
def test_each_setting(settings: dict[str, Any], field: str, value: Any) -> None:
    assert body(**settings) == body() | {field: value}


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("claude-3-5-sonnet-20241022", 8192),
        ("claude-3-7-sonnet-20250219", 32000),
        ("claude-sonnet-4-20250514", 32000),
        ("claude-opus-4-6", 32000),
        ("some-future-model", 32000),
    ],
)
def test_the_limit_that_the_api_insists_on(model: str, limit: int) -> None:
    assert body(model=model)["max_tokens"] == limit


@pytest.mark.parametrize(
    ("model", "reason", "fields"),
    [
        (NEW, Reason(effort="high"), {"thinking": ADAPTIVE, "output_config": {"effort": "high"}}),
        (
            NEW,
            Reason(effort="low", visible=False),
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        ),
        (NEW, Reason(effort="minimal"), {"thinking": ADAPTIVE, "output_config": {"effort": "low"}}),
        (NEW, Reason(), {"thinking": ADAPTIVE}),
        (NEW, Reason(budget=5000), {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
        (OLD, Reason(effort="low"), {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (OLD, Reason(budget=900), {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        (OLD, Reason(budget=10**6), {"thinking": {"type": "enabled", "budget_tokens": 31999}}),
        (OLD, Reason(effort="none"), {"thinking": {"type": "disabled"}}),
    ],
)
def test_reasoning(model: str, reason: Reason, fields: JsonObject) -> None:
    assert body(model=model, reasoning=reason) == body(model=model) | fields


def test_the_limit_keeps_room_for_the_thinking() -> None:
    """The API refuses a budget that is not under max_tokens."""
    request = body(model=OLD, reasoning=Reason(budget=1024), max_output_tokens=500)
    assert request["thinking"].get("budget_tokens", 0) < request["max_tokens"]


def test_thinking_accepts_no_temperature() -> None:
    request = body(reasoning=Reason(effort="low"), temperature=0.5, top_p=0.5)
    assert not {"temperature", "top_p"} & set(request)


def test_thinking_that_is_off_keeps_the_temperature() -> None:
    assert body(reasoning=Reason(effort="none"), temperature=0.5)["temperature"] == 0.5


@pytest.mark.parametrize(
    ("choice", "value"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("weather", {"type": "tool", "name": "weather"}),
    ],
)
def test_tools_and_choice(choice: str, value: JsonObject) -> None:
    request = body(tools=[TOOL], tool_choice=choice)
    assert request["tools"] == [{"name": "weather", "description": "Weather.", "input_schema": SCHEMA}]
    assert request["tool_choice"] == value
    single = body(tools=[TOOL], tool_choice=choice, parallel_tool_calls=False)["tool_choice"]
    assert single == value | ({} if choice == "none" else {"disable_parallel_tool_use": True})
    assert "tool_choice" not in body(tool_choice=choice)


def test_the_stable_prefix_is_marked_for_the_cache() -> None:
    history = [user_message("a"), assistant("b"), user_message("c", "d")]
    request = body(*history, system="be brief", tools=[TOOL], cache=True)
    assert request["system"] == [{"type": "text", "text": "be brief"} | CACHE]
    assert request["messages"][-1]["content"] == [{"type": "text", "text": "c"}, {"type": "text", "text": "d"} | CACHE]
    assert str(request).count("cache_control") == 2
    assert body(tools=[TOOL], cache=True)["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in str(body(*history, system="be brief", tools=[TOOL]))


def test_a_conversation_from_elsewhere() -> None:
    history = [
        user_message("see", Image(data="AAAA"), Image(url="https://example.org/a.png")),
        Message(role="assistant", content=[Reasoning("hm"), Text("Look."), CALL]),
        tool_results([ToolResult(id="c1", status="error", content="no such city")]),
        user_message("well?"),
    ]
    assert body(*history)["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "no such city", "is_error": True},
                {"type": "text", "text": "well?"},
            ],
        },
    ]


def test_files() -> None:
    files = [
        File(media_type="application/pdf", data="JVBE", name="a.pdf"),
        File(media_type="application/pdf", url="https://example.org/a.pdf"),
    ]
    assert body(user_message(*files))["messages"][0]["content"] == [
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
            "title": "a.pdf",
        },
        {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
    ]


def test_a_result_with_a_picture() -> None:
    result = ToolResult(id="c1", status="ok", content=[Text("done"), Image(data="AAAA")])
    answer = body(user_message("go"), Message(role="assistant", content=[CALL]), tool_results([result]))["messages"][2]
    assert answer["content"][0]["content"] == [
        {"type": "text", "text": "done"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
    ]


def test_the_user_speaks_first() -> None:
    assert body(assistant("hi"))["messages"][0] == {"role": "user", "content": [{"type": "text", "text": "Continue."}]}


def test_a_tool_schema_without_a_type_gets_one() -> None:
    assert body(tools=[ToolDefinition(name="f", input_schema={})])["tools"][0]["input_schema"] == {"type": "object"}


@pytest.mark.parametrize("model", ["claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5", "claude-mythos-preview"])
def test_a_model_that_refuses_sampling_and_budgets(model: str) -> None:
    asked = body(model=model, temperature=0.5, top_p=0.5, reasoning=Reason(budget=9000))
    assert "temperature" not in asked
    assert "top_p" not in asked
    assert asked["thinking"] == ADAPTIVE
    assert asked["output_config"] == {"effort": "medium"}


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        (NEW, "max", "max"),
        (NEW, "xhigh", "high"),
        (NEW, "minimal", "low"),
        ("claude-opus-4-7", "xhigh", "xhigh"),
        ("claude-opus-4-7", "max", "max"),
    ],
)
def test_efforts(model: str, effort: Any, sent: str) -> None:
    assert body(model=model, reasoning=Reason(effort=effort))["output_config"] == {"effort": sent}


@pytest.mark.parametrize(("ttl", "mark"), [("5m", {}), ("1h", {"ttl": "1h"}), ("24h", {"ttl": "1h"})])
def test_the_cache_of_one_hour(ttl: Any, mark: JsonObject) -> None:
    marked = {"cache_control": {"type": "ephemeral"} | mark}
    asked = body(cache=True, cache_ttl=ttl, system="be brief")
    assert asked["system"] == [{"type": "text", "text": "be brief"} | marked]
    assert asked["messages"][-1]["content"][-1] == {"type": "text", "text": "hi"} | marked


@pytest.mark.parametrize("media_type", ["text/plain", "text/csv", "text/markdown; charset=utf-8", "application/json"])
def test_text_files_are_text_documents(media_type: str) -> None:
    file = File(media_type=media_type, data=base64.b64encode("größe;1\n".encode()).decode(), name="a.csv")
    (message,) = body(user_message(file))["messages"]
    source = {"type": "text", "media_type": "text/plain", "data": "größe;1\n"}
    assert message["content"] == [{"type": "document", "source": source, "title": "a.csv"}]
