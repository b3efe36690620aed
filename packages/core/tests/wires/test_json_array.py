import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.errors import MalformedResponse
from heald.wires.framing import StreamFraming
from heald.wires.json_array import JsonArrayParser
from heald.wires.json_lines import JsonLinesParser
from heald.wires.sse_or_array import SSEOrArrayParser

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab{}[]"\\,ä\U0001f600\n', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a{["\\', max_size=4), inner, max_size=3),
    max_leaves=8,
)
elements = st.lists(st.dictionaries(st.text("kä]", max_size=3), values, max_size=3), max_size=4)


def read(framing: StreamFraming | JsonArrayParser, raw: bytes, step: int) -> list[Any]:
    events = [event for at in range(0, len(raw), step) for event in framing.feed(raw[at : at + step])]
    return [json.loads(event.data) for event in [*events, *framing.close()]]


@settings(max_examples=scaled(200))
@given(elements, st.integers(1, 9), st.sampled_from([None, 2]), st.booleans())
def test_elements_come_out_whole_in_any_cut(value: list[Any], step: int, indent: int | None, ascii_only: bool) -> None:
    raw = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    assert read(JsonArrayParser(), raw, step) == value


def test_an_element_comes_out_with_its_last_byte() -> None:
    parser = JsonArrayParser()
    assert parser.feed(b'[{"a": "}"') == []
    assert [event.data for event in parser.feed(b"}")] == [b'{"a": "}"}']
    assert [event.data for event in parser.feed(b',\n{"b":1},{"c"')] == [b'{"b":1}']


def test_an_element_that_never_ends_is_none() -> None:
    assert read(JsonArrayParser(), b'[{"a":1},{"b":', 3) == [{"a": 1}]


def test_a_bare_object_counts_as_one_element() -> None:
    assert read(JsonArrayParser(), b'{"error": {"code": 429}}\n', 4) == [{"error": {"code": 429}}]


@pytest.mark.parametrize("cut", range(1, 12))
def test_an_escape_cut_in_two_does_not_end_its_string(cut: int) -> None:
    raw = b'[{"a":"\\"}\\\\"}]'
    parser = JsonArrayParser()
    events = parser.feed(raw[:cut]) + parser.feed(raw[cut:])
    assert [json.loads(event.data) for event in events] == [{"a": '"}\\'}]


def test_an_element_beyond_the_size_limit_is_a_typed_error() -> None:
    with pytest.raises(MalformedResponse, match="50 bytes"):
        read(JsonArrayParser(max_element_bytes=50), b'[{"a": "' + b"x" * 100, 10)


@given(elements, st.integers(1, 9))
def test_the_first_byte_reports_an_array_from_events(value: list[Any], step: int) -> None:
    as_array = b" \n" + json.dumps(value).encode()
    as_events = b"".join(b"data: " + json.dumps(item).encode() + b"\r\n\r\n" for item in value)
    assert read(SSEOrArrayParser(), as_array, step) == value
    assert read(SSEOrArrayParser(), as_events, step) == value


@pytest.mark.parametrize("raw", [b'\xef\xbb\xbf[{"a":1}]', b'\xef\xbb\xbfdata: {"a":1}\n\n', b'\n\ndata: {"a":1}'])
@pytest.mark.parametrize("step", [1, 2, 100])
def test_byte_order_marks_and_blank_starts_report_nothing(raw: bytes, step: int) -> None:
    assert read(SSEOrArrayParser(), raw, step) == [{"a": 1}]


def test_a_body_that_is_neither_is_kept_aside() -> None:
    framing = SSEOrArrayParser()
    assert framing.feed(b"<html>") + framing.feed(b"busy</html>") + framing.close() == []
    assert framing.stray == [b"<html>busy</html>"]


def test_nothing_at_all_is_nothing() -> None:
    for framing in (SSEOrArrayParser(), JsonLinesParser(), JsonArrayParser()):
        assert framing.feed(b"") + framing.close() == []


@given(elements, st.integers(1, 9), st.sampled_from(["\n", "\r\n", "\n\n"]), st.booleans())
def test_lines_of_json_in_any_cut(value: list[Any], step: int, end: str, last: bool) -> None:
    raw = end.join(json.dumps(item) for item in value) + (end if last else "")
    assert read(JsonLinesParser(), raw.encode(), step) == value
