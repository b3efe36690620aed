"""A person who decides on a text sees all of it: every character as itself or as an escape, and nothing twice."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from heald.tools.visible_text import (
    cut_line,
    describe_hidden,
    escape_hidden,
    escape_json,
    escape_line,
    excerpt,
    name_bytes,
    whole_rows,
)

TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("visible_text_cases.json").read_text())
_ESCAPE = re.compile(r"⟦(\\(?:[nrt]|x..|u....|U........))(?:×(\d+))?⟧")


def unescape(text: str) -> str:
    """The text that an escaped text stands for."""

    def character(escape: re.Match[str]) -> str:
        code = {"n": 10, "r": 13, "t": 9}.get(escape[1][1:]) or int(escape[1][2:], 16)
        return chr(code) * int(escape[2] or 1)

    return _ESCAPE.sub(character, text)


def text_of(case: dict[str, Any]) -> str:
    if "repeat" not in case:
        return case["text"]
    part, count = case["repeat"]
    return case["before"] + part * count + case["after"]


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["name"])
def test_the_table_that_the_page_passes_too(case: dict[str, Any]) -> None:
    text = text_of(case)
    assert escape_hidden(text) == case.get("escaped", escape_hidden(text))
    assert escape_line(text) == case.get("line", escape_line(text))
    shortened = excerpt(text)
    assert (shortened.rows, shortened.left_out) == (case["rows"], case["left_out"])
    assert describe_hidden(text) == case["notes"]
    assert describe_hidden(text, is_command=True) == case["command_notes"]
    assert unescape(escape_hidden(text)) == unescape(escape_line(text)) == text


def test_the_characters_that_are_escaped() -> None:
    escaped = {code for first, last in TABLE["escaped_ranges"] for code in range(first, last + 1)}
    for code in range(0x110000):
        assert (escape_hidden(f"a{chr(code)}") != f"a{chr(code)}") == (code in escaped), hex(code)


def test_no_two_texts_look_the_same() -> None:
    """The escaped text has all of the text in it, whatever it is made of."""
    choice = random.Random(7)
    parts = [*"ab ⟦⟧\\x1b×4\t\n", "\x1b", "\r", "\u202e", "\u0301", "\u0336", "\u00a0", "\ud800", "\U000e0041", "😀"]
    parts += ["⟦\\x1b⟧", "⟦\\u200b×500⟧", "\u200b" * 9, " " * 70, "\t" * 20, "\n" * 9]
    for _ in range(3_000):
        text = "".join(choice.choices(parts, k=choice.randrange(12)))
        assert unescape(escape_hidden(text)) == text
        assert unescape(escape_line(text)) == text
        assert "\n" not in escape_line(text)
        assert json.loads(escape_json(json.dumps(text, ensure_ascii=False))) == text
        for characters, lines in ((5, 1), (40, 3), (400, 24)):
            shortened = excerpt(text, characters=characters, lines=lines)
            cut = [row for row in shortened.rows if " left out⟧" in row and row.startswith("⟦… ")]
            assert len(cut) == bool(shortened.left_out)
            assert len(shortened.rows) <= lines + 3


def test_a_cut_line_names_what_is_left_out() -> None:
    assert cut_line("ls\nrm", 80) == "ls⟦\\n⟧rm"
    assert cut_line("x" * 30 + "y" * 30, 30) == f"{'x' * 20}⟦… 30 characters left out⟧{'y' * 10}"
    assert cut_line("ab\x1bcd", 6) == "ab⟦… 1 character left out⟧cd"


def test_bytes_that_are_not_utf_8() -> None:
    text = b"a\xff\xc3\xa4\x80\x80\x80\x80\x1b".decode("utf-8", "surrogateescape")
    assert name_bytes(escape_hidden(text)) == "a⟦byte ff⟧ä⟦byte 80×4⟧⟦\\x1b⟧"


def test_json_keeps_its_value() -> None:
    text = json.dumps({"a": "\u009b\u202e\U000e0041ä⟦"}, ensure_ascii=False)
    assert escape_json(text) == '{"a": "\\u009b\\u202e\\udb40\\udc41ä⟦"}'


def test_all_rows_of_a_text() -> None:
    assert whole_rows("a\n\n\n\n\n\n\x1bb") == ["a", *[""] * 5, "⟦\\x1b⟧b"]
