"""Anthropic Messages, as a server streams it."""

from collections.abc import Sequence

from benchmarks.scenarios import Call
from benchmarks.streams.stream import Json, Stream, named

_RESULT = b'"tool_result"'
_PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def text(model: str, deltas: Sequence[str]) -> Stream:
    return Stream(
        opening=(_start(model), _block(0, {"type": "text", "text": ""}), _PING),
        deltas=tuple(_delta(0, {"type": "text_delta", "text": piece}) for piece in deltas),
        closing=_closing("end_turn", len(deltas)),
    )


def calls(model: str, calls: Sequence[Call]) -> Stream:
    events: list[bytes] = []
    for index, call in enumerate(calls):
        block: Json = {
            "type": "tool_use",
            "id": f"toolu_01Bench{call.number:017d}",
            "name": call.name,
            "input": {},
            "caller": {"type": "direct"},
        }
        events += [_stop(index - 1), _block(index, block)] if index else [_block(index, block), _PING]
        events += [_delta(index, {"type": "input_json_delta", "partial_json": piece}) for piece in ("", *call.deltas)]
    return Stream(
        opening=(_start(model), *events[:2]),
        deltas=tuple(events[2:]),
        closing=_closing("tool_use", len(events) - 2, len(calls) - 1),
    )


def results(body: bytes, start: int = 0) -> int:
    return body.count(_RESULT, start)


def _start(model: str) -> bytes:
    usage = {
        "input_tokens": 466,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1,
        "service_tier": "standard",
        "inference_geo": "global",
    }
    message: Json = {
        "model": model,
        "id": "msg_011Cd146n3LLB7sNnsoBench",
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": usage,
    }
    return named({"type": "message_start", "message": message})


def _block(index: int, block: Json) -> bytes:
    return named({"type": "content_block_start", "index": index, "content_block": block})


def _delta(index: int, delta: Json) -> bytes:
    return named({"type": "content_block_delta", "index": index, "delta": delta})


def _stop(index: int) -> bytes:
    return named({"type": "content_block_stop", "index": index})


def _closing(stop_reason: str, tokens: int, index: int = 0) -> tuple[bytes, ...]:
    usage = {
        "input_tokens": 466,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": tokens,
        "output_tokens_details": {"thinking_tokens": 0},
    }
    delta = {"stop_reason": stop_reason, "stop_sequence": None, "stop_details": None}
    return (
        _stop(index),
        named({"type": "message_delta", "delta": delta, "usage": usage}),
        named({"type": "message_stop"}),
    )
