"""Calls of a server's own tools go back as the API wants them: containers and ids are kept."""

from typing import Any

from heald.core.messages import Message, Native, Text, ToolResult, user_message
from heald.wires.messages import MessagesDecoder
from heald.wires.messages_request import build_request as build_messages
from heald.wires.request import TurnRequest
from heald.wires.responses_request import build_request as build_responses

CALLER = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}


def _decode(caller: dict[str, Any]) -> Message:
    from heald.testing.streams import sse_event

    block = {"type": "tool_use", "id": "toolu_1", "name": "query", "input": {}, "caller": caller}
    end = {"stop_reason": "tool_use", "container": {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}}
    events = [
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    decoder = MessagesDecoder(provider="anthropic", model="claude")
    decoder.feed(b"".join(sse_event(event) for event in events))
    decoder.close()
    assert decoder.message is not None
    return decoder.message


def _next_request(answer: Message) -> dict[str, Any]:
    result = Message(role="tool", content=[ToolResult(id="toolu_1", name="query", status="ok", content="rows")])
    history = [user_message("Go."), answer, result]
    return build_messages(TurnRequest(model="claude", provider="anthropic", messages=history))


def test_a_programmatic_call_goes_back_with_its_container() -> None:
    request = _next_request(_decode(CALLER))
    assert request["container"] == "container_1"
    (call,) = request["messages"][1]["content"]
    assert (call["type"], call["id"], call["caller"]) == ("tool_use", "toolu_1", CALLER)


def test_a_direct_call_names_no_container() -> None:
    assert "container" not in _next_request(_decode({"type": "direct"}))


def test_a_code_interpreter_call_keeps_its_id() -> None:
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1+1", "container_id": "cntr_1", "status": "completed"},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "2"}]},
    ]
    native = Native(wire="responses", provider="openai", model="gpt-5", content=items)
    answer = Message(role="assistant", content=[Text("2")], native=native)
    history = [user_message("1+1?"), answer, user_message("And?")]
    sent = build_responses(TurnRequest(model="gpt-5", provider="openai", messages=history))["input"]
    assert [item.get("id") for item in sent[1:3]] == ["ci_1", None]
