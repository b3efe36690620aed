"""openai: chat completion chunks."""

from typing import Any

from dialect_support import BUSY, answered, asked, begun, dropped, ended, log_of, objects, spoken, text
from heald.core.events import TextContentBlockStart, TextDelta, ThinkingContentBlockStart, ThinkingDelta, ToolExecuting
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald_server.protocols.openai.dialect import OpenAIDialect

HEAD = {"id": "chatcmpl_1_1", "object": "chat.completion.chunk", "created": 1000, "model": "test/model"}
CALL: list[Payload] = [
    ToolCall(id="call_1", name="weather", input={"city": "Oslo"}),
    ToolExecuting("call_1", "weather", 1, summary="city=Oslo"),
    ToolResult(id="call_1", status="ok", content="3 °C", name="weather"),
]


def deltas(*payloads: Payload | list[Payload], **options: Any) -> list[Any]:
    frames = spoken(OpenAIDialect(**options), log_of(*payloads))
    assert frames[-1].data == "[DONE]"
    return [chunk["choices"][0]["delta"] for chunk in objects(frames) if chunk.get("choices")]


def test_the_documented_sequence() -> None:
    frames = spoken(OpenAIDialect(usage=True), log_of(asked(), begun(), text("Hel", "lo."), ended(), answered()))
    first, second, third, last = (
        {"index": 0, "delta": delta, "finish_reason": finish}
        for delta, finish in [
            ({"role": "assistant", "content": ""}, None),
            ({"content": "Hel"}, None),
            ({"content": "lo."}, None),
            ({}, "stop"),
        ]
    )
    usage = {
        "cost": 0.001,
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    assert [frame.data for frame in frames] == [
        *(HEAD | {"choices": [choice]} for choice in (first, second, third, last)),
        HEAD | {"choices": [], "usage": usage},
        "[DONE]",
    ]


def test_turns_are_paragraphs_of_one_message() -> None:
    second = [begun("msg_2"), *text("Cold.", block="msg_2.0"), *ended("msg_2")]
    assert deltas(asked(), begun(), text("Let me see."), ended(), CALL, second, answered())[1:] == [
        {"content": "Let me see."},
        {"content": "\n\nCold."},
        {},
    ]


def test_tools_are_shown_as_reasoning_and_never_as_calls() -> None:
    thinking = [ThinkingContentBlockStart(0, "b"), ThinkingDelta(0, "b", "Hm.")]
    said = deltas(
        asked(), begun(), [*thinking], ended(), CALL, begun("msg_2"), [*thinking], answered(), show_tools=True
    )
    assert [delta.get("reasoning_content") for delta in said[1:-1]] == [
        "Hm.",
        "\n\nweather: city=Oslo",
        "\n\nweather: ok",
        "\n\nHm.",
    ]
    assert not any("tool_calls" in delta for delta in said)


def test_a_dropped_attempt_begins_a_paragraph() -> None:
    again = [begun("msg_2", 2), *text("Hello.", block="msg_2.0"), answered()]
    assert deltas(asked(), begun(), text("Hel"), dropped(), again)[1:3] == [
        {"content": "Hel"},
        {"content": "\n\nHello."},
    ]
    assert deltas(asked(), begun(), dropped(), again)[1] == {"content": "Hello."}


def test_a_refusal_is_reported_as_one() -> None:
    refusal = [TextContentBlockStart(0, "b", refusal=True), TextDelta(0, "b", "No.")]
    frames = objects(spoken(OpenAIDialect(), log_of(asked(), begun(), [*refusal], answered("completed", "refusal"))))
    assert frames[1]["choices"][0]["delta"] == {"refusal": "No."}
    assert frames[2]["choices"][0]["finish_reason"] == "content_filter"


def test_how_it_ends_otherwise() -> None:
    def finish(*payloads: Payload) -> Any:
        return objects(spoken(OpenAIDialect(model="heald"), log_of(asked(), *payloads)))[-1]

    assert finish(answered("completed", "max_tokens"))["choices"][0]["finish_reason"] == "length"
    assert finish(answered("limit", "tool_use"))["choices"][0]["finish_reason"] == "length"
    assert finish(answered("cancelled"))["choices"][0]["finish_reason"] == "stop"
    assert finish(answered("failed", "error", BUSY)) == {
        "error": {
            "message": "The provider is overloaded.",
            "type": "server_error",
            "param": None,
            "code": "server_is_overloaded",
        }
    }
    assert finish(begun())["error"]["code"] == "incomplete"
    assert finish(answered())["model"] == "heald"
