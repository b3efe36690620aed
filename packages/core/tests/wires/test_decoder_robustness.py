"""F15: whatever a server sends, a decoder ends the message in one of its two ways and never raises."""

import copy
import json
from collections.abc import Iterator
from itertools import product
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_rare import RARE
from wire_samples import SAMPLES, TERMINAL, chunk, parts
from wire_streams import decode, decode_pieces, frame

from example_counts import scaled

EVERY_WIRE = pytest.mark.parametrize("wire", list(SAMPLES))

ODD: list[Any] = json.loads(
    r'[null, true, 0, -1, 2.5, 1e30, "", "x", "\ud83d", [], ["x"], [null], [[]], {}, {"type": "x"}, {"x": 1}]'
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to everything inside a value."""
    if isinstance(value, dict):
        inner = list(cast("dict[Any, Any]", value).items())
    elif isinstance(value, list):
        inner = list(enumerate(cast("list[Any]", value)))
    else:
        return
    for key, item in inner:
        yield (*path, key)
        yield from places(item, (*path, key))


def put(root: Any, path: tuple[Any, ...], value: Any) -> None:
    *way, last = path
    for key in way:
        root = root[key]
    root[last] = value


def attempt(wire: str, events: list[Any]) -> str | None:
    """What a stream raises, if it raises anything."""
    try:
        decode(wire, *events, ordered=False)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@EVERY_WIRE
def test_a_value_of_any_other_type_anywhere_never_raises(wire: str) -> None:
    raised: list[str] = []
    before, after = SAMPLES[wire][: TERMINAL[wire]], SAMPLES[wire][TERMINAL[wire] :]
    for number, event in enumerate([*before, *RARE[wire]]):
        for path, value in product(places(event), ODD):
            odd = copy.deepcopy(event)
            put(odd, path, value)
            stream = [*before[:number], odd, *before[number + 1 :], *after]
            if (error := attempt(wire, stream)) is not None:
                raised.append(f"{json.dumps(event)[:60]} {path} = {value!r}: {error}")
    assert raised == []


@EVERY_WIRE
def test_rare_shapes_raise_nothing_as_they_are(wire: str) -> None:
    assert decode(wire, *SAMPLES[wire][: TERMINAL[wire]], *RARE[wire], *SAMPLES[wire][TERMINAL[wire] :], ordered=False)


@EVERY_WIRE
@settings(max_examples=scaled(100))
@given(data=st.data())
def test_lost_repeated_and_swapped_events_never_raise(wire: str, data: st.DataObject) -> None:
    order = data.draw(st.lists(st.integers(0, len(SAMPLES[wire]) - 1), max_size=20))
    decode(wire, *(SAMPLES[wire][number] for number in order), ordered=False)


@EVERY_WIRE
@settings(max_examples=scaled(100))
@given(data=st.data())
def test_flipped_bytes_never_raise(wire: str, data: st.DataObject) -> None:
    stream = bytearray(b"".join(frame(wire, event) for event in SAMPLES[wire]))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    decode_pieces(wire, [bytes(stream)], ordered=False)


@EVERY_WIRE
@settings(max_examples=scaled(100))
@given(pieces=st.lists(st.binary(max_size=40), max_size=4))
def test_any_bytes_never_raise(wire: str, pieces: list[bytes]) -> None:
    decode_pieces(wire, pieces)


BOMB = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        ("chat", f'{{"id": {BOMB}}}'),
        ("chat", f'{{"choices": [{{"delta": {{"content": {BOMB}}}}}]}}'),
        ("responses", f'{{"type": "response.created", "response": {{"id": {BOMB}}}}}'),
        ("messages", f'{{"type": "message_start", "message": {{"id": {BOMB}}}}}'),
        ("gemini", f'{{"usageMetadata": {{"x": {BOMB}}}}}'),
        ("ollama", f'{{"error": {BOMB}}}'),
    ],
)
def test_a_depth_bomb_is_no_crash(wire: str, event: str) -> None:
    assert decode(wire, event.encode(), *SAMPLES[wire]).stop in ("tool_use", "error")


@EVERY_WIRE
def test_half_a_surrogate_pair_in_an_error_is_that_error(wire: str) -> None:
    event: Any = {"type": "error", "error": {"code": 429, "message": "slow \ud83d"}}
    assert decode(wire, event).failure == "rate_limited"


@EVERY_WIRE
def test_a_pair_cut_between_two_deltas_is_joined_and_a_lone_half_replaced(wire: str) -> None:
    raw = b"".join(frame(wire, event) for event in SAMPLES[wire])
    whole = rb"\ud83d\ude00"
    assert raw.count(whole) >= 1
    assert "look \ufffd" in decode_pieces(wire, [raw.replace(whole, rb"\ud83d")]).text


def test_a_pair_cut_between_two_deltas_is_joined() -> None:
    halves = ["a\ud83d", "\ude00b"]
    chat = decode("chat", *(chunk({"content": half}) for half in halves), chunk({}, "stop"))
    gemini = decode("gemini", *(parts({"text": half}) for half in halves), parts(finish="STOP"))
    assert chat.text == gemini.text == "a\U0001f600b"
    json.dumps(chat.native, ensure_ascii=False).encode()  # nothing half is left in what goes back
    json.dumps(gemini.native, ensure_ascii=False).encode()
