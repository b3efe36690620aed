"""What `wire_stream` writes, each wire's own decoder reads as it was said."""

import pytest

from heald.core.messages import Reasoning, ToolCall
from heald.core.turn import StopReason, Usage
from heald.testing.streams import wire_reply, wire_stream
from heald.wires.decoder import Decoder
from heald.wires.registry import WIRES

CALLS = [
    ToolCall(id="call_a", name="read_file", input={"path": "a.py"}),
    ToolCall(id="call_b", name="now", input={}),
]


def decode(wire: str, pieces: list[bytes]) -> Decoder:
    decoder = WIRES[wire].decoder()
    for piece in pieces:
        decoder.feed(piece)
    decoder.close()
    return decoder


@pytest.mark.parametrize("wire", WIRES)
def test_everything_sent_is_read(wire: str) -> None:
    decoder = decode(wire, wire_stream(wire, text=["Let me ", "look."], thinking=["Hm", "m."], calls=CALLS))
    assert decoder.error is None
    assert decoder.message is not None
    assert decoder.message.text == "Let me look."
    assert [b.text for b in decoder.message.content if isinstance(b, Reasoning)] == ["Hmm."]
    assert [(call.id, call.name, call.input) for call in decoder.message.tool_calls] == [
        ("call_a", "read_file", {"path": "a.py"}),
        ("call_b", "now", {}),
    ]
    assert decoder.stop_reason == "tool_use"
    assert decoder.usage == Usage(input=11, output=7)
    assert decoder.ignored_count == 0


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stop", ["end_turn", "max_tokens"])
def test_stop_reasons_in_each_wires_words(wire: str, stop: StopReason) -> None:
    decoder = decode(wire, wire_stream(wire, text="Hi", stop=stop))
    assert decoder.stop_reason == stop


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_a_refusal(wire: str) -> None:
    decoder = decode(wire, wire_stream(wire, text="I cannot help with that.", stop="refusal"))
    assert decoder.stop_reason == "refusal"


@pytest.mark.parametrize("wire", WIRES)
def test_no_usage_is_unknown_not_zero(wire: str) -> None:
    assert decode(wire, wire_stream(wire, text="Hi", usage=None)).usage == Usage()


@pytest.mark.parametrize("wire", WIRES)
def test_a_text_is_one_delta_and_a_list_is_many(wire: str) -> None:
    assert len(wire_stream(wire, text=["a", "b", "c"])) == len(wire_stream(wire, text="abc")) + 2


def test_a_reply_has_the_content_type_of_its_wire() -> None:
    assert wire_reply("ollama", text="Hi").content_type == "application/x-ndjson"
    assert wire_reply("chat", text="Hi").content_type == "text/event-stream"
