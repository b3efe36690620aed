"""ai-sdk: the UI message stream."""

from typing import Any

from dialect_grammar import check_ai_sdk

import heald
from dialect_support import (
    BUSY,
    CANCELLED,
    S,
    answered,
    arguments,
    asked,
    begun,
    dropped,
    ended,
    frame_data,
    guarded,
    log_of,
    look,
    played,
    spoken,
    text,
)
from heald.core.events import (
    ApprovalRequested,
    AssistantMessage,
    FileChanged,
    FilePreview,
    InputJsonDelta,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolExecuting,
    ToolOutputDelta,
    ToolUseContentBlockStart,
)
from heald.core.messages import Grounding, Image, InvalidCall, Message, Source, ToolCall, ToolResult
from heald.core.payload import Payload
from heald_server.protocols.ai_sdk.dialect import AISDKDialect

CALL = ToolCall(id="call_1", name="weather", input={"city": "Oslo"})
STREAMED = arguments("call_1", "weather", '{"city":', '"Oslo"}')
RUNS = ToolExecuting("call_1", "weather", 1)
USAGE: dict[str, Any] = {
    "type": "data-usage",
    "data": {"status": "completed", "usage": {"input": 10, "output": 5, "reasoning": 2}, "costUsd": 0.001},
    "transient": True,
}
METADATA: dict[str, Any] = {
    "usage": {
        "inputTokens": 10,
        "outputTokens": 7,
        "totalTokens": 17,
        "reasoningTokens": 2,
        "cachedInputTokens": 0,
        "inputTokenDetails": {"noCacheTokens": 10, "cacheReadTokens": 0, "cacheWriteTokens": 0},
        "outputTokenDetails": {"textTokens": 5, "reasoningTokens": 2},
    },
    "costUsd": 0.001,
}


def chunks(*payloads: Payload | list[Payload]) -> list[Any]:
    frames = spoken(AISDKDialect(), log_of(*payloads))
    check_ai_sdk(frames)
    return frame_data(frames)


def of_kind(told: list[Any], prefix: str) -> list[Any]:
    return [chunk for chunk in told if chunk != "[DONE]" and chunk["type"].startswith(prefix)]


def refuse(_: ApprovalRequested) -> bool:
    return False


def result(status: Any = "ok", content: Any = "3 °C") -> Payload:
    return ToolResult(id="call_1", status=status, content=content, name="weather")


def test_the_header_of_the_protocol() -> None:
    assert AISDKDialect().headers == {"x-vercel-ai-ui-message-stream": "v1"}


def test_the_documented_sequence() -> None:
    thinking = [ThinkingContentBlockStart(0, "t"), ThinkingDelta(0, "t", "Hm."), ThinkingContentBlockStop(0, "t")]
    second = [begun("msg_2"), *text("Cold.", block="msg_2.0"), *ended("msg_2")]
    first = [begun(), *thinking, *text("Let me ", "see."), *STREAMED, *ended("msg_1", "tool_use")]
    assert chunks(asked(), first, CALL, RUNS, result(), second, answered()) == [
        {"type": "start", "messageId": "ex_1"},
        {"type": "start-step"},
        {"type": "reasoning-start", "id": "t"},
        {"type": "reasoning-delta", "id": "t", "delta": "Hm."},
        {"type": "reasoning-end", "id": "t"},
        {"type": "text-start", "id": "msg_1.0"},
        {"type": "text-delta", "id": "msg_1.0", "delta": "Let me "},
        {"type": "text-delta", "id": "msg_1.0", "delta": "see."},
        {"type": "text-end", "id": "msg_1.0"},
        {"type": "tool-input-start", "toolCallId": "call_1", "toolName": "weather"},
        {"type": "tool-input-delta", "toolCallId": "call_1", "inputTextDelta": '{"city":'},
        {"type": "tool-input-delta", "toolCallId": "call_1", "inputTextDelta": '"Oslo"}'},
        {"type": "tool-input-available", "toolCallId": "call_1", "toolName": "weather", "input": {"city": "Oslo"}},
        {"type": "tool-output-available", "toolCallId": "call_1", "output": "3 °C"},
        {"type": "finish-step"},
        {"type": "start-step"},
        {"type": "text-start", "id": "msg_2.0"},
        {"type": "text-delta", "id": "msg_2.0", "delta": "Cold."},
        {"type": "text-end", "id": "msg_2.0"},
        {"type": "finish-step"},
        USAGE,
        {"type": "finish", "finishReason": "stop", "messageMetadata": METADATA},
        "[DONE]",
    ]


def test_arguments_are_available_only_once_they_are_valid() -> None:
    refused = result("invalid_input", "The arguments do not fit.")
    told = chunks(asked(), begun(), STREAMED, ended(), CALL, refused, answered())
    assert not of_kind(told, "tool-input-available")
    assert of_kind(told, "tool-input-error") == [
        {
            "type": "tool-input-error",
            "toolCallId": "call_1",
            "toolName": "weather",
            "input": {"city": "Oslo"},
            "errorText": "The arguments do not fit.",
        }
    ]


def test_arguments_that_are_no_json() -> None:
    call = ToolCall(id="call_1", name="weather", input={}, invalid=InvalidCall("malformed", "This is no JSON.", '{"ci'))
    told = chunks(asked(), begun(), STREAMED, ended(), call, result("invalid_input", "This is no JSON."), answered())
    (error,) = of_kind(told, "tool-input-error")
    assert (error["input"], error["errorText"]) == ('{"ci', "This is no JSON.")
    assert not of_kind(told, "tool-output")


def test_a_tool_that_fails() -> None:
    told = chunks(asked(), begun(), STREAMED, ended(), CALL, RUNS, result("error", "No such city."), answered())
    assert of_kind(told, "tool-output") == [
        {"type": "tool-output-error", "toolCallId": "call_1", "errorText": "No such city."}
    ]


async def test_an_approval_and_its_denial() -> None:
    events = await played(
        [S.call("guarded", place="x")],
        "Then not.",
        tools=[guarded],
        permissions=heald.Permissions("auto", ["ask guarded"]),
        on_approval=refuse,
    )
    frames = spoken(AISDKDialect(), events)
    check_ai_sdk(frames)
    kinds = [chunk["type"] for chunk in of_kind(frame_data(frames), "tool-")]
    assert kinds[-3:] == ["tool-input-available", "tool-approval-request", "tool-output-denied"]
    asked_for = next(event.data for event in events if isinstance(event.data, ApprovalRequested))
    assert of_kind(frame_data(frames), "tool-approval-request")[0]["approvalId"] == asked_for.approval


async def test_a_call_that_a_rule_forbids_was_asked_about_by_nobody() -> None:
    rules = heald.Permissions("auto", ["deny look"])
    frames = spoken(AISDKDialect(), await played([S.call("look")], "Well.", tools=[look], permissions=rules))
    check_ai_sdk(frames)
    assert [chunk["type"] for chunk in of_kind(frame_data(frames), "tool-output")] == ["tool-output-error"]


def test_a_dropped_attempt_is_closed_and_named() -> None:
    partial = [
        begun(),
        TextContentBlockStart(0, "msg_1.0"),
        TextDelta(0, "msg_1.0", "Hel"),
        ToolUseContentBlockStart(1, "msg_1.1", "call_1", "weather"),
        InputJsonDelta(1, "msg_1.1", '{"ci'),
    ]
    again = [
        begun("msg_2", 2),
        *text("Hello.", block="msg_2.0"),
        *arguments("call_1", "weather", "{}", block="msg_2.1"),
    ]
    told = chunks(asked(), partial, dropped(), again, ended("msg_2"), CALL, RUNS, result(), answered())
    after = told[told.index({"type": "tool-input-delta", "toolCallId": "call_1", "inputTextDelta": '{"ci'}) + 1 :]
    assert [chunk["type"] for chunk in after[:5]] == [
        "text-end",
        "tool-input-error",
        "data-discarded",
        "finish-step",
        "start-step",
    ]
    assert after[2]["data"] == {"messageId": "msg_1"}
    assert of_kind(told, "tool-output")[0]["toolCallId"] == "call_1.2", "the id of a dropped call is not used again"


def test_a_cancel_keeps_what_was_sent() -> None:
    partial = [begun(), TextContentBlockStart(0, "msg_1.0"), TextDelta(0, "msg_1.0", "Hel")]
    told = chunks(asked(), partial, dropped(error=CANCELLED), answered("cancelled"))
    assert not of_kind(told, "data-discarded")
    assert told[-3:] == [
        {"type": "message-metadata", "messageMetadata": METADATA},
        {"type": "abort", "reason": "The request was cancelled."},
        "[DONE]",
    ]


def test_a_failure() -> None:
    assert chunks(asked(), answered("failed", "error", BUSY))[-3:] == [
        {"type": "error", "errorText": "The provider is overloaded."},
        {"type": "finish", "finishReason": "error", "messageMetadata": METADATA},
        "[DONE]",
    ]


def test_a_log_that_breaks_off() -> None:
    told = chunks(asked(), begun(), STREAMED, CALL, RUNS)
    assert [chunk["type"] for chunk in told[-4:-1]] == ["tool-output-error", "finish-step", "abort"]


def test_files_output_pictures_and_sources() -> None:
    message = Message(
        role="assistant",
        id="msg_1",
        content=[Grounding([Source("A page", "https://example.org/"), Source("No address")]), Image(data="AAAA")],
    )
    told = chunks(
        asked(),
        begun(),
        ended(),
        AssistantMessage(message),
        FilePreview("call_1", "index.html", 0, "<html>"),
        CALL,
        RUNS,
        ToolOutputDelta("call_1", "half way", "progress"),
        FileChanged("index.html", 1, "abc", None, "call_1", 6),
        result(),
        answered(),
    )
    data: dict[str, Any] = {chunk["type"]: chunk for chunk in told if chunk != "[DONE]"}
    assert data["source-url"] == {
        "type": "source-url",
        "sourceId": "msg_1-source-0",
        "url": "https://example.org/",
        "title": "A page",
    }
    assert data["file"] == {"type": "file", "url": "data:image/png;base64,AAAA", "mediaType": "image/png"}
    assert data["data-file-preview"]["transient"] is True
    assert data["data-tool-output"]["data"] == {"toolCallId": "call_1", "text": "half way", "channel": "progress"}
    assert data["data-file"] == {
        "type": "data-file",
        "id": "index.html",
        "data": {"path": "index.html", "revision": 1, "hash": "abc", "size": 6},
    }
