"""A response without an end is given up, on every wire, and nothing of it counts."""

from base64 import b64encode

import pytest

from heald.core.events import MessageDiscarded
from heald.testing.streams import amazon_event
from heald.wires import decoder
from heald.wires.registry import WIRES

PIECES = {
    "chat": b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n',
    "responses": b'data: {"type":"response.output_text.delta","item_id":"a","output_index":0,"delta":"word "}\n\n',
    "messages": b"event: ping\ndata: {}\n\n",
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"word "}]}}]}\n\n',
    "ollama": b'{"message":{"role":"assistant","content":"word "},"done":false}\n',
    "converse": amazon_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "word "}}),
    "bedrock-messages": amazon_event("chunk", {"bytes": b64encode(b'{"type":"ping"}').decode()}),
    "vertex-messages": b"event: ping\ndata: {}\n\n",
}


@pytest.mark.parametrize("wire", list(WIRES))
def test_an_endless_response(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder, "MAX_RESPONSE_BYTES", 100_000)
    reading = WIRES[wire].decoder("msg_1")
    fed = 0
    while not reading.done:
        reading.feed(PIECES[wire])
        fed += len(PIECES[wire])
        assert fed < 200_000
    last = reading.close()[-1]
    assert isinstance(last, MessageDiscarded)
    assert "has more than" in last.error.message
    assert not last.error.retryable
    assert reading.message is None
