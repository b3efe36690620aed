"""Patterns: run by the linear engine of jsonschema-rs. One that it cannot run is reported or refused."""

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.tools.json_schema import JsonSchema
from heald.tools.schema_fault import SchemaFault

CASES: list[tuple[str, list[str], list[str]]] = [
    ("b", ["abc"], ["ac"]),
    ("^a$", ["a"], ["a\n", "ba"]),
    (r"^\d$", ["1"], ["٣", "a"]),
    (r"^\w$", ["a", "_"], ["é", "-"]),
    (r"^\s$", [" ", "\t", "\x0b", "\u00a0", "\u2028", "\ufeff", "\u3000"], ["\u0085", "\u200b", "a"]),
    (r"^\S$", ["a", "\u200b", "\u0085"], [" ", "\ufeff", "\u00a0"]),
    (r"^[\sa]$", ["a", "\u00a0"], ["b"]),
    (r"^[^\S]$", [" ", "\u2003"], ["b"]),
    (r"^[\S]$", ["b", "😀"], [" ", "\u2003"]),
    ("^.$", ["a", "é", "😀", "\x85"], ["\n", "", "ab"]),  # ECMAScript leaves out \\r and two more
    (r"^\u00e9$", ["é"], ["e"]),
    (r"^\u{1F600}$", ["😀"], ["u"]),
    (r"^\t\n\r\f\v$", ["\t\n\r\x0c\x0b"], [""]),
    (r"^\p{L}\p{Lu}\p{Letter}\p{Uppercase_Letter}$", ["éÉéÉ"], ["éééé", "1É1É"]),
    (r"^\p{Script=Greek}\p{sc=Latin}\p{gc=Nd}$", ["αa1"], ["aa1", "ααα"]),
    (r"^\P{L}$", ["1"], ["a"]),
    (r"^\p{ASCII}\P{ASCII}[\p{Any}]$", ["aéx"], ["aax", "ééx"]),
    (r"^[\w-]+$", ["a-b"], ["a b"]),
    (r"^[\w-.]+$", ["a-b.c"], ["a b"]),
    (r"^[a-z-9]+$", ["a-9"], ["5"]),
    (r"^[+--]+$", ["+,-"], ["."]),
    ("^[[a]+$", ["[a"], ["]"]),
    ("^[a&&b]+$", ["&ab"], ["c"]),
    ("^[[:alpha:]]$", ["[]", ":]"], ["b"]),
    (r"^[\]\\^]+$", ["]\\^"], ["a"]),
    ("^(?:a|b){2,3}?$", ["ab", "bab"], ["a"]),
    ("^(?<year>[0-9]{4})$", ["2024"], ["24"]),
    (r"\bcat\b", ["a cat."], ["concat"]),
    ("^{a}$", ["{a}"], ["a"]),
    ("^a{,2}$", ["a{,2}"], ["aa"]),
    ("", ["", "a"], []),
]


@pytest.mark.parametrize(("source", "matching", "others"), CASES)
def test_what_a_pattern_means(source: str, matching: list[str], others: list[str]) -> None:
    schema = JsonSchema({"pattern": source})
    assert schema.unchecked == ()
    assert [text for text in matching if not schema.is_valid(text)] == []
    assert [text for text in others if schema.is_valid(text)] == []


NOT_LINEAR = ["(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", r"(a)\1", "a{20000}", "a" * 6000]


@pytest.mark.parametrize("source", NOT_LINEAR)
def test_what_the_engine_cannot_run_is_reported(source: str, caplog: pytest.LogCaptureFixture) -> None:
    schema = JsonSchema({"properties": {"email": {"type": "string", "pattern": source}}})
    assert len(schema.unchecked) == 1
    assert schema.unchecked[0].startswith("properties.email.pattern is not checked: ")
    assert schema.is_valid({"email": "anything"})
    assert not schema.is_valid({"email": 1})
    schema.report_unchecked("send")
    schema.report_unchecked("send")
    assert [record.getMessage() for record in caplog.records] == [
        f"In the schema of the tool send: {schema.unchecked[0]}"
    ]


@pytest.mark.parametrize("source", NOT_LINEAR)
def test_a_name_of_properties_that_the_engine_cannot_run_is_refused(source: str) -> None:
    with pytest.raises(SchemaFault, match="patternProperties"):
        JsonSchema({"patternProperties": {source: True}, "additionalProperties": False})


def test_a_fault_of_the_default_engine_is_not_ours() -> None:
    """With its default options jsonschema-rs 0.60.3 finds `1+a*1+` in "1"; its linear engine does not."""
    assert not JsonSchema({"pattern": "1+a*1+"}).is_valid("1")
    assert JsonSchema({"pattern": "1+a*1+"}).is_valid("11")


@pytest.mark.parametrize("source", ["[", "(", ")", "a)", "*", "+a", "\\", r"\u12", r"\xg1", r"\u{110000}", r"\p{L"])
def test_what_is_no_pattern(source: str) -> None:
    for schema in ({"pattern": source}, {"patternProperties": {source: True}}, {"items": {"pattern": source}}):
        with pytest.raises(SchemaFault, match="is not a regular expression"):
            JsonSchema(schema)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("^(a+)+$", "a" * 200_000 + "!"),
        ("(x+x+)+y", "x" * 200_000),
        ("(a|a)*b", "a" * 200_000),
        ("(.*a){20}$", "a" * 50_000 + "!"),
        ("([a-zA-Z]+)*[0-9]$", "a" * 200_000),
        ("[ab]*a[ab]{200}c", "ab" * 20_000),
    ],
)
def test_no_pattern_is_slow(source: str, text: str) -> None:
    started = time.process_time()
    assert not JsonSchema({"pattern": source}).is_valid(text)
    assert not JsonSchema({"propertyNames": {"pattern": source}}).is_valid({text: 1})
    assert time.process_time() - started < 30


def test_half_a_surrogate_pair_is_a_character_like_others() -> None:
    assert JsonSchema({"pattern": "a"}).is_valid("\ud800a")
    assert not JsonSchema({"pattern": "a"}).is_valid("\ud800")
    with pytest.raises(SchemaFault, match="is not a regular expression"):
        JsonSchema({"pattern": "\ud800"})


PIECES = st.sampled_from(
    ["a", "b", "1", "-", "_", "é", "😀", r"\d", r"\w", r"\s", r"\S", r"\D", r"\W", "[ab]", "[^a]", "[a-z]", r"[\d-]",
     r"[\s\w]", "(a|b)", "(?:ab)", r"\.", r"\/", r"\-", r"\u00e9", r"\x61", "^", "$", r"[^\W\d]"]
)  # fmt: skip
COUNTS = st.sampled_from(["", "*", "+", "?", "{2}", "{1,2}", "*?", "{0,}"])


@settings(max_examples=scaled(100), deadline=None)
@given(st.lists(st.tuples(PIECES, COUNTS), max_size=5), st.lists(st.text("ab1-_é😀 ./", max_size=6), min_size=1))
def test_as_another_engine(pieces: list[tuple[str, str]], texts: list[str]) -> None:
    source = "".join(piece + ("" if piece in ("^", "$") else count) for piece, count in pieces)
    schema, theirs = JsonSchema({"pattern": source}), re.compile(source, re.ASCII)
    for text in texts:
        assert schema.is_valid(text) == (theirs.search(text) is not None), text


@settings(max_examples=scaled(200), deadline=None)
@given(st.text(r"ab[](){}^$\.|*+?-,:=!<>pPuUxkds0123456789" + "é", max_size=12), st.text("ab[]é-", max_size=5))
def test_whatever_the_pattern(source: str, text: str) -> None:
    """It is refused in a sentence, or says yes or no."""
    try:
        schema: Any = JsonSchema({"pattern": source})
    except SchemaFault:
        return
    assert schema.is_valid(text) in (True, False)
