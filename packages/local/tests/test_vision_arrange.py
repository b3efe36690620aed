"""Arranging loses nothing, positions only what overlaps, and gives elements their meaning."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald_local.arrange.nesting import nest
from heald_local.arrange.page import arrange
from heald_local.arrange.part import Part
from heald_local.page import Node, Page, walk_nodes
from heald_pictures.elements import Box, TextElement
from vision_pages import box, picture, seen, text

words = st.sampled_from(["Home", "Price list", "About us", "Read more", "42 items", "Contact the team"])
texts = st.builds(text, st.integers(0, 1000), st.integers(0, 700), words, st.sampled_from([12.0, 16.0, 28.0]))
boxes = st.builds(box, st.integers(0, 900), st.integers(0, 600), st.integers(20, 380), st.integers(20, 200))


def _leaf_parts(part: Part) -> list[Part]:
    return [leaf for child in part.children for leaf in _leaf_parts(child)] if part.children else [part]


def _lines_of(page: Page) -> list[str]:
    """Return all texts, without the spaces between pieces of a line."""
    nodes = walk_nodes(page.body)
    spoken = [line for node in nodes for line in node.lines if line.strip()]
    return spoken + [value for node in nodes for name, value in node.attributes if name == "placeholder"]


def _tags(page: Page) -> Counter[str]:
    return Counter(node.tag for node in walk_nodes(page.body))


def _find(page: Page, tag: str) -> list[Node]:
    return [node for node in walk_nodes(page.body) if node.tag == tag]


@settings(max_examples=scaled(120), deadline=None)
@given(st.lists(st.one_of(texts, boxes), min_size=1, max_size=14))
def test_every_text_is_on_the_page_exactly_once(parts: list[TextElement | Box]) -> None:
    texts = Counter(part.text for part in parts if isinstance(part, TextElement))
    page = seen(*parts)
    assert Counter(leaf.text.text for leaf in _leaf_parts(nest(page)) if leaf.text is not None) == texts
    assert Counter(_lines_of(arrange(page))) == texts


@settings(max_examples=scaled(80), deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(12, 60), st.integers(12, 60))
def test_a_grid_of_boxes_is_never_positioned(rows: int, columns: int, across: int, down: int) -> None:
    cells = [box(40 + x * (200 + across), 60 + y * (90 + down), 200, 90) for x in range(columns) for y in range(rows)]
    page = arrange(seen(*cells))
    assert not any(("grid-area", "1 / 1") in node.style for node in walk_nodes(page.body))
    if columns > 1:
        assert any(("display", "grid") in node.style for node in walk_nodes(page.body))


def test_what_overlaps_is_layered() -> None:
    page = arrange(seen(picture(100, 100, 200, 200, 1), picture(200, 180, 200, 200, 2)))
    assert sum(("grid-area", "1 / 1") in node.style for node in walk_nodes(page.body)) == 2
    assert not any(name == "position" for node in walk_nodes(page.body) for name, _ in node.style)


def test_a_page_has_header_navigation_main_footer_and_headings_in_order() -> None:
    page = arrange(
        seen(
            box(0, 0, 1280, 64, "#111827"),
            text(80, 22, "Northwind", 20, 700, "#ffffff"),
            *(
                text(800 + 110 * number, 24, name, 15, 400, "#ffffff")
                for number, name in enumerate(("Product", "Pricing", "Blog"))
            ),
            text(80, 140, "Ship your ideas in days", 44, 700),
            text(80, 220, "Plain words under the title that say a little more about it", 16),
            text(80, 300, "Plan together", 26, 700),
            text(80, 350, "More plain words, as long as a sentence usually is", 16),
            text(80, 420, "In small steps", 20, 700),
            text(80, 460, "And the last plain words of this little page", 16),
            box(0, 740, 1280, 60, "#f3f4f6"),
            text(80, 762, "© 2026 Northwind", 14),
        )
    )
    tags = _tags(page)
    assert tags["header"] == tags["nav"] == tags["main"] == tags["footer"] == tags["h1"] == 1
    assert tags["a"] == 4
    levels = [int(node.tag[1]) for node in walk_nodes(page.body) if node.tag in ("h1", "h2", "h3")]
    assert levels == [1, 2, 3]


def test_controls_are_recognised_and_named() -> None:
    page = arrange(
        seen(
            text(100, 60, "Sign in", 30, 700),
            text(100, 120, "Email", 14),
            box(100, 142, 320, 44, "#ffffff", border=True, radius=6),
            text(114, 155, "you@example.com", 15, 400, "#6b7280"),
            box(100, 210, 320, 46, "#2563eb", radius=8),
            text(236, 224, "Sign in", 15, 700, "#ffffff"),
        )
    )
    [field], [label], [button] = _find(page, "input"), _find(page, "label"), _find(page, "button")
    assert dict(field.attributes)["type"] == "email"
    assert dict(label.attributes)["for"] == dict(field.attributes)["id"]
    assert button.lines == ("Sign in",)
    assert not button.children


def test_a_field_may_be_nearly_full_of_its_placeholder() -> None:
    words = text(114, 155, "A room above the river", 15, 400, "#6b7280")
    for room, tag in ((30, "input"), (14, "button")):
        frame = box(100, 142, words.rect.w + 14 + room, 44, "#ffffff", border=True, radius=6)
        page = arrange(seen(text(100, 60, "Stay", 30, 700), frame, words))
        assert [node.tag for node in walk_nodes(page.body) if node.tag in ("input", "button")] == [tag]


def test_three_of_a_kind_are_a_list() -> None:
    page = arrange(
        seen(*(text(100, 100 + 40 * number, name) for number, name in enumerate(("Apples", "Pears", "Plums"))))
    )
    assert _tags(page)["ul"] == 1
    assert _tags(page)["li"] == 3


def test_a_centred_column_keeps_its_width_on_wider_screens() -> None:
    page = arrange(seen(box(0, 0, 1280, 200), text(140, 80, "Left"), text(1100, 80, "Right")))
    assert any("calc(50% - " in value for node in walk_nodes(page.body) for _, value in node.style)
