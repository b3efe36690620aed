"""The comparison of two checkouts by `benchmarks.check`."""

import pytest
from benchmarks.check import compare


@pytest.mark.parametrize(
    ("earlier", "now", "is_worse"),
    [
        ([1.0, 1.0, 1.0], [1.2, 1.2, 1.2], True),
        ([1.0, 1.0, 1.0], [1.05, 1.05, 1.05], False),
        ([1.0, 1.0, 1.0], [1.0, 3.0, 3.0], False),  # one round was undisturbed
        ([1.0, 2.0, 2.0], [1.5, 2.0, 2.0], False),  # only the best round differs
    ],
)
def test_a_row_is_worse_if_its_best_and_its_middle_round_are(
    earlier: list[float], now: list[float], is_worse: bool
) -> None:
    assert compare(earlier, now, "heald", "chat", "text-1000").is_worse is is_worse
