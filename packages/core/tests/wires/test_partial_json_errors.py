import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.json import MAX_DEPTH, parse_strict
from heald.wires.partial_json import PartialJson

TOKENS = [
    "{", "}", "[", "]", ",", ":", '"', '"a"', '"b"', "\\", "\\u", "\\ud83d", "\\ude00", "0", "1", "-", ".", "e", "true",
    "null", "nul", "NaN", "Infinity", " ", "\n", "\x0b", "'", "x", "ä",
]  # fmt: skip


def parse(text: str, step: int = 1) -> PartialJson:
    parser = PartialJson()
    for at in range(0, len(text), step):
        parser.feed(text[at : at + step])
        parser.grow()
    parser.close()
    return parser


def strictly(text: str) -> tuple[bool, Any]:
    try:
        return True, parse_strict(text)
    except ValueError:
        return False, None


@settings(max_examples=scaled(400))
@given(st.lists(st.sampled_from(TOKENS), max_size=9).map("".join), st.integers(1, 5))
@example('{"a":1,"a":2}', 3)
@example("[1,]", 1)
@example('{"a":1,}', 1)
@example("[-]", 2)
@example("01", 1)
def test_no_text_raises_and_only_json_is_complete(text: str, step: int) -> None:
    parser = parse(text, step)
    valid, value = strictly(text)
    if not valid and any(char < " " for char in text):
        return  # a raw control character in a string is shown in previews, and refused at the end
    assert (parser.complete, parser.error is None and parser.complete) == (valid, valid)
    if valid:
        assert parser.value == value


@settings(max_examples=scaled(200))
@given(st.lists(st.sampled_from(TOKENS), max_size=9).map("".join))
@example('"ab\\q"')
def test_errors_do_not_depend_on_the_cut(text: str) -> None:
    whole, single = parse(text, max(len(text), 1)), parse(text)
    assert (whole.error, whole.value, whole.complete) == (single.error, single.value, single.complete)


@pytest.mark.parametrize(
    "text",
    [
        "}", "]", "x", "'a'", "{a", '{"a"}', '{"a" 1', '{"a":}', '{"a":1 "b"', "[1 2", "[,", "[1,]", '{,', '{"a":1,}',
        '{"a":1]', "[1}", '["\\x', '["\\u12g', "[nul]", "[NaN]", "[Infinity,", "[-Infinity,", "[01]", "[1.]", "[.5]",
        "[1e]", "[+1]", "[--1]", "{} x", "[] []", '"a" "b"', "[True]",
    ],
)  # fmt: skip
def test_what_can_never_become_json_is_an_error(text: str) -> None:
    for step in (1, 2, len(text)):
        parser = parse(text, step)
        assert parser.error is not None, step
        assert not parser.complete


@pytest.mark.parametrize("text", ['{"a": "x', "[1, 2", '{"a"', '{"a":', '["\\', '["\\u00', "[tru", "[-", "[1e"])
def test_what_is_only_cut_short_is_no_error(text: str) -> None:
    parser = parse(text)
    assert parser.error is None
    assert not parser.complete


def test_the_error_states_where() -> None:
    assert parse('{"a": 1, b').error == "expected a key (character 9)"
    for step in (1, 3, 99):
        assert (parse('{"ab": "cd\\q"}', step).error or "").endswith("(character 10)")
        assert (parse('["\\ud83d", nope]', step).error or "").endswith("(character 11)")


def test_what_came_before_the_error_stays_and_nothing_grows_after_it() -> None:
    parser = PartialJson()
    parser.feed('{"a": "x", "b": oops, "c": "y"')
    assert parser.grow() == [(("a",), "x")]
    parser.feed(', "d": "z"}')
    assert parser.grow() == []
    assert parser.value == {"a": "x"}
    assert parser.error is not None


def test_duplicate_keys_are_an_error_and_change_nothing() -> None:
    parser = parse('{"a": "first", "a": "second"}')
    assert parser.value == {"a": "first"}
    assert "duplicate key 'a'" in (parser.error or "")
    assert parse('[{"a": 1}, {"a": 1}]').complete


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_depth_bomb_is_an_error(opening: str) -> None:
    parser = PartialJson()
    parser.feed(opening * 50_000)
    assert f"nested more than {MAX_DEPTH}" in (parser.error or "")
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH).complete


def test_an_endless_number_is_an_error() -> None:
    parser = PartialJson()
    for _ in range(100):
        parser.feed("1234567890" * 10)
        parser.grow()
    assert "too long" in (parser.error or "")
    assert parse("[" + "9" * 400 + "]").value == [int("9" * 400)]


@pytest.mark.parametrize("text", ["[1e999]", "[-1e999]", '{"a": 1e400}'])
def test_a_number_beyond_any_float_is_no_infinity(text: str) -> None:
    parser = parse(text)
    assert parser.error is not None
    assert "inf" not in json.dumps(parser.value).lower()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud83d"', "\ud83d"),
        (r'"\ude00\ud83d"', "\ude00\ud83d"),
        (r'"\ud83d\u0041"', "\ud83dA"),
        (r'"\ud83d\ud83d\ude00"', "\ud83d\U0001f600"),
        (r'"\ud83d\n"', "\ud83d\n"),
        (r'"\ud83dx"', "\ud83dx"),
    ],
)
def test_surrogates_read_as_the_standard_library_reads_them(text: str, value: str) -> None:
    assert json.loads(text) == value
    for step in range(1, len(text) + 1):
        assert parse(text, step).value == value


@pytest.mark.parametrize("cut", range(1, 12))
def test_half_a_pair_is_not_reported_while_its_other_half_may_come(cut: int) -> None:
    parser = PartialJson()
    parser.feed('"' + r"\ud83d\ude00"[:cut])
    assert parser.grow() == []
    assert parser.value == ""


def test_raw_control_characters_in_strings_are_let_through_for_the_preview() -> None:
    """The strict parser decides in the end; a preview need not stop for a bare newline."""
    parser = parse('{"a": "x\ny"}')
    assert parser.value == {"a": "x\ny"}
    with pytest.raises(ValueError, match="control character"):
        parse_strict('{"a": "x\ny"}')
