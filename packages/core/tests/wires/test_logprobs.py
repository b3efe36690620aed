"""Log-probabilities of the tokens, on every wire that has them."""

import json
from typing import Any

import pytest

from heald.core.turn import TokenLogprob
from heald.testing.streams import sse_event
from heald.wires.registry import WIRES

TOP = [{"token": "Hi", "logprob": -0.5}, {"token": "Ho", "logprob": -2}]
ENTRY = {"token": "Hi", "logprob": -0.5, "top_logprobs": TOP}
EXPECTED = [TokenLogprob("Hi", -0.5, [TokenLogprob("Hi", -0.5), TokenLogprob("Ho", -2.0)])]
GEMINI = {
    "chosenCandidates": [{"token": "Hi", "logProbability": -0.5}],
    "topCandidates": [{"candidates": [{"token": "Hi", "logProbability": -0.5}, {"token": "Ho", "logProbability": -2}]}],
}
PART = {"type": "output_text", "text": "Hi", "annotations": [], "logprobs": [ENTRY]}
STREAMS: dict[str, list[Any]] = {
    "chat": [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}, "logprobs": {"content": [ENTRY]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "logprobs": None}]},
        "[DONE]",
    ],
    "responses": [
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi", "logprobs": [ENTRY]},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP", "logprobsResult": GEMINI}]}
    ],
    "ollama": [{"model": "m", "message": {"content": "Hi"}, "done": True, "logprobs": [ENTRY]}],
}


@pytest.mark.parametrize("wire", [name for name, wire in WIRES.items() if "logprobs" in wire.features])
@pytest.mark.parametrize("asked", [True, False])
def test_they_are_read_if_they_were_asked_for(wire: str, asked: bool) -> None:
    decoder = WIRES[wire].decoder("msg_1", model="m", logprobs=asked)
    for event in STREAMS[wire]:
        decoder.feed(json.dumps(event).encode() + b"\n" if wire == "ollama" else sse_event(event))
    decoder.close()
    assert decoder.message is not None
    assert decoder.message.text == "Hi"
    assert list(decoder.logprobs) == (EXPECTED if asked else [])


def test_an_answer_that_was_not_streamed() -> None:
    decoder = WIRES["responses"].decoder("msg_1", model="m", logprobs=True)
    output = [{"type": "message", "id": "i", "role": "assistant", "content": [PART]}]
    decoder.feed(json.dumps({"object": "response", "id": "r", "status": "completed", "output": output}).encode())
    decoder.close()
    assert decoder.logprobs == EXPECTED
