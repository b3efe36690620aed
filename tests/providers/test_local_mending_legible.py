"""Mending a colour must not make a text that nobody can read."""

from weft.providers.local.mending import mended
from weft.vision.colours import contrast
from weft.vision.page import Node, Page, walk
from weft.vision.seen import Seen


def _page(colour: str) -> Page:
    row = Node(
        "div", "row", (("background", "#e2e8f0"),), children=(Node("p", "text", (("color", colour),), lines=("9:41",)),)
    )
    seen = Seen(400, 300, 1, False, "#ffffff", (), (), (), ())
    return Page("Mail", "en", 400, 300, (("background", "#ffffff"),), (row,), (), seen)


def test_a_colour_is_mended_as_far_as_it_can_be_read() -> None:
    better = mended(_page("#202124"), "“9:41” is #202124 instead of #707579.", "fidelity")
    assert better is not None
    (colour,) = [dict(node.style)["color"] for node in walk(better.body) if node.lines]
    assert colour != "#202124"
    assert contrast(colour, "#e2e8f0") >= 4.5


def test_a_page_that_is_as_near_as_it_may_be_is_not_mended_again() -> None:
    once = mended(_page("#202124"), "“9:41” is #202124 instead of #707579.", "fidelity")
    assert once is not None
    assert mended(once, "“9:41” is #5a5e62 instead of #707579.", "fidelity") is None
