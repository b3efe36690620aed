"""Rectangles: hulls, common areas, and the part on a page."""

from hypothesis import given
from hypothesis import strategies as st

from heald_pictures.rect import Rect, hull, spanning

sides = st.integers(0, 500)
rects = st.builds(Rect, sides, sides, st.integers(1, 200), st.integers(1, 200))


@given(st.lists(rects, min_size=1, max_size=10))
def test_a_hull_holds_all(many: list[Rect]) -> None:
    around = hull(many)
    assert all(around.holds(rect) for rect in many)


@given(rects, rects)
def test_common_area_is_mutual_and_no_larger_than_either(first: Rect, second: Rect) -> None:
    assert first.common(second) == second.common(first)
    assert first.common(second) <= min(first.area, second.area)


@given(rects, sides, sides)
def test_within_a_page_nothing_sticks_out(rect: Rect, width: int, height: int) -> None:
    inside = rect.within(width, height)
    assert inside.x >= 0
    assert inside.y >= 0
    assert inside.right <= width
    assert inside.bottom <= height


def test_a_rectangle_is_made_from_its_edges() -> None:
    assert spanning((1, 2, 4, 8)) == Rect(1, 2, 3, 6)
