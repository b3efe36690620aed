"""normalized: six events, as from any provider."""

from dialect_support import BUSY, answered, asked, begun, dropped, ended, log_of, objects, spoken, text
from heald.core.events import ThinkingContentBlockStart, ThinkingContentBlockStop, ThinkingDelta
from heald.core.json import JsonObject
from heald.core.messages import InvalidCall, ToolCall, ToolResult
from heald.core.payload import Payload
from heald_server.protocols.normalized.dialect import NormalizedDialect

USAGE = {"type": "usage", "inputTokens": 10, "outputTokens": 7, "cost": 0.001}


def events_of(*payloads: Payload | list[Payload]) -> list[JsonObject]:
    return objects(spoken(NormalizedDialect(), log_of(*payloads)))


def test_the_documented_sequence() -> None:
    thinking = [ThinkingContentBlockStart(0, "b"), ThinkingDelta(0, "b", "Hm."), ThinkingContentBlockStop(0, "b")]
    call = ToolCall(id="call_1", name="weather", input={"city": "Oslo"})
    result = ToolResult(id="call_1", status="ok", content="3 °C")
    assert events_of(asked(), begun(), [*thinking], text("Let me see."), ended(), call, result, answered()) == [
        {"type": "reasoning", "text": "Hm."},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_call", "id": "call_1", "name": "weather", "args": '{"city":"Oslo"}'},
        USAGE,
        {"type": "end"},
    ]


def test_arguments_that_are_no_json_come_as_they_are() -> None:
    call = ToolCall(id="call_1", name="look", input={}, invalid=InvalidCall("malformed", "No JSON.", '{"a'))
    assert events_of(asked(), call, answered())[0]["args"] == '{"a'


def test_a_dropped_attempt_begins_anew() -> None:
    said = events_of(asked(), begun(), text("Hel"), dropped(), begun("msg_2", 2), text("Hello."), ended(), answered())
    assert said[:3] == [
        {"type": "text", "text": "Hel"},
        {"type": "text", "text": "\n\n", "reset": 3},
        {"type": "text", "text": "Hello."},
    ]


def test_how_it_ends_otherwise() -> None:
    assert events_of(asked(), answered("failed", "error", BUSY)) == [
        USAGE,
        {"type": "error", "error": "overloaded", "message": "The provider is overloaded."},
        {"type": "end", "status": "failed"},
    ]
    assert events_of(asked(), answered("cancelled"))[1:] == [
        {"type": "error", "error": "cancelled", "message": "The request was cancelled."},
        {"type": "end", "status": "cancelled"},
    ]
    assert events_of(asked(), answered("limit")) == [USAGE, {"type": "end", "status": "limit"}]
    assert [event["type"] for event in events_of(asked(), begun(), text("Hel"))] == ["text", "error", "end"]
