"""Anthropic Messages, as a server streams it."""

from collections.abc import Sequence

from benchmarks.scenarios import Call
from benchmarks.streams.stream import Json, Stream, named

_RESULT = b'"tool_result"'
_PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def text(model: str, deltas: Sequence[str]) -> Stream:
    return Stream(
        opening=(_start(model), _block({"type": "text", "text": ""}), _PING),
        deltas=tuple(_delta({"type": "text_delta", "text": piece}) for piece in deltas),
        closing=_closing("end_turn", len(deltas)),
    )


def call(model: str, call: Call) -> Stream:
    block: Json = {
        "type": "tool_use",
        "id": f"toolu_01Bench{call.number:017d}",
        "name": call.name,
        "input": {},
        "caller": {"type": "direct"},
    }
    pieces = ("", *call.deltas)
    return Stream(
        opening=(_start(model), _block(block), _PING),
        deltas=tuple(_delta({"type": "input_json_delta", "partial_json": piece}) for piece in pieces),
        closing=_closing("tool_use", len(pieces)),
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


def _block(block: Json) -> bytes:
    return named({"type": "content_block_start", "index": 0, "content_block": block})


def _delta(delta: Json) -> bytes:
    return named({"type": "content_block_delta", "index": 0, "delta": delta})


def _closing(stop_reason: str, tokens: int) -> tuple[bytes, ...]:
    usage = {
        "input_tokens": 466,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": tokens,
        "output_tokens_details": {"thinking_tokens": 0},
    }
    delta = {"stop_reason": stop_reason, "stop_sequence": None, "stop_details": None}
    return (
        named({"type": "content_block_stop", "index": 0}),
        named({"type": "message_delta", "delta": delta, "usage": usage}),
        named({"type": "message_stop"}),
    )
