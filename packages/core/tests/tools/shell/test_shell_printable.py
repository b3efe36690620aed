"""Text of strangers, as people are shown it (S19)."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.tools.sanitize import TextSanitizer, sanitize_text

ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"


@pytest.mark.parametrize(
    ("text", "printable"),
    [
        ("plain text, é, 日本, 😀, \u05e9\u05dc\u05d5\u05dd", "plain text, é, 日本, 😀, \u05e9\u05dc\u05d5\u05dd"),
        ("a\tb\r\nc", "a\tb\nc"),
        ("safe\rover", "safe\\x0dover"),
        (f"{ESC}[31mred{ESC}[0m", "red"),
        (f"{ESC}[2J{ESC}[H{ESC}[?25lx", "x"),
        (f"a{ESC}]52;c;ZXZpbA=={BEL}b", "ab"),
        (f"{ESC}]8;;file:///etc/passwd{ST}click{ESC}]8;;{ST}", "click"),
        (f"{ESC}P1$q{ST}x{ESC}_apc{ST}y{ESC}^pm{ST}z", "xyz"),
        (f"{ESC}(B{ESC}7{ESC}8{ESC}cx", "x"),
        ("\x9b31mx\x9d0;t\x9cy", "xy"),
        (f"{ESC}]0;never ended", "\\x1b]0;never ended"),
        (f"{ESC}]0;{'x' * 5000}{BEL}", f"\\x1b]0;{'x' * 5000}\\x07"),
        (f"{ESC}]0;a\nrm{BEL}", "\\x1b]0;a\nrm\\x07"),
        ("\x00\x08\x7f\x85", "\\x00\\x08\\x7f\\x85"),
        ("rm \u202e/ fr-\u202c", "rm \\u202e/ fr-\\u202c"),
        ("a\u200bb\u2066c\ufeffd\u2028e", "a\\u200bb\\u2066c\\ufeffd\\u2028e"),
        ("\U000e0041\ud800", "\\U000e0041\\ud800"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_what_is_shown(text: str, printable: str):
    assert sanitize_text(text) == printable


PIECES = st.sampled_from(
    [ESC, BEL, "\x9b", "\x9d", "\x9c", "[", "]", "P", "\\", "0;", "m", "31", "(", "B", "\n", "\r", "x", "é", "\u202e"]
)
TEXT = st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)


@given(TEXT)
def test_nothing_that_acts_is_left(text: str):
    printable = sanitize_text(text)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", printable)
    assert sanitize_text(printable) == printable
    assert all(unicodedata.category(char) != "Cc" or char in "\n\t" for char in printable)


@given(TEXT, st.lists(st.integers(0, 60), max_size=8), st.booleans())
def test_any_cut_shows_the_same(text: str, cuts: list[int], keep_returns: bool):
    stream = TextSanitizer(keep_returns=keep_returns)
    places = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert "".join([*(stream.feed(piece) for piece in pieces), stream.close()]) == sanitize_text(
        text, keep_returns=keep_returns
    )


def test_a_sequence_that_never_ends_is_not_held_for_ever():
    stream = TextSanitizer()
    printed = "".join(
        stream.feed("\x1b]0;" + "x" * 1000) if turn == 0 else stream.feed("y" * 1000) for turn in range(20)
    )
    assert printed.startswith("\\x1b]0;xxx")
    assert len(printed) > 10_000
