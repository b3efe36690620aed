"""R13: native content goes back exactly to where it came from, and to nobody else."""

from typing import Any

import pytest
from wire_histories import calls_and_results
from wire_samples import SAMPLES
from wire_streams import decode

from heald.core.json import JsonObject, encode
from heald.core.messages import Message, ToolResult, decode_messages, tool_results, user_message
from heald.wires.registry import WIRES
from heald.wires.request import Quirks, TurnRequest

EVERY_WIRE = pytest.mark.parametrize("wire", list(SAMPLES))
OPAQUE = "c2ln"


def conversation(wire: str) -> list[Message]:
    answer = decode(wire, *SAMPLES[wire], provider="p", model="m").message
    results = [ToolResult(id=call.id, status="ok", content=call.name) for call in answer.tool_calls]
    return [user_message("go"), answer, tool_results(results)]


def build_request(wire: str, history: list[Message], provider: str = "p", model: str = "m") -> JsonObject:
    return WIRES[wire].build_request(TurnRequest(model=model, messages=history, provider=provider))


def assistant_part(wire: str, body: JsonObject) -> Any:
    """What of a request stands for the assistant's message."""
    if wire == "responses":
        return [item for item in body["input"] if item.get("role") != "user" and "output" not in item]
    if wire == "gemini":
        return body["contents"][1]["parts"]
    message = body["messages"][1]
    return message["content"] if wire == "messages" else message


@EVERY_WIRE
def test_its_own_provider_gets_the_message_back_exactly(wire: str) -> None:
    history = conversation(wire)
    native = history[1].native
    assert native is not None
    assert (native.wire, native.provider, native.model) == (wire, "p", "m")
    expected = native.content
    if wire == "responses":  # its reasoning is not encrypted here: it cannot be taken back
        expected = [{k: v for k, v in item.items() if k != "id"} for item in expected if item["type"] != "reasoning"]
    assert assistant_part(wire, build_request(wire, history)) == expected


@EVERY_WIRE
def test_a_stored_conversation_goes_back_with_the_same_bytes(wire: str) -> None:
    """G12."""
    history = conversation(wire)
    assert encode(build_request(wire, decode_messages(encode(history)))) == encode(build_request(wire, history))


@EVERY_WIRE
@pytest.mark.parametrize(("provider", "model"), [("other", "m"), ("p", "other")])
def test_another_provider_or_model_gets_the_neutral_form(wire: str, provider: str, model: str) -> None:
    body = str(build_request(wire, conversation(wire), provider, model))
    assert OPAQUE not in body
    assert "hm, ü" not in body
    assert "Let me look \U0001f600" in body


@pytest.mark.parametrize("origin", list(SAMPLES))
@pytest.mark.parametrize("target", list(SAMPLES))
def test_every_history_converts_for_every_wire(origin: str, target: str) -> None:
    body = build_request(target, conversation(origin))
    sent = calls_and_results(target, body)
    calls = [name for kind, name in sent if kind == "call"]
    assert len(calls) == 2
    assert calls == [name for kind, name in sent if kind == "result"]
    if origin != target:
        assert OPAQUE not in str(body)


def test_reasoning_of_a_chat_server_is_left_out_where_it_is_not_wanted() -> None:
    history = conversation("chat")
    request = TurnRequest(model="m", messages=history, provider="p", quirks=Quirks(reasoning_echo="none"))
    assert "reasoning_content" not in WIRES["chat"].build_request(request)["messages"][1]
    assert build_request("chat", history)["messages"][1]["reasoning_content"] == "hm, ü"


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_an_id_that_repeats_in_a_later_turn_is_distinguished(wire: str) -> None:
    """T11: the second turn uses the ids of the first."""
    first = conversation(wire)
    used_ids = {call.id for call in first[1].tool_calls}
    again = decode(wire, *SAMPLES[wire], provider="p", model="m", used_ids=used_ids).message
    results = [ToolResult(id=call.id, status="ok", content="again") for call in again.tool_calls]
    sent = calls_and_results(wire, build_request(wire, [*first, again, tool_results(results)]))
    calls = [name for kind, name in sent if kind == "call"]
    assert calls[:2] == ["c1", "c2"]
    assert len(set(calls)) == 4
    assert calls == [name for kind, name in sent if kind == "result"]


@EVERY_WIRE
def test_a_cut_answer_goes_back_with_a_result_for_each_call(wire: str) -> None:
    answer = decode(wire, *SAMPLES[wire], provider="p", model="m", max_output_tokens=5).message
    sent = calls_and_results(wire, build_request(wire, [user_message("go"), answer]))
    assert len([kind for kind, _ in sent if kind == "result"]) == 2


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_the_legacy_wrapper_can_go_back(wire: str) -> None:
    wrapped = '{"tool_uses": [{"recipient_name": "functions.f", "parameters": {}}, {"recipient_name": "g"}]}'
    name = "multi_tool_use.parallel"
    call: JsonObject = {"id": "c", "type": "function_call", "call_id": "c", "name": name, "arguments": wrapped}
    function = {"index": 0, "id": "c", "function": {"name": name, "arguments": wrapped}}
    streams: dict[str, list[Any]] = {
        "chat": [{"choices": [{"delta": {"tool_calls": [function]}, "finish_reason": "tool_calls"}]}],
        "responses": [{"type": "response.completed", "response": {"status": "completed", "output": [call]}}],
    }
    answer = decode(wire, *streams[wire], provider="p", model="m").message
    sent = calls_and_results(wire, build_request(wire, [user_message("go"), answer]))
    calls = [name for kind, name in sent if kind == "call"]
    assert len(calls) == 2
    assert calls == [name for kind, name in sent if kind == "result"]
