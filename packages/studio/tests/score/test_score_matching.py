"""The parts of the score, each held against its definition."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald_studio.browser.page import TextBlock
from heald_studio.score.assignment import assign_pairs
from heald_studio.score.blocks import Block, find_blocks
from heald_studio.score.colour_distance import colour_distance, delta_e
from heald_studio.score.matching import match_blocks, nearness
from heald_studio.score.ssim import ssim_map
from heald_studio.score.text_similarity import LIKENESS, normalise_text, text_similarity

weights = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), st.floats(0.01, 1, allow_nan=False), max_size=14
)
words = st.text("abc dé漢", min_size=1, max_size=12).map(normalise_text).filter(bool)
blocks = st.lists(
    st.builds(
        Block,
        words,
        st.floats(0, 700),
        st.floats(0, 500),
        st.floats(5, 100),
        st.floats(8, 30),
        st.tuples(*[st.integers(0, 255)] * 3),
    ),
    max_size=8,
)
SIZE = (800, 600)


def best(edges: dict[tuple[int, int], float]) -> float:
    """The largest sum there is, by trying everything."""
    return max(
        sum(edges.get((row, column), 0.0) for row, column in enumerate(order)) for order in permutations(range(5))
    )


@given(weights)
@settings(max_examples=scaled(150), deadline=None)
def test_the_assignment_is_the_best_there_is(edges: dict[tuple[int, int], float]) -> None:
    chosen = assign_pairs(edges)
    assert len(set(chosen.values())) == len(chosen)
    assert all((row, column) in edges for row, column in chosen.items())
    assert sum(edges[pair] for pair in chosen.items()) == pytest.approx(best(edges))


def test_a_large_assignment() -> None:
    numbers = np.random.default_rng(7).random((60, 80))
    edges = {(i, j): float(numbers[i, j]) for i in range(60) for j in range(80)}
    chosen = assign_pairs(edges)
    assert len(chosen) == 60
    greedy = sum(numbers.max(axis=1))
    assert sum(edges[pair] for pair in chosen.items()) <= greedy
    for i, k in [(0, 1), (5, 50), (20, 33)]:
        total = edges[i, chosen[i]] + edges[k, chosen[k]]
        assert total >= edges[i, chosen[k]] + edges[k, chosen[i]] - 1e-9, "no swap is better"


@given(words, words)
@settings(deadline=None)
def test_likeness_of_texts(text: str, other: str) -> None:
    likeness = text_similarity(text, other)
    assert likeness == text_similarity(other, text)
    assert likeness == 0.0 or LIKENESS <= likeness <= 1.0
    assert (likeness == 1.0) == (text == other)


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [("Sign in", "Sign in", 1.0), ("Sign in", "Sign up", 10 / 14), ("abcd", "abxd", 6 / 8), ("Menu", "Basket", 0.0)],
)
def test_likeness_by_hand(text: str, other: str, expected: float) -> None:
    assert text_similarity(text, other) == pytest.approx(expected)


@given(blocks)
@settings(max_examples=scaled(60), deadline=None)
def test_blocks_match_themselves(page: list[Block]) -> None:
    matching = match_blocks(page, page, SIZE, SIZE)
    assert not matching.missing
    assert not matching.extra
    assert all(pair.text == 1.0 for pair in matching.pairs)


@given(blocks, blocks)
@settings(max_examples=scaled(60), deadline=None)
def test_no_text_is_lost_or_doubled(target: list[Block], other: list[Block]) -> None:
    matching = match_blocks(target, other, SIZE, SIZE)

    def letters(several: list[str]) -> list[str]:
        return sorted("".join(several).replace(" ", ""))

    mine = [pair.target.text for pair in matching.pairs] + [block.text for block in matching.missing]
    yours = [pair.rendered.text for pair in matching.pairs] + [block.text for block in matching.extra]
    assert letters(mine) == letters([block.text for block in target])
    assert letters(yours) == letters([block.text for block in other])
    assert all(LIKENESS <= pair.text <= 1 and 0 <= pair.position <= 1 for pair in matching.pairs)


def test_nearness_is_the_larger_of_the_two_distances() -> None:
    block, distant = Block("a", 0, 0, 80, 60, (0, 0, 0)), Block("a", 80, 180, 80, 60, (0, 0, 0))
    assert nearness(block, distant, SIZE, SIZE) == pytest.approx(0.7)
    assert nearness(block, block, SIZE, (1600, 1200)) == pytest.approx(1 - 0.025)


# Pairs of colours published with the formula (Sharma, Wu, Dalal 2005, table 1), and what it must give for them.
SHARMA = [
    ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
    ((50.0, 3.1571, -77.2803), (50.0, 0.0, -82.7485), 2.8615),
    ((50.0, 2.8361, -74.0200), (50.0, 0.0, -82.7485), 3.4412),
    ((50.0, -1.3802, -84.2814), (50.0, 0.0, -82.7485), 1.0000),
    ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
    ((50.0, 2.4900, -0.0010), (50.0, -2.4900, 0.0009), 7.1792),
    ((50.0, 2.4900, -0.0010), (50.0, -2.4900, 0.0011), 7.2195),
    ((50.0, -0.0010, 2.4900), (50.0, 0.0009, -2.4900), 4.8045),
    ((50.0, 2.5, 0.0), (50.0, 0.0, -2.5), 4.3065),
    ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ((50.0, 2.5, 0.0), (61.0, -5.0, 29.0), 22.8977),
    ((50.0, 2.5, 0.0), (56.0, -27.0, -3.0), 31.9030),
    ((50.0, 2.5, 0.0), (58.0, 24.0, 15.0), 19.4535),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
]


@pytest.mark.parametrize(("colour", "other", "expected"), SHARMA)
def test_ciede2000_as_published(
    colour: tuple[float, float, float], other: tuple[float, float, float], expected: float
) -> None:
    assert delta_e(colour, other) == pytest.approx(expected, abs=1e-4)
    assert delta_e(other, colour) == pytest.approx(expected, abs=1e-4)


def test_black_and_white_are_as_far_as_it_goes() -> None:
    assert colour_distance((0, 0, 0), (255, 255, 255)) == pytest.approx(100, abs=1e-3)
    assert colour_distance((12, 34, 56), (12, 34, 56)) == 0.0


def test_ssim_by_its_definition() -> None:
    """One window worked out in full."""
    numbers = np.random.default_rng(3)
    first, second = (numbers.integers(0, 256, (21, 30, 3)).astype(np.uint8) for _ in range(2))
    x, y = (picture[7:14, 11:18].astype(float) for picture in (first, second))
    expected = 0.0
    for channel in range(3):
        a, b = x[..., channel], y[..., channel]
        both = ((a - a.mean()) * (b - b.mean())).mean()
        c1, c2 = 6.5025, 58.5225
        above = (2 * a.mean() * b.mean() + c1) * (2 * both + c2)
        expected += above / ((a.mean() ** 2 + b.mean() ** 2 + c1) * (a.var() + b.var() + c2)) / 3
    assert ssim_map(first, second)[10, 14] == pytest.approx(expected, abs=1e-6)  # single precision
    assert (ssim_map(first, first) == 1.0).all()


def test_words_of_a_row_are_one_text_whatever_elements_they_are() -> None:
    rows = [["Ability", "Adapt", "Answer"], ["Begin", "Believe", "Borg"]]
    words = [
        TextBlock(word, 20 + 70 * column, 20 + 26 * row, 60, 21, (51, 51, 51))
        for row, line in enumerate(rows)
        for column, word in enumerate(line)
    ]
    lines = [TextBlock(" ".join(line), 20, 20 + 26 * row, 200, 21, (51, 51, 51)) for row, line in enumerate(rows)]
    pixels = np.indices((120, 300)).sum(axis=0).astype(np.uint8)[..., None].repeat(3, axis=2)
    assert [block.text for block in find_blocks(words, pixels)] == [block.text for block in find_blocks(lines, pixels)]
    apart = [TextBlock("Home", 20, 20, 40, 21, (51, 51, 51)), TextBlock("About", 90, 20, 40, 21, (51, 51, 51))]
    assert len(find_blocks(apart, pixels)) == 2
