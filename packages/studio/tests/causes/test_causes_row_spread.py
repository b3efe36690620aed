"""A line of a picture is divided among its words at the gaps between its letters."""

from heald_pictures.rect import Rect
from heald_studio.causes.ink_gaps import InkGap
from heald_studio.causes.row_spread import RowWord, spread_row

LINE = Rect(100, 50, 200, 20)


def edges(gaps: list[InkGap], words: list[RowWord]) -> list[tuple[float, float]]:
    return [(round(place.x, 1), round(place.right, 1)) for place in spread_row(LINE, gaps, words)]


def test_without_gaps_the_words_are_as_wide_as_on_the_page() -> None:
    assert edges([], [RowWord(45, 10), RowWord(45, 0)]) == [(100, 190), (210, 300)]


def test_words_end_at_the_widest_gaps_though_letters_have_gaps_too() -> None:
    gaps = [InkGap(130, 132), InkGap(176, 184), InkGap(240, 242)]
    assert edges(gaps, [RowWord(45, 10), RowWord(45, 0)]) == [(100, 176.8), (183.2, 300)]


def test_a_gap_that_is_far_from_the_space_is_not_used() -> None:
    assert edges([InkGap(120, 128)], [RowWord(45, 10), RowWord(45, 0)]) == [(100, 190), (210, 300)]


def test_too_few_gaps_for_the_spaces_are_not_used() -> None:
    words = [RowWord(30, 10), RowWord(40, 10), RowWord(30, 0)]
    assert edges([InkGap(150, 158)], words) == edges([], words)


def test_a_word_that_follows_without_a_space_begins_at_the_nearest_gap_between_letters() -> None:
    gaps = [InkGap(160, 161), InkGap(291, 293)]
    assert edges(gaps, [RowWord(95, 0), RowWord(5, 0)]) == [(100, 291.8), (292.2, 300)]
    assert edges(gaps, [RowWord(50, 0), RowWord(50, 0)]) == [(100, 200), (200, 300)]
