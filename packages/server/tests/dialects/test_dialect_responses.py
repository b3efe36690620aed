"""responses: the events of the Responses API."""

from typing import Any

from dialect_support import answered, asked, begun, dropped, ended, log_of, objects, spoken, text
from heald.core.errors import ErrorInfo
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    ClientToolRequested,
    InputJsonDelta,
    ToolExecuting,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.messages import Source, ToolCall, ToolResult
from heald.core.payload import Payload
from heald.core.server_tool_events import CitationAdded
from heald_server.protocols.responses.dialect import ResponsesDialect

LOCATE = {"type": "function", "name": "locate", "parameters": {"type": "object"}}
CALL: list[Payload] = [
    ToolUseContentBlockStart(1, "msg_1.1", "call_1", "locate"),
    InputJsonDelta(1, "msg_1.1", '{"of": '),
    InputJsonDelta(1, "msg_1.1", '"me"}'),
    ToolUseContentBlockStop(1, "msg_1.1", "call_1"),
]
MADE = ToolCall(id="call_1", name="locate", input={"of": "me"})


def _sent(dialect: ResponsesDialect, *payloads: Any) -> list[Any]:
    return objects([frame for event in log_of(*payloads) for frame in dialect.feed(event)])


def test_the_sequence_of_an_answer() -> None:
    dialect = ResponsesDialect("ses_1", response="resp_1_1", parameters={"model": "heald", "metadata": {"a": "b"}})
    frames = spoken(dialect, log_of(asked(), begun(), text("Hel", "lo."), ended(), answered()))
    assert [frame.event for frame in frames] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    first, *_, last = objects(frames)
    assert (first["response"]["status"], first["response"]["output"]) == ("in_progress", [])
    final = last["response"]
    assert (final["id"], final["model"], final["metadata"]) == ("resp_1_1", "heald", {"a": "b"})
    assert final["output"] == [
        {
            "id": "msg_1_3",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": [], "logprobs": []}],
        }
    ]
    assert final["usage"]["total_tokens"] == 17
    assert dialect.sse(frames[0]).startswith(b"event: response.created\ndata: {")


def test_a_call_ends_when_the_client_shall_run_it() -> None:
    dialect = ResponsesDialect("ses_1", parameters={"tools": [LOCATE]})
    sent = _sent(dialect, asked(), begun(), CALL, ended(stop="tool_use"), MADE)
    assert [event["type"] for event in sent[2:]] == [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.delta",
    ]
    request = ClientToolRequested("call_1", "locate", {"of": "me"}, 600.0)
    done = objects(dialect.feed(log_of(request, first=20)[0]))
    assert [event["type"] for event in done] == ["response.function_call_arguments.done", "response.output_item.done"]
    assert done[-1]["item"]["arguments"] == '{"of": "me"}'
    assert dialect.is_waiting
    (completed,) = objects(dialect.pause())
    assert [item["call_id"] for item in completed["response"]["output"]] == [
        "call_1_3"
    ]  # names the session and the event


def test_arguments_that_were_converted_are_sent_as_they_are_meant() -> None:
    dialect = ResponsesDialect("ses_1", parameters={"tools": [LOCATE]})
    request = ClientToolRequested("call_1", "locate", {"of": "you"}, 600.0)
    sent = _sent(dialect, asked(), begun(), CALL, ended(stop="tool_use"), MADE, request)
    assert sent[-1]["item"]["arguments"] == '{"of":"you"}'


def test_what_a_dropped_attempt_wrote_is_not_in_the_response() -> None:
    error = ErrorInfo(code="server_error", message="It broke.")
    dialect = ResponsesDialect("ses_1", parameters={"tools": [LOCATE]})
    second = [begun("msg_2"), *text("Whole.", block="msg_2.0"), *ended("msg_2"), answered()]
    sent = _sent(dialect, asked(), begun(), text("Half"), CALL, dropped("msg_1", error), second)
    (message,) = sent[-1]["response"]["output"]
    assert message["content"][0]["text"] == "Whole."
    calls = [event for event in sent if "function_call" in str(event.get("item", {}).get("type"))]
    assert [event["type"] for event in calls] == ["response.output_item.added"]  # a client never runs it


def test_an_approval_ends_a_response_and_its_call_is_in_the_next() -> None:
    dialect = ResponsesDialect("ses_1", tool_label="heald", approvals=True)
    call = ToolCall(id="call_1", name="launch", input={"what": "rocket"})
    asks = ApprovalRequested("appr_1", "call_1", "launch", "digest", "Launch a rocket")
    sent = _sent(dialect, asked(), begun(), ended(stop="tool_use"), call, asks)
    request = sent[-1]["item"]
    assert (request["type"], request["arguments"]) == ("mcp_approval_request", '{"what":"rocket"}')
    (completed,) = objects(dialect.pause())
    assert completed["response"]["output"] == [request]
    after = objects(dialect.resume())
    assert [event["sequence_number"] for event in after] == [0, 1]
    later = log_of(
        ApprovalResolved("appr_1", "call_1", "allowed"),
        ToolExecuting("call_1", "launch", 1),
        ToolResult(id="call_1", status="ok", content="launched", name="launch"),
        answered(),
        first=20,
    )
    sent = objects([frame for event in later for frame in dialect.feed(event)])
    (item,) = sent[-1]["response"]["output"]
    assert (item["type"], item["output"], item["approval_request_id"]) == ("mcp_call", "launched", request["id"])


def test_nobody_to_ask_is_a_failure() -> None:
    dialect = ResponsesDialect("ses_1", unattended=True)
    call = ToolCall(id="call_1", name="launch", input={})
    asks = ApprovalRequested("appr_1", "call_1", "launch", "digest", "Launch")
    sent = _sent(dialect, asked(), begun(), ended(stop="tool_use"), call, asks)
    assert sent[-1]["type"] == "response.failed"
    assert (dialect.is_waiting, dialect.refused is not None) == (True, True)
    assert dialect.pause() == []
    assert dialect.failure is not None
    assert dialect.failure.type == "permission_error"


def test_a_source_is_an_annotation_of_its_text() -> None:
    dialect = ResponsesDialect("ses_1")
    first, *rest = text("Snow.", block="msg_1.0")
    cites = CitationAdded("msg_1", "msg_1.0", Source("Weather", "https://example.org/oslo"))
    sent = _sent(dialect, asked(), begun(), first, rest[0], cites, rest[1:], ended(), answered())
    (added,) = [event for event in sent if event["type"] == "response.output_text.annotation.added"]
    (message,) = sent[-1]["response"]["output"]
    assert message["content"][0]["annotations"] == [added["annotation"]]
    assert (added["annotation"]["url"], added["annotation"]["end_index"]) == ("https://example.org/oslo", 5)


def test_only_the_last_text_of_an_answer_in_json() -> None:
    dialect = ResponsesDialect("ses_1", final_only=True)
    second = [begun("msg_2"), *text('{"a"', ": 1}", block="msg_2.0"), *ended("msg_2"), answered()]
    sent = _sent(dialect, asked(), begun(), text("Let me see."), ended(stop="tool_use"), second)
    (message,) = sent[-1]["response"]["output"]
    assert message["content"][0]["text"] == '{"a": 1}'
