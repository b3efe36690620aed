"""Connected regions against a plain flood fill."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heald_pictures.regions import Mask, Pixels, distance_between, label_colours, label_islands

masks = arrays(np.bool_, st.tuples(st.integers(2, 14), st.integers(2, 14)))
pictures = arrays(np.uint8, st.tuples(st.integers(2, 9), st.integers(2, 9), st.just(3)), elements=st.integers(0, 6))


def _flood(mask: Mask) -> list[set[tuple[int, int]]]:
    """Islands with diagonal neighbours, the slow way."""
    left = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    islands: list[set[tuple[int, int]]] = []
    while left:
        edge = [left.pop()]
        island = set(edge)
        while edge:
            y, x = edge.pop()
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near
            island |= near
            edge += near
        islands.append(island)
    return islands


@given(masks)
def test_islands_are_what_a_flood_fill_finds(mask: Mask) -> None:
    regions = label_islands(mask)
    expected = {frozenset(island) for island in _flood(mask)}
    numbers = range(1, len(regions.area))
    labelled = {frozenset((int(y), int(x)) for y, x in np.argwhere(regions.labels == number)) for number in numbers}
    assert labelled == expected


@given(masks)
def test_area_and_edges_are_those_of_the_pixels(mask: Mask) -> None:
    regions = label_islands(mask)
    for number in range(1, len(regions.area)):
        rows, columns = np.nonzero(regions.labels == number)
        assert regions.area[number] == len(rows)
        assert list(regions.edges[number]) == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert regions.mask(number).sum() == len(rows)


@given(pictures, st.integers(0, 3))
def test_neighbours_of_like_colour_share_a_region(pixels: Pixels, slack: int) -> None:
    labels = label_colours(pixels, slack).labels
    values = pixels.astype(int)
    for axis in (0, 1):
        near = np.abs(np.diff(values, axis=axis)).max(axis=2) <= slack
        same = np.diff(labels, axis=axis) == 0
        assert (same | ~near).all()


def test_two_areas_of_one_colour_that_do_not_touch_are_two() -> None:
    pixels = np.zeros((3, 5, 3), np.uint8)
    pixels[:, 2] = 200
    assert len(label_colours(pixels, 2).area) == 3


@given(arrays(np.uint8, (2, 5, 4, 3)))
def test_a_distance_is_the_largest_difference_of_a_channel(both: Pixels) -> None:
    first, second = both
    differences = np.abs(first.astype(np.int16) - second)
    assert (distance_between(first, second) == differences.max(axis=2)).all()
    assert (distance_between(first, second[0, 0]) == np.abs(first.astype(np.int16) - second[0, 0]).max(axis=2)).all()
