"""Dialects of requests and responses: a response ends where the exchange waits, and the next one continues it."""

from typing import Any

import pytest

from dialect_support import answered, asked, begun, ended, log_of, objects, text
from heald.core.events import ApprovalRequested, ApprovalResolved, ClientToolRequested, ToolExecuting
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.protocols.ag_ui.dialect import AGUIDialect
from heald_server.protocols.ai_sdk.dialect import AISDKDialect
from heald_server.protocols.openai.dialect import OpenAIDialect

OPENED: list[Payload] = [asked(), begun(), *text("Let me see."), *ended(stop="tool_use")]
CALLS: list[Payload] = [
    ToolCall(id="call_1", name="launch", input={"what": "rocket"}),
    ToolCall(id="call_2", name="locate", input={"of": "me"}),
]
ASKED: list[Payload] = [
    ApprovalRequested("appr_1", "call_1", "launch", "digest", "Launch a rocket"),
    ToolExecuting("call_2", "locate", 1),
    ClientToolRequested("call_2", "locate", {"of": "me"}, 600.0),
]
RESOLVED: list[Payload] = [
    ApprovalResolved("appr_1", "call_1", "allowed"),
    ToolExecuting("call_1", "launch", 1),
    ToolResult(id="call_1", status="ok", content="launched", name="launch"),
    ToolResult(id="call_2", status="ok", content="Bergen", name="locate"),
]
ENDED: list[Payload] = [begun("msg_2"), *text("Done.", block="msg_2.0"), *ended("msg_2"), answered()]


def _play(dialect: ExchangeDialect, *payloads: list[Payload]) -> tuple[list[Any], list[Any], list[Any]]:
    """The frames before the pause, of the pause, and of the response after it."""
    events = log_of(*payloads)
    waits: list[int] = []
    before: list[Any] = []
    paused: list[Any] = []
    for number, event in enumerate(events):
        before += objects(dialect.feed(event))
        if dialect.is_waiting:
            waits.append(number)
            paused = objects([frame for frame in dialect.pause() if isinstance(frame.data, dict)])
            break
    (number,) = waits
    after = objects(dialect.resume())
    for event in events[number + 1 :]:
        after += objects(dialect.feed(event))
    return before, paused, after


@pytest.mark.parametrize("kind", [AISDKDialect, AGUIDialect, OpenAIDialect])
def test_a_dialect_waits_only_while_every_open_call_does(kind: type[ExchangeDialect]) -> None:
    dialect = kind()
    payloads = [*OPENED, *CALLS, *ASKED, *RESOLVED, *ENDED]
    waits: list[str] = []
    for event in log_of(payloads):
        dialect.feed(event)
        if dialect.is_waiting:
            waits.append(event.type)
    expected = ["tool_result"] if kind is OpenAIDialect else ["client_tool_requested", "tool_result"]
    assert waits == expected  # after the first result only the call of the client is open


def test_ai_sdk_continues_the_same_message() -> None:
    before, paused, after = _play(AISDKDialect(), OPENED, CALLS, ASKED, RESOLVED, ENDED)
    assert paused == [{"type": "finish-step"}, {"type": "finish", "finishReason": "tool-calls"}]
    assert after[0] == before[0] == {"type": "start", "messageId": "ex_1"}
    assert [chunk["type"] for chunk in after[1:4]] == ["tool-output-available", "start-step", "text-start"]
    assert "call_2" not in str(after)  # the page has the result of its own tool


def test_ag_ui_ends_the_run_with_interrupts_or_with_pending_calls() -> None:
    _, paused, after = _play(AGUIDialect(run="run_1"), OPENED, CALLS, ASKED, RESOLVED, ENDED)
    outcome = paused[-1]["outcome"]
    assert outcome["type"] == "interrupt"
    assert [(interrupt["id"], interrupt["toolCallId"]) for interrupt in outcome["interrupts"]] == [("appr_1", "call_1")]
    assert after[0]["type"] == "RUN_STARTED"
    assert [event["toolCallId"] for event in after if event["type"] == "TOOL_CALL_RESULT"] == ["call_1"]
    assert after[-1]["usage"] == [{"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}]
    _, paused, _ = _play(AGUIDialect(), OPENED, CALLS[1:], ASKED[1:], RESOLVED[3:], ENDED)
    assert paused[-1]["outcome"] == {"type": "success", "pendingToolCallIds": ["call_2"]}


def test_openai_returns_the_calls_of_the_client() -> None:
    _, paused, after = _play(OpenAIDialect(usage=True), OPENED, CALLS[1:], ASKED[1:], RESOLVED[3:], ENDED)
    function = {"name": "locate", "arguments": '{"of":"me"}'}
    expected = {"index": 0, "id": "call_1_10", "type": "function", "function": function}
    assert paused[0]["choices"][0]["delta"] == {"tool_calls": [expected]}
    assert paused[1]["choices"][0]["finish_reason"] == "tool_calls"
    assert paused[2]["usage"]["total_tokens"] == 15
    assert [chunk["choices"][0]["delta"] for chunk in after[:2]] == [
        {"role": "assistant", "content": ""},
        {"content": "Done."},
    ]


def test_openai_without_anybody_to_ask_ends_with_an_error() -> None:
    dialect = OpenAIDialect(unattended=True)
    frames = [frame for event in log_of(OPENED, CALLS, ASKED[:1]) for frame in dialect.feed(event)]
    (error,) = [chunk["error"] for chunk in objects(frames) if "error" in chunk]
    assert (error["type"], error["code"]) == ("permission_error", "approval_needed")
    assert dialect.is_waiting
    assert [frame.data for frame in dialect.pause()] == ["[DONE]"]


def test_openai_holds_back_all_texts_but_the_last() -> None:
    dialect = OpenAIDialect(final_only=True, resumable=False)
    frames = [frame for event in log_of(OPENED, ENDED) for frame in dialect.feed(event)]
    said = [chunk["choices"][0]["delta"].get("content") for chunk in objects(frames)]
    assert said == ["", "Done.", None]
    assert not any(dialect.sse(frame).startswith(b"id:") for frame in frames)
