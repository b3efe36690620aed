"""A past conversation in the words of each wire, as a client without a form of its own keeps it."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from benchmarks.content import to_json
from benchmarks.earlier_exchanges import EarlierExchange
from benchmarks.scenarios import Wire

Items = list[dict[str, Any]]


def native(wire: Wire, past: Sequence[EarlierExchange]) -> Items:
    """The messages, items or contents of a past, ready to stand before the prompt."""
    return list(chain.from_iterable(map(_WRITE[wire], past)))


def _chat(exchange: EarlierExchange) -> Items:
    function = {"name": "add", "arguments": to_json(exchange.arguments)}
    return [
        {"role": "user", "content": exchange.question},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": exchange.call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": exchange.call_id, "content": exchange.result},
        {"role": "assistant", "content": exchange.answer},
    ]


def _responses(exchange: EarlierExchange) -> Items:
    return [
        {"role": "user", "content": exchange.question},
        {
            "type": "function_call",
            "call_id": exchange.call_id,
            "name": "add",
            "arguments": to_json(exchange.arguments),
        },
        {"type": "function_call_output", "call_id": exchange.call_id, "output": exchange.result},
        {"role": "assistant", "content": exchange.answer},
    ]


def _messages(exchange: EarlierExchange) -> Items:
    call = {"type": "tool_use", "id": exchange.call_id, "name": "add", "input": exchange.arguments}
    result = {"type": "tool_result", "tool_use_id": exchange.call_id, "content": exchange.result}
    return [
        {"role": "user", "content": exchange.question},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": exchange.answer}]},
    ]


def _gemini(exchange: EarlierExchange) -> Items:
    result = {"name": "add", "response": {"output": exchange.result}}
    return [
        {"role": "user", "parts": [{"text": exchange.question}]},
        {"role": "model", "parts": [{"functionCall": {"name": "add", "args": exchange.arguments}}]},
        {"role": "user", "parts": [{"functionResponse": result}]},
        {"role": "model", "parts": [{"text": exchange.answer}]},
    ]


_WRITE: dict[Wire, Callable[[EarlierExchange], Items]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
    "gemini": _gemini,
}
