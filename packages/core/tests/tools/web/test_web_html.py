"""Pages as text. Any page is read in time linear in its length."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.markup import EndTag, StartTag, TextToken, scan_html
from heald.tools.web.html_text import html_to_text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>A <b>B</b></h1><h3>C</h3>", "# A B\n\n### C"),
        ("<p>one<p>two<br>three", "one\n\ntwo\nthree"),
        ("a   b\n\tc", "a b c"),
        ("<a href='/x?a=1&amp;b=2'>in <i>it</i></a>, more", "[in it](http://h/x?a=1&b=2), more"),
        ("see <a href=y.html>y</a>", "see [y](http://h/d/y.html)"),
        ('<a href="javascript:x">j</a> <a href="#top">t</a> <a>n</a> <a href="/e"> </a>', "j t n"),
        ("<ul><li>a<li>b<ol><li>c</li><li>d</ol></ul>", "- a\n- b\n  1. c\n  2. d"),
        ("<pre>\ndef f():\n    pass\n</pre>", "```\ndef f():\n    pass\n```"),
        ("run <code>x = 1</code>", "run `x = 1`"),
        ("<table><tr><th>a<th>b<tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"),
        ("<img alt='a cat' src=x><img src=y>", "[image: a cat]"),
        ("<blockquote>wise</blockquote>", "> wise"),
        ("a<script>evil('<p>')</script>b<style>p{}</style>c<svg><text>no</text></svg>d", "abcd"),
        ("a<template><p>no</p></template>b<!-- no -->c<?php no ?>d", "abcd"),
        ("<div class='a''>shown</div>", "shown"),
        ("1 < 2 &lt; 3 &amp; 4 &#x1F600; &nbsp;x", "1 < 2 < 3 & 4 😀 x"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<script>never closed <p>no</p>", ""),
        ("text <a href='never closed", "text"),
        ("<p></p><div> </div>", ""),
        ("</p></ul></pre></table></a></svg>x", "x"),
    ],
)
def test_text_of_a_page(html: str, text: str) -> None:
    assert html_to_text(html, "http://h/d/p")[1] == text


def test_the_title() -> None:
    assert html_to_text("<head><title> A &amp;\n <b>B </title></head>x") == ("A & <b>B", "x")


def test_it_stops_behind_the_limit() -> None:
    _, text = html_to_text("<p>word " * 100_000, limit=1000)
    assert 1000 <= len(text) < 3000


def test_tokens() -> None:
    html = "<A HREF=x data-Y='1' b>t</a ><br/><textarea><p>&lt;</textarea>"
    tokens: list[object] = []
    for token in scan_html(html):
        match token:
            case StartTag(name, attributes):
                tokens.append((name, attributes))
            case TextToken(text):
                tokens.append(text)
            case EndTag(name):
                tokens.append(f"/{name}")
    assert tokens == [
        ("a", {"href": "x", "data-y": "1", "b": None}),
        *("t", "/a", ("br", {}), ("textarea", {}), "<p><", "/textarea"),
    ]


HOSTILE = [
    "<",
    "<!",
    "</",
    "<a ",
    "<!--",
    "<a b='",
    '<a b="x>" \'',
    " x",
    "<?",
    "<script>",
    "</scrip",
    "&",
    "&#",
    "<a =",
]


@pytest.mark.parametrize(
    "piece", [*HOSTILE, "<b>", "<ul><li>", "<pre>a", "<svg>", "<a href=x>y</a>", " ", "`|", "<title>"]
)
def test_a_hostile_page_of_four_times_the_length_takes_about_four_times_as_long(piece: str) -> None:
    """By processor time, in which nothing else on the machine counts. Sixteen times would be the square."""
    for _ in range(3):
        whole = _measure(piece, 120_000)
        if whole < NOTHING or whole < 9 * _measure(piece, 30_000):
            return
    pytest.fail(f"a page of {piece!r} takes more than its length")


NOTHING = 0.03
"""Seconds that tell nothing of how they grow."""


def _measure(piece: str, length: int) -> float:
    """The seconds for a page of one piece, inside of a tag and outside."""
    html = "<a " + piece * (length // len(piece))
    start = time.thread_time()
    html_to_text(html, "http://h/")
    html_to_text(html[3:], "http://h/")
    return time.thread_time() - start


@settings(max_examples=scaled(300))
@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from([*HOSTILE, ">", "x", "<li>", "</ul>", "<td>", "</a>", "'"])).map("".join)
    )
)
def test_any_text_is_a_page(html: str) -> None:
    title, text = html_to_text(html, "http://h/")
    assert "<script" not in title
    assert text == text.strip()
    list(scan_html(html))


@given(st.text(alphabet=st.characters(exclude_characters="<&\0"), min_size=1))
def test_plain_text_keeps_its_words(text: str) -> None:
    words = "".join(html_to_text(text)[1].split())
    assert words in ("".join(text.split()), "")
