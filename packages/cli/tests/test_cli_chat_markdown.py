"""Markdown on a terminal: what it looks like, and that pieces and hostile text change nothing."""

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.commands.terminal import Colours
from heald_cli.chat.display import count_changes, diff_lines
from heald_cli.chat.markdown import MarkdownStream, Renderer

PLAIN = Colours(on=False)


def stream(*, colours: bool = False, columns: int = 60) -> MarkdownStream:
    return MarkdownStream(Renderer(lambda: columns, colours=colours))


def rendered(text: str, *, colours: bool = False) -> list[str]:
    markdown = stream(colours=colours)
    return [*markdown.feed(text), *markdown.close()]


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("# Title #", ["Title"]),
        ("### A `b` **c**", ["A b c"]),
        ("- one\n  * two\n- three", [" • one", "    • two", " • three"]),
        ("- [ ] open\n- [x] done", [" • ☐ open", " • ☑ done"]),
        ("1. one\n2. two", [" 1 one", " 2 two"]),
        ("> said", ["▌ said"]),
        ("**bold** and *slanted* and __strong__", ["bold and slanted and strong"]),
        ("2 * 3 * 4 and a_b_c and snake__case__name", ["2 * 3 * 4 and a_b_c and snake__case__name"]),
        ("`a*b*c` and ``x`y``", ["a*b*c and x`y"]),
        ("[docs](https://x.org/a)", ["docs (https://x.org/a)"]),
        ("[docs]\n\n[docs]: https://x.org/a\n\nSee [docs].", ["[docs]", "", "See docs (https://x.org/a)."]),
        ("![a cat](https://x.org/cat.png) here", ["a cat (https://x.org/cat.png) here"]),
        ("<div>shown</div> and [red]too[/red] :smile:", ["<div>shown</div> and [red]too[/red] :smile:"]),
        ("```py\n# no *heading*\n```\nafter", ["│ # no *heading*", "", "after"]),
        ("````\n```\n````", ["│ ```"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [" a  b", " ────", " 1  2"]),
        ("lines\nstay\nas written", ["lines", "stay", "as written"]),
        ("", []),
        ("\n\n", []),
        ("a\r\nb", ["a", "b"]),
        ("x" * 70, ["x" * 60, "x" * 10]),
    ],
)
def test_what_is_seen(written: str, seen: list[str]) -> None:
    assert rendered(written) == seen


def test_colours() -> None:
    assert rendered("**b** `c`", colours=True) == ["\x1b[1mb\x1b[0m \x1b[36mc\x1b[0m"]
    light = MarkdownStream(Renderer(lambda: 60, colours=True, theme="light"))
    assert [*light.feed("`c`"), *light.close()] == ["\x1b[34mc\x1b[0m"]
    assert rendered("# T", colours=True) == ["\x1b[1;4mT\x1b[0m"]
    assert rendered("[a](http://x.org)", colours=True)[0].startswith("\x1b[4ma\x1b[0m")


@given(st.text(st.sampled_from("ab#*`_-> \n[]()1.|:\x1b[31m"), max_size=80), st.data())
def test_pieces_change_nothing(text: str, data: st.DataObject) -> None:
    markdown = stream()
    lines: list[str] = []
    at = 0
    while at < len(text):
        size = data.draw(st.integers(1, 9))
        lines += markdown.feed(text[at : at + size])
        assert all("\n" not in row for row in markdown.partial)
        at += size
    assert [*lines, *markdown.close()] == rendered(text)


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_nothing_of_a_model_moves_the_cursor(text: str) -> None:
    for line in rendered(text, colours=True):
        assert re.search(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202e\u2066]", line) is None
        assert all(re.match(r"\x1b\[[0-9;]+m", code) for code in re.findall(r"\x1b.{0,8}", line))


def test_a_link_hides_no_address() -> None:
    (row,) = rendered("[https://bank.example](https://evil.example)", colours=True)
    assert "https://evil.example" in row
    assert "\x1b]8" not in row


def test_a_block_is_seen_while_it_is_written_and_printed_once() -> None:
    markdown = stream()
    assert markdown.feed("Hello **th") == []
    assert markdown.partial == ["Hello **th"]
    assert markdown.feed("ere**\nnext") == []
    assert markdown.partial == ["Hello there", "next"]
    assert markdown.feed("\n\n- one\n") == ["Hello there", "next"]
    assert markdown.partial == ["", " • one"]
    assert markdown.feed("- two\n") == []
    assert markdown.close() == ["", " • one", " • two"]


def test_a_long_answer_accepts_linear_time() -> None:
    """A list, a fence or a paragraph of hundreds of kilobytes, in pieces as a model sends them."""
    for piece in ("- an item of the list\n", "word and another word ", "[" * 20):
        markdown = stream()
        started = process_time()
        markdown.feed("```\n" if piece.startswith("-") else "")
        for _ in range(200_000 // len(piece)):
            markdown.feed(piece)
        assert len(markdown.partial) < 2000
        markdown.close()
        assert process_time() - started < 20


def test_a_diff_is_cut_and_harmless() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1,60 @@\n-old\n" + "".join(f"+line {n}\n" for n in range(60)) + "+\x1b[2Jgone\n"
    lines = diff_lines(diff, PLAIN)
    assert lines[:3] == ["  @@ -1 +1,60 @@", "  -old", "  +line 0"]
    assert lines[26:28] == ["  ⟦… 23 lines, 207 characters left out⟧", "  +line 47"]
    assert lines[-1] == "  +⟦\\x1b⟧[2Jgone"
    assert count_changes(diff) == "+61 −1"
    assert "\x1b" not in "".join(diff_lines(diff, PLAIN, most=100))


def test_a_diff_loses_only_the_two_lines_that_name_the_file() -> None:
    body = "@@ -1,2 +1,2 @@\n--- removed\n+++ added\n---- x\n++++ y\n"
    shown_lines = ["@@ -1,2 +1,2 @@", "--- removed", "+++ added", "---- x", "++++ y"]
    for diff in (f"--- a/f\n+++ b/f\n{body}", body):
        assert diff_lines(diff, PLAIN) == [f"  {line}" for line in shown_lines]
    assert count_changes(f"--- a/f\n+++ b/f\n{body}") == "+2 −2"
