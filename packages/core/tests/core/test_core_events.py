import json
import subprocess
import sys
from typing import Any

import pytest
from core_values import event, payload_kinds, payloads_of, texts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heald.core.envelope import PAYLOADS, decode_event
from heald.core.events import ConversationStart, TextDelta, Unknown
from heald.core.json import encode
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload

STREAM = [
    "message_start",
    "text_content_block_start",
    "text_delta",
    "text_content_block_stop",
    "thinking_content_block_start",
    "thinking_delta",
    "thinking_content_block_stop",
    "tool_use_content_block_start",
    "input_json_delta",
    "tool_use_content_block_stop",
    "message_delta",
    "message_stop",
    "message_discarded",
    "tool_call",
    "tool_output_delta",
    "tool_result",
    "file_preview",
    "file_preview_reset",
    "server_tool_call",
    "server_tool_result",
    "citation_added",
]
STATE = [
    "agent_changed",
    "conversation_queued",
    "conversation_dequeued",
    "conversation_start",
    "conversation_thinking",
    "conversation_responding",
    "conversation_end",
    "conversation_interrupted",
    "tool_planned",
    "tool_executing",
    "tool_completed",
    "tool_failed",
    "approval_requested",
    "approval_resolved",
    "question_asked",
    "question_answered",
    "client_tool_requested",
    "conversation_waiting",
    "response_requested",
    "file_changed",
    "file_accepted",
    "retry_scheduled",
    "cancel_requested",
    "error_occurred",
    "session_resumed",
    "session_rewound",
    "session_forked",
    "conversation_steered",
    "session_released",
    "conversation_compacted",
    "conversation_restored",
    "request_withdrawn",
    "prompt_progress",
]
MESSAGE = ["user_message", "assistant_message", "tool_use_message", "error_message"]
EXCHANGE = ["exchange_request", "exchange_response"]


@pytest.mark.parametrize(
    ("layer", "names"), [("stream", STREAM), ("state", STATE), ("message", MESSAGE), ("exchange", EXCHANGE)]
)
def test_every_event_of_the_design_exists_in_its_layer(layer: str, names: list[str]) -> None:
    assert sorted(name for name, kind in PAYLOADS.items() if kind.layer == layer) == sorted(names)


@pytest.mark.parametrize(("name", "kind"), payload_kinds)
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_payload_survives_encoding(name: str, kind: type[Payload], data: st.DataObject) -> None:
    written = event(data.draw(payloads_of(kind)))
    assert written.type == name
    assert decode_event(encode(written)) == written


def test_an_event_is_one_flat_envelope() -> None:
    assert json.loads(encode(event(TextDelta(2, "msg.2", "hi")))) == {
        "seq": 7,
        "id": "evt_7",
        "session": "ses_1",
        "exchange": "exc_1",
        "type": "text_delta",
        "layer": "stream",
        "time": 1700000000.25,
        "epoch": 3,
        "data": {"index": 2, "block": "msg.2", "text": "hi"},
    }


def test_calls_and_results_are_their_own_payloads() -> None:
    call = ToolCall(id="c", name="f", input={})
    assert (call.type, call.layer) == ("tool_call", "stream")
    assert (ToolResult.type, ToolResult.layer) == ("tool_result", "stream")
    assert decode_event(encode(event(call))).data == call


def _as_object(data: Payload) -> dict[str, Any]:
    return json.loads(encode(event(data)))


def test_an_event_outside_of_an_exchange_keeps_its_none() -> None:
    raw = _as_object(ConversationStart()) | {"exchange": None}
    assert decode_event(json.dumps(raw)).exchange is None


def test_unknown_fields_are_ignored_in_envelope_and_payload() -> None:
    raw = _as_object(TextDelta(0, "b", "x"))
    raw["from_the_future"] = {"a": [1]}
    raw["data"]["also_new"] = True
    assert decode_event(json.dumps(raw)) == event(TextDelta(0, "b", "x"))


@given(value=st.dictionaries(texts, st.integers() | texts, max_size=3))
def test_an_unknown_type_is_kept_as_it_came(value: dict[str, Any]) -> None:
    raw = _as_object(ConversationStart()) | {"type": "invented_later", "layer": "state", "data": value}
    read = decode_event(json.dumps(raw))
    assert (read.type, read.layer) == ("invented_later", "state")
    assert read.data == Unknown(value)


@pytest.mark.parametrize("module", ["server_tool_events", "context_events"])
def test_the_order_does_not_depend_on_the_module_that_is_imported_first(module: str) -> None:
    code = f"import heald.core.{module}; from heald.core.envelope import PAYLOADS; print(*PAYLOADS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(PAYLOADS)


def test_unknown_is_no_type_of_its_own() -> None:
    assert "unknown" not in PAYLOADS
    assert Unknown not in PAYLOADS.values()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b'{"seq": 1}',
        b'{"seq":"1","id":"","session":"","exchange":null,"type":"x","layer":"state","time":0,"epoch":0,"data":{}}',
        b'{"seq":1,"id":"","session":"","exchange":null,"type":"text_delta","layer":"state","time":0,"epoch":0,"data":1}',
    ],
)
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        decode_event(line)


@pytest.mark.parametrize("text", ["\ud83d", "a\ude00b", "\ude00\ud83d", "fine \U0001f600, then \ud83d"])
def test_half_a_surrogate_pair_survives_the_log(text: str) -> None:
    """F06: it is stored escaped, and what was stored can be read."""
    written = event(TextDelta(0, "b", text))
    assert decode_event(encode(written)) == written
