"""Chat Completions: a turn as a request body."""

from typing import Any

import pytest

from weft.core.json import JsonObject
from weft.core.messages import (
    File,
    Image,
    InvalidCall,
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
from weft.wires.request import Quirks, TurnRequest

SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOSED = SCHEMA | {"additionalProperties": False}
TOOL = ToolDefinition(name="weather", description="Weather of a city.", input_schema=SCHEMA, strict=True)
CALL = ToolCall(id="c1", name="weather", input={"city": "Oslo"})
PICTURE = Image(media_type="image/png", data="AAAA")


def body(
    *messages: Message, tools: list[ToolDefinition] | None = None, quirks: Quirks | None = None, **settings: Any
) -> JsonObject:
    request = TurnRequest(
        model="m",
        messages=list(messages) or [user_message("hi")],
        tools=tools or [],
        settings=Settings(**settings),
        quirks=quirks or Quirks(),
    )
    return WIRES["chat"].build_request(request)


def sent(*messages: Message, **options: Any) -> list[JsonObject]:
    return body(*messages, **options)["messages"]


def test_the_smallest_request() -> None:
    assert body() == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        ({"temperature": 0.0}, "temperature", 0.0),
        ({"top_p": 0.5}, "top_p", 0.5),
        ({"max_output_tokens": 9}, "max_tokens", 9),
        ({"stop_sequences": ["END"]}, "stop", ["END"]),
        ({"reasoning": Reason(effort="low")}, "reasoning_effort", "low"),
        ({"reasoning": Reason(budget=9000)}, "reasoning_effort", "medium"),
        ({"extra": {"seed": 7}}, "seed", 7),
        ({"extra": {"stream": False}}, "stream", False),
        (
            {"output_schema": SCHEMA},
            "response_format",
            {"type": "json_schema", "json_schema": {"name": "output", "schema": CLOSED, "strict": True}},
        ),
    ],
)
def test_each_setting(settings: dict[str, Any], field: str, value: Any) -> None:
    assert body(**settings)[field] == value
    assert set(body(**settings)) - set(body()) <= {field}


@pytest.mark.parametrize(
    ("style", "reason", "fields"),
    [
        ("effort", Reason(effort="high"), {"reasoning_effort": "high"}),
        ("effort", Reason(), {}),
        ("object", Reason(effort="high"), {"reasoning": {"effort": "high"}}),
        ("object", Reason(budget=2000), {"reasoning": {"max_tokens": 2000}}),
        ("thinking", Reason(effort="high"), {"thinking": {"type": "enabled"}}),
        ("thinking", Reason(effort="none"), {"thinking": {"type": "disabled"}}),
        ("none", Reason(effort="high"), {}),
    ],
)
def test_reasoning_is_asked_for_as_the_server_knows_it(style: Any, reason: Reason, fields: JsonObject) -> None:
    quirks = Quirks(reasoning_request=style)
    assert body(quirks=quirks, reasoning=reason) == body(quirks=quirks) | fields


def test_quirks_of_servers() -> None:
    assert "stream_options" not in body(quirks=Quirks(usage_option=False))
    assert (
        body(quirks=Quirks(max_tokens_field="max_completion_tokens"), max_output_tokens=9)["max_completion_tokens"] == 9
    )
    assert sent(quirks=Quirks(system_role="developer"), system="be brief")[0]["role"] == "developer"


def test_the_system_prompt_comes_first() -> None:
    assert sent(system="be brief") == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]


def test_tools() -> None:
    function = {"name": "weather", "description": "Weather of a city.", "parameters": SCHEMA}
    request = body(tools=[TOOL], parallel_tool_calls=False)
    assert request["tools"] == [{"type": "function", "function": function}]
    assert (request["tool_choice"], request["parallel_tool_calls"]) == ("auto", False)
    strict = body(tools=[TOOL], quirks=Quirks(strict_tools=True))
    assert strict["tools"] == [{"type": "function", "function": function | {"parameters": CLOSED, "strict": True}}]
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(
        body(parallel_tool_calls=True, tool_choice="required")
    )


@pytest.mark.parametrize(
    ("choice", "value"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("weather", {"type": "function", "function": {"name": "weather"}}),
    ],
)
def test_tool_choice(choice: str, value: Any) -> None:
    assert body(tools=[TOOL], tool_choice=choice)["tool_choice"] == value


def test_a_call_and_its_result() -> None:
    history = [
        user_message("go"),
        Message(role="assistant", content=[CALL]),
        tool_results([ToolResult(id="c1", status="ok", content="4 °C")]),
    ]
    assert sent(*history)[1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "4 °C"},
    ]


def test_text_beside_a_call_stays_and_reasoning_does_not_travel() -> None:
    message = Message(role="assistant", content=[Reasoning("hm"), Text("Look."), CALL])
    assert sent(user_message("go"), message)[1]["content"] == "Look."
    assert "hm" not in str(sent(user_message("go"), message))


def test_an_invalid_call_goes_back_as_valid_json() -> None:
    call = ToolCall(id="c1", name="bad name", input={}, invalid=InvalidCall("malformed", "why", '{"a'))
    function = sent(user_message("go"), Message(role="assistant", content=[call]))[1]["tool_calls"][0]["function"]
    assert function == {"name": "bad_name", "arguments": '{"INVALID_JSON":"{\\"a"}'}


def test_pictures_and_files_of_the_user() -> None:
    pdf = File(media_type="application/pdf", data="JVBE", name="a.pdf")
    assert sent(user_message("see", PICTURE, Image(url="https://example.org/a.png"), pdf))[0]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}},
    ]
    assert sent(user_message("one", "two"))[0]["content"] == "one\n\ntwo"


def test_a_file_by_url_is_not_sent_as_an_empty_file() -> None:
    content = sent(user_message("read", File(media_type="application/pdf", url="https://example.org/a.pdf")))[0][
        "content"
    ]
    assert "https://example.org/a.pdf" in str(content)


def test_pictures_of_a_result_follow_in_a_user_message() -> None:
    """G10."""
    history = [
        user_message("go"),
        Message(role="assistant", content=[CALL, ToolCall(id="c2", name="shot", input={})]),
        tool_results(
            [
                ToolResult(id="c1", status="ok", content=[Text("done"), PICTURE]),
                ToolResult(id="c2", status="ok", content="text only"),
            ]
        ),
    ]
    assert sent(*history)[2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "tool", "tool_call_id": "c2", "content": "text only"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Attached to the result of weather:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        },
    ]
    inside = sent(*history, quirks=Quirks(images_in_results=True))[2]["content"]
    assert [part["type"] for part in inside] == ["text", "image_url"]


def test_a_file_in_a_result_is_not_lost() -> None:
    """G10."""
    pdf = File(media_type="application/pdf", data="JVBE", name="a.pdf")
    history = [
        Message(role="assistant", content=[CALL]),
        tool_results([ToolResult(id="c1", status="ok", content=[pdf])]),
    ]
    assert "JVBE" in str(sent(*history))


def test_an_empty_result_reports_it() -> None:
    history = [Message(role="assistant", content=[CALL]), tool_results([ToolResult(id="c1", status="ok", content="")])]
    assert sent(*history)[1]["content"] == "(no output)"


def test_an_assistant_message_from_elsewhere_is_text() -> None:
    assert sent(user_message("a"), assistant("b"))[1] == {"role": "assistant", "content": "b"}
