import json
from typing import Any

import msgspec
import pytest
from core_values import json_values
from hypothesis import given
from hypothesis import strategies as st

from heald.core.events import TextDelta
from heald.core.json import (
    MAX_DEPTH,
    as_int,
    as_list,
    as_object,
    as_objects,
    depth_of,
    encode,
    encode_text,
    parse_strict,
)

any_text = st.text(max_size=20)  # surrogates included


@given(json_values)
def test_what_is_encoded_reads_back(value: Any) -> None:
    assert json.loads(encode(value)) == value
    assert parse_strict(encode_text(value)) == value


@given(st.recursive(any_text, lambda inner: st.dictionaries(any_text, inner, max_size=3) | st.lists(inner, max_size=3)))
def test_no_text_crashes_the_encoder(value: Any) -> None:
    encoded = encode(value)
    encoded.decode("utf-8")  # strictly: what is stored is always UTF-8
    assert json.loads(encoded) == value


def test_half_a_surrogate_pair_is_written_as_its_escape() -> None:
    assert encode("a\ud83d") == b'"a\\ud83d"'
    assert encode(TextDelta(0, "b", "\ude00")) == b'{"index":0,"block":"b","text":"\\ude00"}'


def test_text_that_utf8_holds_is_written_as_it_is() -> None:
    assert encode({"ä": "\u2028\U0001f600\x00"}) == '{"ä":"\u2028\U0001f600\\u0000"}'.encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_lacks_become_null_whatever_stands_beside_them(number: float) -> None:
    assert json.loads(encode({"n": number})) == {"n": None}
    assert json.loads(encode({"n": number, "half": "\ud83d"})) == {"n": None, "half": "\ud83d"}


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", '{"a": NaN}', "[1, -Infinity]"])
def test_constants_that_are_not_json_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not JSON"):
        parse_strict(text)


@pytest.mark.parametrize("text", ["1e999", "-1e999", '{"a": [1e400]}'])
def test_numbers_beyond_any_float_are_refused(text: str) -> None:
    """V11: a parser that lets them through makes Infinity of them, which cannot be written again."""
    with pytest.raises(ValueError, match=r"."):
        parse_strict(text)


def test_large_whole_numbers_are_exact_and_absurd_ones_refused() -> None:
    assert parse_strict("123456789012345678901234567890") == 123456789012345678901234567890
    with pytest.raises(ValueError, match="digits"):
        parse_strict("9" * 10_000)


@pytest.mark.parametrize(
    ("text", "key"), [('{"a":1,"a":1}', "a"), ('[{"x":{"k":1,"j":2,"k":3}}]', "k"), ('{"\\u0061":1,"a":2}', "a")]
)
def test_duplicate_keys_are_refused_by_name(text: str, key: str) -> None:
    with pytest.raises(ValueError, match=f"duplicate key '{key}'"):
        parse_strict(text)


def test_a_long_duplicate_key_is_not_quoted_whole() -> None:
    key = "k" * 5000
    with pytest.raises(ValueError, match="duplicate key") as caught:
        parse_strict(json.dumps([key]).replace("[", "{").replace("]", f':1,"{key}":2}}'))
    assert len(str(caught.value)) < 200


def test_nesting_is_allowed_up_to_the_limit() -> None:
    assert depth_of(parse_strict("[" * MAX_DEPTH + "]" * MAX_DEPTH)) == MAX_DEPTH
    with pytest.raises(ValueError, match="nested"):
        parse_strict("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000])
def test_a_depth_bomb_is_an_error_not_a_crash(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_strict(text)


@pytest.mark.parametrize("text", ["", " ", "{", '{"a":1,}', "{'a':1}", "[1 2]", "01", '"\x01"', "{} {}", "\ufeff{}"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_strict(text)


@pytest.mark.parametrize(
    ("text", "depth"), [("1", 0), ('"[["', 0), ("[]", 1), ("{}", 1), ("[[], [[]]]", 3), ('{"a": {"b": [1]}}', 3)]
)
def test_depth_counts_containers(text: str, depth: int) -> None:
    assert depth_of(json.loads(text)) == depth


def test_depth_needs_no_recursion() -> None:
    value: Any = []
    for _ in range(50_000):
        value = [value]
    assert depth_of(value) == 50_001
    while value:  # taken apart by hand: freeing it whole would recurse
        value = value.pop()


def test_encoding_of_unsupported_objects_reports_it() -> None:
    with pytest.raises(TypeError):
        encode(object())
    assert msgspec.json.decode(encode([1])) == [1]


def test_what_strangers_send_is_treated_as_what_it_is() -> None:
    assert (as_object({"a": 1}), as_object([1]), as_object(None)) == ({"a": 1}, {}, {})
    assert (as_list([1]), as_list({"a": 1}), as_list("ab")) == ([1], [], [])
    assert as_objects([{"a": 1}, 2, None, {}]) == [{"a": 1}, {}]
    assert (as_int(3), as_int(True), as_int(2.0), as_int("3")) == (3, None, None, None)
