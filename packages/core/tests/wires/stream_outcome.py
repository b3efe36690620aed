"""The whole outcome of a decoded stream as data, for the cases in `streams/`."""

import json

import pytest
from wire_streams import Decoded

from heald.core.json import JsonObject, encode


def outcome_of(decoded: Decoded) -> JsonObject:
    """Every payload behind the first, the finished message, and what the decoder reports beside them."""
    decoder = decoded.decoder
    message = decoder.message
    outcome: JsonObject = {
        "events": [{"type": event.type, **json.loads(encode(event))} for event in decoded.events[1:]],
        "content": None if message is None else json.loads(encode(message.content)),
        "native": None if message is None or message.native is None else json.loads(encode(message.native.content)),
        "response_id": decoder.response_id,
        "response_model": decoder.response_model,
        "ignored": decoder.ignored_count,
    }
    return {name: value for name, value in outcome.items() if value not in (None, 0)}


def number_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the random ids of calls by call_1, call_2 and so on."""
    numbers = iter(range(1, 1000))

    def new_id(prefix: str) -> str:
        return f"{prefix}_{next(numbers)}"

    monkeypatch.setattr("heald.wires.writer.new_id", new_id)
