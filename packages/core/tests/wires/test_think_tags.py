from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.wires.think_tags import ThinkTags


def split(pieces: list[str]) -> tuple[str, str]:
    """Thinking and text, joined."""
    tags = ThinkTags()
    split_parts = [part for piece in pieces for part in tags.feed(piece)] + tags.close()
    assert all(text for _, text in split_parts), "no empty pieces"
    return "".join(t for kind, t in split_parts if kind == "thinking"), "".join(
        t for kind, t in split_parts if kind == "text"
    )


@pytest.mark.parametrize(
    ("text", "thinking", "said"),
    [
        ("<think>why</think>so", "why", "so"),
        ("\n <think>why</think>\n\nso", "why", "so"),
        ("<think></think>so", "", "so"),
        ("<think>unclosed", "unclosed", ""),
        ("<think>ends in </thi", "ends in </thi", ""),
        ("<think>a < b </b></think>so", "a < b </b>", "so"),
        ("no tags", "", "no tags"),
        ("  indented", "", "  indented"),
        ("later <think>is text</think>", "", "later <think>is text</think>"),
        ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("<thin air", "", "<thin air"),
        ("<thin", "", "<thin"),
        ("", "", ""),
    ],
)
def test_thinking_is_removed_from_the_text(text: str, thinking: str, said: str) -> None:
    assert split([text]) == (thinking, said)
    assert split(list(text)) == (thinking, said)


@settings(max_examples=scaled(200))
@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "think", ">", " ", "\n", "x", "ä"]), max_size=10),
    st.lists(st.integers(0, 60), max_size=6),
)
@example(["<think>", "x", "</think>", "\n", "x"], [16])
def test_any_cut_gives_the_same(tokens: list[str], places: list[int]) -> None:
    text = "".join(tokens)
    cuts = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    assert split([text[a:b] for a, b in pairwise(cuts)]) == split([text])


def test_text_is_not_held_back_once_it_is_text() -> None:
    tags = ThinkTags()
    assert tags.feed("a<") == [("text", "a<")]
    assert tags.feed("/think") == [("text", "/think")]


def test_thinking_streams_while_it_arrives() -> None:
    tags = ThinkTags()
    assert tags.feed("<thi") == []
    assert tags.feed("nk>one") == [("thinking", "one")]
    assert tags.feed(" two</th") == [("thinking", " two")]
    assert tags.feed("ink>\nso") == [("text", "so")]
