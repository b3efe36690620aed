"""The parser against a plain reading of the WHATWG algorithm, over the whole text at once."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.errors import MalformedResponse
from heald.wires.framing import ServerSentEvent
from heald.wires.sse import SSEParser

Event = tuple[str, str, str]

NAMES = ["data", "event", "id", "retry", "", "other", "Data", "data ", "\ufeffdata"]
VALUES = [
    "",
    ":",
    ": ",
    ":x",
    ": x",
    ":  two",
    ": ä€\U0001f600",
    ":7",
    ": 250",
    ":1x",
    ":\0x",
    ": a:b",
    ":\tx",
    ":\u2028\ufeff",
]
ENDS = ["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", ""]
lines = st.builds("".join, st.tuples(*map(st.sampled_from, (NAMES, VALUES, ENDS)))) | st.sampled_from(ENDS)
streams = st.builds("".join, st.tuples(st.sampled_from(["", "", "\ufeff"]), st.lists(lines, max_size=8).map("".join)))


def reference(text: str) -> tuple[list[Event], list[str], int | None]:
    """Events, lines that are not field, and the retry time, as the standard reads a whole stream."""
    events: list[Event] = []
    stray: list[str] = []
    retry: int | None = None
    data: list[str] = []
    kind = last_id = ""
    text = text.removeprefix("\ufeff")
    lines = re.split("\r\n|\r|\n", text)
    for line in [*lines, ""]:  # the last blank line is the first deviation: an end dispatches as well
        if not line:
            if data:
                events.append(("\n".join(data), kind or "message", last_id))
            data, kind = [], ""
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            data.append(value)
        elif name == "event":
            kind = value
        elif name == "id":
            last_id = last_id if "\0" in value else value
        elif name == "retry":
            retry = int(value) if re.fullmatch("[0-9]+", value) else retry
        elif name:  # the second deviation: what the standard drops is kept aside
            stray.append(line)
    return events, stray, retry


def parse(pieces: list[bytes], parser: SSEParser) -> list[Event]:
    events = [event for piece in pieces for event in parser.feed(piece)] + parser.close()
    return [(event.data.decode(), event.event, event.id) for event in events]


@settings(max_examples=scaled(300))
@given(streams, st.lists(st.integers(0, 120), max_size=8))
@example("data: a\r\ndata:  b\r\n\r\ndata: c\r\rdata: d\n\n", [])
@example("event: x\ndata: 1\n\ndata: 2\n\n", [])
@example("data: 1\n\n\n\nid: 3\ndata: 2", [])
@example("event: \ndata: \n\n", [])
def test_any_stream_in_any_cut_reads_as_the_standard_states(text: str, places: list[int]) -> None:
    raw = text.encode()
    some = [0, *sorted(min(place, len(raw)) for place in places), len(raw)]
    for cuts in (some, [0, len(raw)], range(len(raw) + 1)):
        parser = SSEParser()
        events = parse([raw[a:b] for a, b in pairwise(cuts)], parser)
        assert (events, [line.decode() for line in parser.stray], parser.retry_ms) == reference(text)


def test_events_come_out_as_soon_as_their_blank_line_is_in() -> None:
    parser = SSEParser()
    assert parser.feed(b"data: a\n") == []
    assert parser.feed(b"\ndata: b") == [ServerSentEvent(b"a")]
    assert parser.feed(b"\r\n\r") == [ServerSentEvent(b"b")]
    assert parser.feed(b"\ndata: c\n\n") == [ServerSentEvent(b"c")]


def test_only_the_first_byte_order_mark_is_none_of_the_text() -> None:
    assert SSEParser().feed(b"\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n") == [
        ServerSentEvent(b"a"),
        ServerSentEvent(b"\xef\xbb\xbfb"),
    ]


def test_an_event_only_frame_gives_nothing_and_cleans_up() -> None:
    assert SSEParser().feed(b"event: ping\n\n: comment\n\ndata: x\n\n") == [ServerSentEvent(b"x", "message")]


def test_an_id_with_a_nul_is_ignored() -> None:
    events = SSEParser().feed(b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n")
    assert [event.id for event in events] == ["1", "1"]


def test_the_last_id_stays_until_another_comes() -> None:
    events = SSEParser().feed(b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n")
    assert [event.id for event in events] == ["1", "1", ""]


def test_bare_json_inside_a_stream_is_kept_aside_line_by_line() -> None:
    parser = SSEParser()
    assert parser.feed(b'data: a\n\n{\n  "error": {}\n}\n') == [ServerSentEvent(b"a")]
    assert parser.close() == []
    assert parser.stray == [b"{", b'  "error": {}', b"}"]


def test_invalid_utf8_never_raises() -> None:
    parser = SSEParser()
    events = parser.feed(b"event: \xff\nid: \xc3\ndata: \xff\xfe\n\n")
    assert events == [ServerSentEvent(b"\xff\xfe", "\ufffd", "\ufffd")]


def test_an_absurd_retry_time_does_not_raise() -> None:
    assert SSEParser().feed(b"retry: " + b"9" * 6000 + b"\ndata: a\n\n") == [ServerSentEvent(b"a")]


@pytest.mark.parametrize("step", [1, 7, 64, 1000])
def test_one_event_beyond_the_size_limit_is_a_typed_error(step: int) -> None:
    parser = SSEParser(max_event_bytes=100)
    raw = b"data: " + b"x" * 200
    with pytest.raises(MalformedResponse, match="100 bytes"):
        parse([raw[at : at + step] for at in range(0, len(raw), step)], parser)


def test_the_limit_counts_all_data_lines_of_an_event() -> None:
    with pytest.raises(MalformedResponse):
        parse([b"data: 0123456789\n"] * 20, SSEParser(max_event_bytes=100))


@pytest.mark.parametrize("step", [1, 13, 50, 100_000])
def test_many_small_events_never_meet_the_limit_however_they_are_cut(step: int) -> None:
    parser = SSEParser(max_event_bytes=100)
    raw = b": keep-alive\n\ndata: 0123456789\n\n" * 50
    events = [event for at in range(0, len(raw), step) for event in parser.feed(raw[at : at + step])]
    assert events == [ServerSentEvent(b"0123456789")] * 50


def test_comments_alone_never_meet_the_limit() -> None:
    parser = SSEParser(max_event_bytes=100)
    for _ in range(200):
        assert parser.feed(b": keep-alive\n\n") == []
    assert parser.feed(b"data: a\n\n") == [ServerSentEvent(b"a")]
