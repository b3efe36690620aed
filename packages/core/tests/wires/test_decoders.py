"""What holds for the decoders of all wires, on the same message."""

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_samples import SAMPLES, TERMINAL
from wire_streams import Decoded, decode, decode_pieces, frame

from example_counts import scaled
from heald.core.errors import Stalled
from heald.core.events import MessageDiscarded, MessageStart
from heald.core.json import encode
from heald.core.payload import Payload
from heald.core.turn import Usage
from heald.wires.registry import WIRES

EVERY_WIRE = pytest.mark.parametrize("wire", list(SAMPLES))
NO_KEY = re.compile(rb"call_[0-9a-f]{20}")


def raw(wire: str) -> bytes:
    return b"".join(frame(wire, event) for event in SAMPLES[wire])


def comparable(events: list[Payload]) -> list[Any]:
    """Events as bytes, with ids that were made up on the way numbered."""
    made: dict[bytes, bytes] = {}
    return [
        (event.type, NO_KEY.sub(lambda match: made.setdefault(match[0], b"made_%d" % len(made)), encode(event)))
        for event in events
    ]


@EVERY_WIRE
def test_one_message_is_the_same_on_every_wire(wire: str) -> None:
    decoded = decode(wire, *SAMPLES[wire])
    assert decoded.thinking == "hm, ü"
    assert decoded.text == "Let me look \U0001f600"
    assert decoded.named == [("read", {"path": "ä"}), ("list", {"all": True})]
    assert decoded.stop == "tool_use"
    assert decoded.usage == Usage(input=10, output=5)
    assert decoded.decoder.ignored_count == 0
    assert len({call.id for call in decoded.calls}) == 2


@EVERY_WIRE
def test_cut_at_every_byte_the_events_are_the_same(wire: str) -> None:
    stream = raw(wire)
    whole = comparable(decode_pieces(wire, [stream]).events)
    for at in range(1, len(stream)):
        assert comparable(decode_pieces(wire, [stream[:at], stream[at:]]).events) == whole, at


@EVERY_WIRE
@settings(max_examples=scaled(30))
@given(places=st.lists(st.integers(0, 5000), max_size=30))
def test_cut_at_random_places_the_events_are_the_same(wire: str, places: list[int]) -> None:
    stream = raw(wire)
    cuts = [0, *sorted(min(place, len(stream)) for place in places), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(cuts)]
    assert comparable(decode_pieces(wire, pieces).events) == comparable(decode_pieces(wire, [stream]).events)


@EVERY_WIRE
def test_byte_by_byte_and_with_carriage_returns(wire: str) -> None:
    stream = raw(wire)
    whole = comparable(decode_pieces(wire, [stream]).events)
    assert comparable(decode_pieces(wire, [bytes([byte]) for byte in stream]).events) == whole
    other = stream.replace(b"\n", b"\r\n")
    assert comparable(decode_pieces(wire, [bytes([byte]) for byte in other]).events) == whole


@EVERY_WIRE
def test_a_clean_end_before_the_terminal_event_is_no_success(wire: str) -> None:
    frames = [frame(wire, event) for event in SAMPLES[wire]]
    for count in range(TERMINAL[wire] + 1):
        decoded = decode_pieces(wire, frames[:count])
        assert decoded.failure == "incomplete", count
        assert decoded.stop == "error"
        assert not any(event.type == "tool_call" for event in decoded.events)
    for count in range(TERMINAL[wire] + 1, len(frames) + 1):
        assert decode_pieces(wire, frames[:count]).stop == "tool_use"


@EVERY_WIRE
def test_an_end_in_the_middle_of_the_terminal_event_is_no_success(wire: str) -> None:
    frames = [frame(wire, event) for event in SAMPLES[wire]]
    before, last = b"".join(frames[: TERMINAL[wire]]), frames[TERMINAL[wire]].rstrip()
    for at in range(len(last)):
        assert decode_pieces(wire, [before + last[:at]]).failure in ("incomplete", "malformed_response"), last[:at]


@EVERY_WIRE
def test_what_was_used_is_reported_though_the_message_is_discarded(wire: str) -> None:
    events = [event for place, event in enumerate(SAMPLES[wire]) if place != TERMINAL[wire]]
    if wire == "chat":
        decoded = decode(wire, *events)
        assert isinstance(decoded.events[-1], MessageDiscarded)
        assert decoded.events[-1].usage == Usage(input=10, output=5)
    elif wire == "messages":
        assert decode(wire, *events).usage == Usage(input=10, output=1)


@EVERY_WIRE
def test_an_attempt_that_failed_outside_the_stream_is_discarded(wire: str) -> None:
    decoder = WIRES[wire].decoder("msg", model="m", attempt=3)
    assert decoder.open() == [MessageStart("msg", "m", 3)]
    decoder.feed(frame(wire, SAMPLES[wire][0]))
    (event,) = decoder.abort(Stalled("nothing came for 60 s"))
    assert isinstance(event, MessageDiscarded)
    assert (event.error.code, event.error.retryable, decoder.message) == ("stalled", True, None)


@EVERY_WIRE
def test_ids_that_the_session_has_seen_are_not_reused(wire: str) -> None:
    decoded = decode(wire, *SAMPLES[wire], used_ids={"c1"})
    first, second = decoded.calls
    assert first.id != "c1"
    if wire in ("chat", "responses", "messages"):
        assert (first.wire_id, second.id, second.wire_id) == ("c1", "c2", None)
        assert '"c1"' in json.dumps(decoded.native)


@EVERY_WIRE
def test_output_that_fills_the_budget_to_the_token_counts_as_cut(wire: str) -> None:
    """V06: some providers call a message finished that was cut at the limit."""
    decoded = decode(wire, *SAMPLES[wire], max_output_tokens=5)
    assert decoded.stop == "max_tokens"
    assert [call.invalid and call.invalid.reason for call in decoded.calls] == ["truncated", "truncated"]
    assert decode(wire, *SAMPLES[wire], max_output_tokens=6).stop == "tool_use"


@EVERY_WIRE
@pytest.mark.parametrize(
    "body",
    [b"<html>Please log in</html>", b"upstream connect error", b"{}", b"[]", b"null", b"\x00\xff\xfe", b'{"a": 1}\n'],
)
def test_a_body_that_is_no_stream_is_a_typed_error(wire: str, body: bytes) -> None:
    decoded = decode_pieces(wire, [body[:5], body[5:]])
    assert decoded.failure in ("malformed_response", "incomplete")


@EVERY_WIRE
def test_a_bare_error_body_is_that_error(wire: str) -> None:
    body = b'{"error": {"code": 429, "type": "rate_limit_error", "message": "slow down"}}'
    assert decode_pieces(wire, [body]).failure == "rate_limited"
    pretty = json.dumps(json.loads(body), indent=2).encode()
    if wire != "ollama":  # one object a line is all it knows
        assert decode_pieces(wire, [pretty]).failure == "rate_limited"


@EVERY_WIRE
def test_events_of_unknown_shape_are_counted_and_kept(wire: str) -> None:
    odd: list[Any] = [b"not json", b'"text"', b"[1]"]
    decoded = decode(wire, *odd, *SAMPLES[wire][:-1], *odd, SAMPLES[wire][-1])
    assert decoded.stop == "tool_use"
    assert decoded.decoder.ignored_count == 6
    assert decoded.decoder.ignored[0] == b"not json"


def flood(wire: str) -> Decoded:
    return decode(wire, *[b"nonsense"] * 1000, *SAMPLES[wire])


def test_a_flood_of_unknown_events_is_not_kept_whole() -> None:
    decoder = flood("chat").decoder
    assert decoder.ignored_count == 1000
    assert len(decoder.ignored) == 20
