"""OpenAI Chat Completions, as a server streams it."""

import re
from collections.abc import Sequence

from benchmarks.scenarios import Call
from benchmarks.streams.stream import Json, Stream, data, obfuscation

_RESULT = re.compile(rb'"role":\s*"tool"')
_DONE = b"data: [DONE]\n\n"


def text(model: str, deltas: Sequence[str]) -> Stream:
    return Stream(
        opening=(_delta(model, {"role": "assistant", "content": "", "refusal": None}, ""),),
        deltas=tuple(_delta(model, {"content": piece}, piece) for piece in deltas),
        closing=_closing(model, "stop", len(deltas)),
    )


def calls(model: str, calls: Sequence[Call]) -> Stream:
    message: Json = {"role": "assistant", "content": None, "tool_calls": [_start(0, calls[0])], "refusal": None}
    deltas = [_delta(model, message, "")]
    for index, call in enumerate(calls):
        if index:
            deltas.append(_delta(model, {"tool_calls": [_start(index, call)]}, ""))
        deltas += [
            _delta(model, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, piece)
            for piece in call.deltas
        ]
    return Stream(
        opening=(deltas[0],), deltas=tuple(deltas[1:]), closing=_closing(model, "tool_calls", len(deltas) - 1)
    )


def _start(index: int, call: Call) -> Json:
    return {
        "index": index,
        "id": f"call_bench{call.number:019d}",
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }


def results(body: bytes, start: int = 0) -> int:
    return len(_RESULT.findall(body, start))


def _delta(model: str, delta: Json, piece: str) -> bytes:
    choice: Json = {"index": 0, "delta": delta, "finish_reason": None}
    return data(_chunk(model, [choice]) | {"usage": None, "obfuscation": obfuscation(piece)})


def _closing(model: str, finish_reason: str, tokens: int) -> tuple[bytes, ...]:
    choice: Json = {"index": 0, "delta": {}, "finish_reason": finish_reason}
    usage = {
        "prompt_tokens": 145,
        "completion_tokens": tokens,
        "total_tokens": 145 + tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
    return (
        data(_chunk(model, [choice]) | {"usage": None, "obfuscation": obfuscation("")}),
        data(_chunk(model, []) | {"usage": usage, "obfuscation": obfuscation("usage")}),
        _DONE,
    )


def _chunk(model: str, choices: list[Json]) -> Json:
    return {
        "id": "chatcmpl-DuLdoBench0000000000000000000",
        "object": "chat.completion.chunk",
        "created": 1782321928,
        "model": model,
        "service_tier": "default",
        "system_fingerprint": "fp_bench00000",
        "choices": choices,
    }
