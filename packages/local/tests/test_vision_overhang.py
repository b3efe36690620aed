"""What lies over the edge of a photograph or a band keeps its text, and flows."""

from heald_local.arrange.nesting import nest
from heald_local.arrange.page import arrange
from heald_local.arrange.part import Part
from heald_local.page import walk_nodes
from vision_pages import box, picture, seen, text


def _kinds(part: Part) -> set[str]:
    return {part.kind}.union(*(_kinds(child) for child in part.children))


def _holding(part: Part, words: str) -> list[Part]:
    """The parts around a text, outermost first."""
    if part.text is not None:
        return [part] if part.text.text == words else []
    for child in part.children:
        inner = _holding(child, words)
        if inner:
            return [part, *inner]
    return []


def test_a_card_over_the_lower_edge_of_a_photograph_is_drawn_up() -> None:
    page = seen(
        picture(0, 60, 1280, 400), box(80, 360, 500, 200, "#ffffff"), text(120, 400, "Homes that last", 32, 700),
        text(40, 640, "Clear plans"),
    )  # fmt: skip
    assert "layers" not in _kinds(nest(page))
    styles = [dict(node.style) for node in walk_nodes(arrange(page).body)]
    assert any(style.get("margin-top") == "-100px" for style in styles)


def test_cards_over_the_edge_of_a_band_keep_their_text() -> None:
    band = box(0, 60, 1280, 260, "#1e3a8a")
    cards = [box(x, 240, 360, 180, "#ffffff") for x in (80, 460, 840)]
    words = [text(x + 30, 270, name, 20, 700) for x, name in ((80, "Small"), (460, "Family"), (840, "Farm"))]
    title = text(80, 120, "Plans for every household", 32, 700, "#ffffff")
    root = nest(seen(band, *cards, *words, title))
    for card, name in zip(cards, ("Small", "Family", "Farm"), strict=True):
        assert [part.box for part in _holding(root, name) if part.box is not None] == [card]
    assert [part.box for part in _holding(root, "Plans for every household") if part.box is not None] == [band]


def test_what_lies_wholly_on_a_photograph_is_a_layer_still() -> None:
    page = seen(picture(0, 60, 1280, 400), box(80, 160, 500, 200, "#ffffff"), text(120, 200, "Homes that last", 32))
    assert "layers" in _kinds(nest(page))
