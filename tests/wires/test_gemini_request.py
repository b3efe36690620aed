"""Gemini: a turn as a request body."""

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
from weft.wires.request import TurnRequest

SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = ToolDefinition(name="weather", description="Weather.", input_schema=SCHEMA)
CALL = ToolCall(id="c1", name="weather", input={"city": "Oslo"})
OLD, NEW = "gemini-2.5-flash", "gemini-3-pro-preview"


def body(
    *messages: Message, model: str = OLD, tools: list[ToolDefinition] | None = None, **settings: Any
) -> JsonObject:
    request = TurnRequest(
        model=model,
        messages=list(messages) or [user_message("hi")],
        tools=tools or [],
        settings=Settings(**settings),
        provider="p",
    )
    return WIRES["gemini"].build_request(request)


def test_the_smallest_request() -> None:
    assert body() == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@pytest.mark.parametrize(
    ("settings", "config"),
    [
        ({"temperature": 0.0}, {"temperature": 0.0}),
        ({"top_p": 0.5}, {"topP": 0.5}),
        ({"max_output_tokens": 9}, {"maxOutputTokens": 9}),
        ({"stop_sequences": ["END"]}, {"stopSequences": ["END"]}),
        ({"output_schema": SCHEMA}, {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}),
        ({"reasoning": Reason(budget=99)}, {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 99}}),
        ({"reasoning": Reason(effort="low")}, {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2048}}),
        ({"reasoning": Reason(effort="none")}, {"thinkingConfig": {"thinkingBudget": 0}}),
        ({"reasoning": Reason(effort="low", visible=False)}, {"thinkingConfig": {"thinkingBudget": 2048}}),
    ],
)
def test_each_setting(settings: dict[str, Any], config: JsonObject) -> None:
    assert body(**settings) == body() | {"generationConfig": config}


@pytest.mark.parametrize(
    ("effort", "level"),
    [("none", "minimal"), ("low", "low"), ("medium", "medium"), ("high", "high"), ("xhigh", "high")],
)
def test_newer_models_accept_a_level(effort: Any, level: str) -> None:
    config = body(model=NEW, reasoning=Reason(effort=effort))["generationConfig"]["thinkingConfig"]
    assert config["thinkingLevel"] == level
    assert "thinkingBudget" not in config
    assert body(model=NEW, reasoning=Reason(budget=9))["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 9


def test_the_system_prompt_and_extras() -> None:
    request = body(system="be brief", extra={"safetySettings": []})
    assert request["systemInstruction"] == {"parts": [{"text": "be brief"}]}
    assert request["safetySettings"] == []


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("weather", {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
    ],
)
def test_tools_and_choice(choice: str, config: JsonObject) -> None:
    request = body(tools=[TOOL, ToolDefinition(name="now", description="Time.")], tool_choice=choice)
    assert request["tools"] == [
        {
            "functionDeclarations": [
                {"name": "weather", "description": "Weather.", "parametersJsonSchema": SCHEMA},
                {"name": "now", "description": "Time."},
            ]
        }
    ]
    assert request["toolConfig"] == {"functionCallingConfig": config}
    assert "toolConfig" not in body(tool_choice=choice)


def test_a_conversation_from_elsewhere() -> None:
    history = [
        user_message("see", Image(data="AAAA"), File(media_type="application/pdf", url="https://example.org/a.pdf")),
        Message(role="assistant", content=[Reasoning("hm"), Text("Look."), CALL]),
        tool_results([ToolResult(id="c1", status="ok", content="4 °C")]),
        user_message("well?"),
    ]
    assert body(*history)["contents"] == [
        {
            "role": "user",
            "parts": [
                {"text": "see"},
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.org/a.pdf"}},
            ],
        },
        {
            "role": "model",
            "parts": [{"text": "Look."}, {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "weather", "response": {"output": "4 °C"}}},
                {"text": "well?"},
            ],
        },
    ]


def test_calls_from_elsewhere_carry_the_sentinel_where_signatures_are_demanded() -> None:
    """R07."""
    contents = body(user_message("go"), Message(role="assistant", content=[CALL]), model=NEW)["contents"]
    assert contents[1]["parts"][0]["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in str(body(user_message("go"), Message(role="assistant", content=[CALL])))


def test_an_error_result_reports_it() -> None:
    history = [
        Message(role="assistant", content=[CALL]),
        tool_results([ToolResult(id="c1", status="timeout", content="late")]),
    ]
    assert body(*history)["contents"][-1]["parts"][0]["functionResponse"]["response"] == {"error": "late"}


def test_pictures_of_a_result_go_inside_or_behind() -> None:
    result = ToolResult(id="c1", status="ok", content=[Text("done"), Image(data="AAAA")])
    history = [user_message("go"), Message(role="assistant", content=[CALL]), tool_results([result])]
    shown: JsonObject = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    assert body(*history)["contents"][2]["parts"][1:] == [{"text": "Attached to the result of weather:"}, shown]
    assert body(*history, model=NEW)["contents"][2]["parts"][0]["functionResponse"]["parts"] == [shown]


def test_a_file_in_a_result_is_not_lost() -> None:
    result = ToolResult(id="c1", status="ok", content=[File(media_type="application/pdf", data="JVBE")])
    assert "JVBE" in str(body(Message(role="assistant", content=[CALL]), tool_results([result])))


def test_ids_of_the_api_go_back_with_call_and_result_and_ours_do_not() -> None:
    def echoed(function: JsonObject) -> list[JsonObject]:
        native = Native(wire="gemini", provider="p", model=OLD, content=[{"functionCall": function}])
        message = Message(role="assistant", content=[CALL], native=native)
        contents = body(user_message("go"), message, tool_results([ToolResult(id="c1", status="ok", content="x")]))[
            "contents"
        ]
        return [contents[1]["parts"][0]["functionCall"], contents[2]["parts"][0]["functionResponse"]]

    assert [part.get("id") for part in echoed({"name": "weather", "args": {}, "id": "c1"})] == ["c1", "c1"]
    assert [part.get("id") for part in echoed({"name": "weather", "args": {}})] == [None, None]


def test_the_user_speaks_first() -> None:
    assert body(assistant("hi"))["contents"][0] == {"role": "user", "parts": [{"text": "Continue."}]}
