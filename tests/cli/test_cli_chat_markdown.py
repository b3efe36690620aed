"""Markdown on a terminal: what it looks like, and that pieces and hostile text change nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.cli.chatting.diff import counted, diff_lines
from weft.cli.chatting.markdown import Markdown
from weft.cli.paint import Paint

PLAIN = Paint(on=False)
COLOURED = Paint(on=True)


def shown(text: str, paint: Paint = PLAIN) -> list[str]:
    markdown = Markdown(paint)
    return [*markdown.feed(text), *markdown.close()]


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("# Title #", ["Title"]),
        ("### A `b` **c**", ["A b c"]),
        ("- one\n  * two\n+ three", ["• one", "  • two", "• three"]),
        ("- [ ] open\n- [x] done", ["☐ open", "☑ done"]),
        ("1. one\n2) two", ["1. one", "2) two"]),
        ("> said", ["▏ said"]),
        ("***", ["─" * 24]),
        ("**bold** and *slanted* and __strong__", ["bold and slanted and strong"]),
        ("2 * 3 * 4 and a_b_c and snake__case__name", ["2 * 3 * 4 and a_b_c and snake__case__name"]),
        ("`a*b*c` and ``x`y``", ["a*b*c and x`y"]),
        ("[docs](https://x.org/a) [https://x.org](https://x.org)", ["docs (https://x.org/a) https://x.org"]),
        ("```py\n# no *heading*\n```\nafter", ["┌─ py", "│ # no *heading*", "└─", "after"]),
        ("````\n```\n````", ["┌─", "│ ```", "└─"]),
        ("", []),
        ("a\r\nb", ["a", "b"]),
    ],
)
def test_what_is_seen(written: str, seen: list[str]) -> None:
    assert shown(written) == seen


def test_colours() -> None:
    assert shown("**b** `c`", COLOURED) == ["\x1b[1mb\x1b[0m \x1b[36mc\x1b[0m"]
    assert shown("# T", COLOURED) == ["\x1b[1;4mT\x1b[0m"]


@given(st.text(st.sampled_from("ab#*`_-> \n[]()1.\x1b[31m"), max_size=80), st.data())
def test_pieces_change_nothing(text: str, data: st.DataObject) -> None:
    markdown = Markdown(PLAIN)
    found: list[str] = []
    at = 0
    while at < len(text):
        size = data.draw(st.integers(1, 9))
        found += markdown.feed(text[at : at + size])
        assert "\n" not in markdown.partial
        at += size
    assert [*found, *markdown.close()] == shown(text)


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_nothing_of_a_model_moves_the_cursor(text: str) -> None:
    for line in shown(text, COLOURED):
        assert re.search(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202e\u2066]", line) is None
        assert all(re.match(r"\x1b\[[0-9;]+m", found) for found in re.findall(r"\x1b.{0,8}", line))


def test_a_line_is_seen_while_it_is_written() -> None:
    markdown = Markdown(PLAIN)
    assert markdown.feed("Hello **th") == []
    assert markdown.partial == "Hello **th"
    assert markdown.feed("ere**\nnext") == ["Hello there"]
    assert markdown.partial == "next"


def test_a_diff_is_cut_and_harmless() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1,60 @@\n-old\n" + "".join(f"+line {n}\n" for n in range(60)) + "+\x1b[2Jgone\n"
    lines = diff_lines(diff, PLAIN)
    assert lines[:3] == ["  @@ -1 +1,60 @@", "  -old", "  +line 0"]
    assert lines[-1] == "  … 23 more lines"
    assert counted(diff) == "+61 −1"
    assert "\x1b" not in "".join(diff_lines(diff, PLAIN, most=100))
