"""Cuts: nothing is lost, groups are in order and do not overlap."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from heald_local.spans import cut, is_even
from heald_pictures.rect import Rect

sides = st.integers(0, 500)
rects = st.builds(Rect, sides, sides, st.integers(1, 200), st.integers(1, 200))


def _span(rect: Rect) -> tuple[float, float]:
    return rect.y, rect.bottom


@given(st.lists(rects, min_size=1, max_size=30))
def test_a_cut_loses_nothing_and_repeats_nothing(many: list[Rect]) -> None:
    groups = cut(many, _span)
    assert sorted(map(repr, (rect for group in groups for rect in group))) == sorted(map(repr, many))
    assert all(groups)


@given(st.lists(rects, min_size=1, max_size=30))
def test_groups_follow_each_other_and_barely_touch(many: list[Rect]) -> None:
    groups = cut(many, _span)
    for upper, lower in itertools.pairwise(groups):
        assert min(rect.y for rect in lower) >= max(rect.bottom for rect in upper) - 1


@given(st.lists(rects, min_size=2, max_size=20))
def test_what_is_in_one_group_hangs_together(many: list[Rect]) -> None:
    for group in cut(many, _span):
        ordered = sorted(group, key=lambda rect: rect.y)
        reach = ordered[0].bottom
        for rect in ordered[1:]:
            assert rect.y < reach - 1
            reach = max(reach, rect.bottom)


def test_evenness() -> None:
    assert is_even([], 1)
    assert is_even([3, 5], 1)
    assert not is_even([3, 5.1], 1)
