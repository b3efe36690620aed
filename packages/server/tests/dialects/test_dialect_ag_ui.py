"""ag-ui: the events of a run."""

from typing import Any

from dialect_grammar import check_ag_ui

from dialect_support import (
    BUSY,
    CANCELLED,
    answered,
    arguments,
    asked,
    begun,
    dropped,
    ended,
    frame_data,
    log_of,
    spoken,
    text,
)
from heald.core.events import (
    FileChanged,
    FilePreview,
    InputJsonDelta,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
)
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald_server.protocols.ag_ui.dialect import AGUIDialect

RUN = {"threadId": "ses_1", "runId": "ex_1"}
CALL = ToolCall(id="call_1", name="weather", input={"city": "Oslo"})
RESULT = ToolResult(id="call_1", status="ok", content="3 °C", name="weather")


def encoded(*payloads: Payload | list[Payload], dialect: AGUIDialect | None = None) -> list[Any]:
    frames = spoken(dialect or AGUIDialect(), log_of(*payloads))
    check_ag_ui(frames)
    return frame_data(frames)


def test_the_documented_sequence() -> None:
    thinking = [ThinkingContentBlockStart(0, "t"), ThinkingDelta(0, "t", "Hm."), ThinkingContentBlockStop(0, "t")]
    streamed = arguments("call_1", "weather", '{"city":', '"Oslo"}')
    message = [begun(), *thinking, *text("Let me see."), *streamed, *ended("msg_1", "tool_use")]
    assert encoded(asked(), message, CALL, RESULT, answered()) == [
        {"type": "RUN_STARTED", **RUN, "protocolVersion": "1.0"},
        {"type": "STEP_STARTED", "stepName": "msg_1"},
        {"type": "REASONING_START", "messageId": "t"},
        {"type": "REASONING_MESSAGE_START", "messageId": "t", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "t", "delta": "Hm."},
        {"type": "REASONING_MESSAGE_END", "messageId": "t"},
        {"type": "REASONING_END", "messageId": "t"},
        {"type": "TEXT_MESSAGE_START", "messageId": "msg_1.0", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "msg_1.0", "delta": "Let me see."},
        {"type": "TEXT_MESSAGE_END", "messageId": "msg_1.0"},
        {
            "type": "TOOL_CALL_START",
            "toolCallId": "call_1",
            "toolCallName": "weather",
            "parentMessageId": "msg_1.0",
        },
        {"type": "TOOL_CALL_ARGS", "toolCallId": "call_1", "delta": '{"city":'},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "call_1", "delta": '"Oslo"}'},
        {"type": "TOOL_CALL_END", "toolCallId": "call_1"},
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": "call_1-result",
            "toolCallId": "call_1",
            "content": "3 °C",
            "role": "tool",
        },
        {"type": "STEP_FINISHED", "stepName": "msg_1"},
        {
            "type": "RUN_FINISHED",
            **RUN,
            "outcome": {"type": "success"},
            "result": {"status": "completed", "stopReason": "end_turn", "costUsd": 0.001},
            "usage": [{"inputTokens": 10, "outputTokens": 7, "totalTokens": 17, "reasoningTokens": 2}],
        },
    ]


def test_times_are_whole_milliseconds() -> None:
    (frame,) = AGUIDialect().feed(log_of(asked())[0])
    assert isinstance(frame.data, dict)
    assert frame.data["timestamp"] == 1_000_100


def test_a_call_that_no_model_streamed() -> None:
    kinds = [event["type"] for event in encoded(asked(), CALL, RESULT, answered())]
    assert kinds[1:5] == ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"]


def test_the_files_are_the_shared_state() -> None:
    before = FileChanged("old.txt", 3, "h3", "h2", "call_0", 9)
    changes = [
        FileChanged("index.html", 1, "h1", None, "call_1", 6),
        FileChanged("a~b/c.md", 1, "h4", None, "call_1", 7),
        FileChanged("old.txt", 4, None, "h3", "call_1"),
        FileChanged("never.txt", 2, None, "h9", "call_1"),
    ]
    page = {"revision": 1, "hash": "h1", "size": 6}
    dialect = AGUIDialect(files=[before])
    states = [event for event in encoded(asked(), [*changes], answered(), dialect=dialect) if "STATE" in event["type"]]
    assert states == [
        {
            "type": "STATE_SNAPSHOT",
            "snapshot": {"files": {"old.txt": {"revision": 3, "hash": "h3", "size": 9}, "index.html": page}},
        },
        {
            "type": "STATE_DELTA",
            "delta": [
                {
                    "op": "add",
                    "path": "/files/a~0b~1c.md",
                    "value": {"revision": 1, "hash": "h4", "size": 7},
                }
            ],
        },
        {"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/files/old.txt"}]},
    ]


def test_a_dropped_attempt_is_closed_answered_and_named() -> None:
    partial = [
        begun(),
        TextContentBlockStart(0, "msg_1.0"),
        TextDelta(0, "msg_1.0", "Hel"),
        ToolUseContentBlockStart(1, "msg_1.1", "call_1", "weather"),
        InputJsonDelta(1, "msg_1.1", '{"ci'),
        FilePreview("call_1", "index.html", 0, "<"),
    ]
    again = [begun("msg_2", 2), *arguments("call_1", "weather", "{}", block="msg_2.0"), *ended("msg_2")]
    events = encoded(asked(), partial, dropped(), again, CALL, RESULT, answered())
    at = next(number for number, event in enumerate(events) if event["type"] == "TEXT_MESSAGE_END")
    assert [event["type"] for event in events[at : at + 6]] == [
        "TEXT_MESSAGE_END",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "CUSTOM",
        "STEP_FINISHED",
        "STEP_STARTED",
    ]
    assert events[at + 3]["value"] == {"messageId": "msg_1", "messageIds": ["msg_1.0"]}
    starts = [event for event in events if event["type"] == "TOOL_CALL_START"]
    assert [(event["toolCallId"], event["parentMessageId"]) for event in starts] == [
        ("call_1", "msg_1.0"),
        ("call_1.2", "msg_2"),
    ]


def test_how_it_ends_otherwise() -> None:
    assert encoded(asked(), answered("failed", "error", BUSY))[-1] == {
        "type": "RUN_ERROR",
        "message": "The provider is overloaded.",
        "code": "overloaded",
    }
    cancelled = encoded(asked(), begun(), text("Hel"), dropped(error=CANCELLED), answered("cancelled"))
    assert cancelled[-1]["outcome"] == {"type": "cancelled"}
    assert not any(event["type"] == "CUSTOM" for event in cancelled)
    assert encoded(asked(), answered("limit"))[-1]["result"]["status"] == "limit"
    assert encoded(asked(), begun(), TextContentBlockStart(0, "b"))[-1]["code"] == "incomplete"
