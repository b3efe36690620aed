"""Responses: a turn as a request body."""

from typing import Any

import pytest

from weft.core.json import JsonObject
from weft.core.messages import (
    File,
    Image,
    Message,
    Native,
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
from weft.wires.request import Quirks, TurnRequest

SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOSED = SCHEMA | {"additionalProperties": False}
TOOL = ToolDefinition(name="weather", description="Weather.", input_schema=SCHEMA)
CALL = ToolCall(id="c1", name="weather", input={"city": "Oslo"})
STORING = Quirks(stateless=False)


def body(
    *messages: Message,
    model: str = "m",
    tools: list[ToolDefinition] | None = None,
    quirks: Quirks | None = None,
    **settings: Any,
) -> JsonObject:
    request = TurnRequest(
        model=model,
        messages=list(messages) or [user_message("hi")],
        tools=tools or [],
        settings=Settings(**settings),
        provider="p",
        quirks=quirks or Quirks(),
    )
    return WIRES["responses"].build_request(request)


def test_the_smallest_request() -> None:
    assert body() == {
        "model": "m",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "stream": True,
        "store": False,
    }


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        ({"system": "be brief"}, "instructions", "be brief"),
        ({"temperature": 0.0}, "temperature", 0.0),
        ({"top_p": 0.5}, "top_p", 0.5),
        ({"max_output_tokens": 9}, "max_output_tokens", 9),
        ({"extra": {"seed": 7}}, "seed", 7),
        (
            {"output_schema": SCHEMA},
            "text",
            {"format": {"type": "json_schema", "name": "output", "schema": CLOSED, "strict": True}},
        ),
    ],
)
def test_each_setting(settings: dict[str, Any], field: str, value: Any) -> None:
    assert body(**settings) == body() | {field: value}


@pytest.mark.parametrize(
    ("reason", "value"),
    [
        (Reason(effort="high"), {"effort": "high", "summary": "auto"}),
        (Reason(effort="low", visible=False), {"effort": "low"}),
        (Reason(budget=2000), {"effort": "low", "summary": "auto"}),
        (Reason(), {"summary": "auto"}),
    ],
)
def test_reasoning(reason: Reason, value: JsonObject) -> None:
    request = body(reasoning=reason)
    assert request["reasoning"] == value
    assert request["include"] == ["reasoning.encrypted_content"]


@pytest.mark.parametrize("model", ["o3", "gpt-5.2", "openai/gpt-5-mini", "codex-mini"])
def test_models_that_reason_by_themselves_are_asked_for_what_to_carry(model: str) -> None:
    """R09."""
    assert body(model=model)["include"] == ["reasoning.encrypted_content"]
    assert "include" not in body(model=model, quirks=STORING)
    assert "include" not in body(model="gpt-4.1")


def test_a_server_that_stores_is_not_reported_otherwise() -> None:
    assert "store" not in body(quirks=STORING)


def test_tools_and_choice() -> None:
    request = body(tools=[TOOL], parallel_tool_calls=True)
    assert request["tools"] == [
        {"type": "function", "name": "weather", "description": "Weather.", "parameters": SCHEMA, "strict": False}
    ]
    assert (request["tool_choice"], request["parallel_tool_calls"]) == ("auto", True)
    assert body(tools=[TOOL], tool_choice="required")["tool_choice"] == "required"
    assert body(tools=[TOOL], tool_choice="weather")["tool_choice"] == {"type": "function", "name": "weather"}
    assert "tool_choice" not in body(tool_choice="none")


def test_a_conversation_from_elsewhere() -> None:
    history = [
        user_message("see", Image(data="AAAA"), Image(url="https://example.org/a.png")),
        Message(role="assistant", content=[Reasoning("hm"), Text("Look."), CALL]),
        tool_results([ToolResult(id="c1", status="ok", content="4 °C")]),
        assistant("Cold."),
    ]
    assert body(*history)["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
                {"type": "input_image", "image_url": "https://example.org/a.png"},
            ],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Oslo"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "4 °C"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Cold."}]},
    ]


def test_files() -> None:
    files = [
        File(media_type="application/pdf", data="JVBE", name="a.pdf"),
        File(media_type="application/pdf", url="https://example.org/a.pdf"),
    ]
    assert body(user_message(*files))["input"][0]["content"] == [
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"},
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    ]


def test_a_result_with_a_picture_is_a_list_of_parts() -> None:
    result = ToolResult(id="c1", status="ok", content=[Text("done"), Image(data="AAAA")])
    assert body(Message(role="assistant", content=[CALL]), tool_results([result]))["input"][1]["output"] == [
        {"type": "input_text", "text": "done"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    ]


REASONING: JsonObject = {"id": "rs", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
FUNCTION: JsonObject = {"id": "fc", "type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}


def echoed(*items: JsonObject, quirks: Quirks | None = None) -> list[JsonObject]:
    native = Native(wire="responses", provider="p", model="m", content=list(items))
    message = Message(role="assistant", content=[CALL], native=native)
    return body(user_message("hi"), message, quirks=quirks)["input"][1:-1]


def test_reasoning_stands_directly_before_what_it_belongs_to() -> None:
    """R08."""
    assert echoed(REASONING, FUNCTION) == [REASONING, FUNCTION]


def test_reasoning_that_cannot_be_carried_is_left_out_and_with_it_all_ids() -> None:
    """R09: an id would point at an item that the server does not have."""
    bare = {key: value for key, value in REASONING.items() if key != "encrypted_content"}
    without_id = {key: value for key, value in FUNCTION.items() if key != "id"}
    assert echoed(bare, FUNCTION) == [without_id]
    assert echoed(bare, FUNCTION, quirks=STORING) == [bare, FUNCTION]


def test_the_result_of_a_free_text_tool_has_a_kind_of_its_own() -> None:
    custom: JsonObject = {"id": "ct", "type": "custom_tool_call", "call_id": "c1", "name": "weather", "input": "x"}
    native = Native(wire="responses", provider="p", model="m", content=[custom])
    history = [
        Message(role="assistant", content=[CALL], native=native),
        tool_results([ToolResult(id="c1", status="ok", content="y")]),
    ]
    assert body(*history)["input"][-1] == {"type": "custom_tool_call_output", "call_id": "c1", "output": "y"}
