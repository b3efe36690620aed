"""Code that a person keeps: classes instead of places, centred columns, few distances and greys, parts that repeat."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald_local.arrange.greys import MOST_GREYS, greys_of
from heald_local.arrange.page import arrange
from heald_local.arrange.spacing import MOST_STEPS, choose_steps, keep_to_scale
from heald_local.page import Node, Page, walk_nodes
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, Detection, PictureElement, TextElement
from vision_pages import box, picture, seen, text

Seen = TextElement | Box | PictureElement
LONG = "A sentence with more words than a title has, which goes on to the end of its line and says little."
PLACES = re.compile(r":(?:nth|first|last|only)-| > | \+ | ~ ")


def _html(detection: Detection, stack: str = "html_css") -> str:
    return str(write_files(arrange(detection), stack)["index.html"])


def _css(html: str) -> str:
    return html.partition("<style>")[2].partition("</style>")[0]


def _news() -> Detection:
    """A menu, a title, lines between articles, a bar, a grey area, and cards."""
    parts: list[Seen] = [text(112, 24, "Harbour", 20, 700)]
    parts += [text(600 + 110 * at, 27, name, 15) for at, name in enumerate(("Home", "News", "Contact"))]
    parts += [box(0, 70, 1280, 12, "#0b2545"), text(112, 120, "News of the week", 40, 400)]
    for at in range(4):
        top = 200 + 110 * at
        parts += [text(112, top, f"Boat number {at}", 20, 700), text(112, top + 36, LONG, 16)]
        parts.append(box(112, top + 80, 1056, 1, "#dddddd"))
    parts += [box(112, 660, 300, 180, "#eeeeee"), text(440, 700, "A place for a picture", 16)]
    for x in (112, 472, 832):
        parts += [box(x, 900, 336, 150, "#eef2ff", radius=8), text(x + 24, 924, f"Card {x}", 18, 700)]
        parts.append(text(x + 24, 964, f"Words on it {x}", 14))
    return seen(*parts, height=1100)


@pytest.mark.parametrize("stack", ["html_css", "bootstrap"])
def test_no_selector_depends_on_the_place_of_an_element(stack: str) -> None:
    css = _css(_html(_news(), stack))
    assert css
    selectors = [rule.partition("{")[0] for rule in re.findall(r"^ *[^@}\n][^{}\n]*\{", css, re.M)]
    assert [selector for selector in selectors if PLACES.search(selector) or "#" in selector] == []


def test_every_element_with_a_style_has_a_class() -> None:
    page = arrange(_news())
    html = str(write_files(page)["index.html"]).partition("<body>")[2]
    bare = re.findall(r"<(?!/|path|rect|g\b|use)(\w+)(?![^>]* class=)", html)
    unstyled = [node.tag for node in walk_nodes(page.body) if node.tag and not node.style]
    assert len(bare) <= len(unstyled)


def test_a_heading_of_normal_weight_is_not_bold() -> None:
    for stack in ("html_css", "bootstrap"):
        html = _html(_news(), stack)
        assert re.search(r"<h1[^>]*>News of the week</h1>", html)
        assert "h1, h2, h3 { font-weight: inherit; }" in html


def test_lines_and_areas_are_no_empty_elements() -> None:
    html = _html(_news())
    empty = re.findall(r"<(\w+)[^>]*>\s*</\1>", html.partition("<body>")[2])
    assert [tag for tag in empty if tag not in ("path", "rect")] == []
    assert html.count("<hr ") == 5
    assert re.search(r'<svg[^>]* aria-hidden="true">\s*<rect ', html)


def test_columns_are_centred_and_not_pushed() -> None:
    css = _css(_html(_news()))
    assert css.count("margin-inline: auto") >= 1
    assert not re.search(r"margin[^;]*vw", css)
    assert "calc(50%" not in css


def test_what_reaches_the_edges_stays_as_wide_as_the_page() -> None:
    band = [box(0, 300, 1280, 120, "#0b2545"), text(160, 350, "A band", 24, 700, "#ffffff")]
    lines = [text(160, 100 + 30 * at, f"Line {at} above", 16) for at in range(3)]
    page = arrange(seen(*lines, *band, text(160, 500, "Below the band", 16), text(160, 540, LONG, 16)))
    nodes = walk_nodes(page.body)
    containers = [node for node in nodes if node.name == "container"]
    assert len(containers) == 2
    assert all(("margin-inline", "auto") in node.style for node in containers)
    (painted,) = [node for node in nodes if ("background", "#0b2545") in node.style]
    assert "width" not in dict(painted.style)


@settings(max_examples=scaled(120), deadline=None)
@given(st.lists(st.floats(2, 90), min_size=1, max_size=40))
def test_a_scale_has_few_steps_that_differ(distances: list[float]) -> None:
    steps = choose_steps(distances)
    assert 0 < len(steps) <= MOST_STEPS
    assert all(upper - lower >= 1 for lower, upper in pairwise(steps))


@settings(max_examples=scaled(120), deadline=None)
@given(st.lists(st.integers(6, 60), min_size=2, max_size=30))
def test_nothing_drifts_down_the_page(margins: list[int]) -> None:
    lines = tuple(Node("p", "text", (("margin-top", f"{value}px"),), lines=("Words",)) for value in margins)
    stack = Node("div", "stack", (("display", "flex"), ("flex-direction", "column")), children=lines)
    (scaled,) = keep_to_scale((stack,))
    after = [float(dict(node.style).get("margin-top", "0px").removesuffix("px")) for node in scaled.children]
    moved = [sum(after[: at + 1]) - sum(margins[: at + 1]) for at in range(len(margins))]
    assert max(abs(offset) for offset in moved) <= 3.5


def test_large_distances_are_smaller_on_narrow_screens() -> None:
    page = arrange(seen(text(112, 100, "Above", 30, 700), text(112, 300, LONG, 16)))
    paragraph = next(node for node in walk_nodes(page.body) if node.lines == (LONG,))
    wide, narrow = dict(paragraph.style)["margin-top"], dict(paragraph.narrow)["margin-top"]
    assert float(narrow[:-2]) < 0.6 * float(wide[:-2])


def test_greys_are_few_and_a_panel_keeps_its_own() -> None:
    shades = [f"#{level:02x}{level:02x}{level + 1:02x}" for level in range(0x30, 0x80, 6)]
    parts: list[Seen] = [box(80, 40, 900, 700, "#f5f5f5"), box(100, 60, 860, 100, "#fafafa")]
    parts += [text(120, 200 + 40 * at, f"Line {at} of many", 16, 400, shade) for at, shade in enumerate(shades)]
    page = replace_background(seen(*parts, text(120, 100, "On the panel", 16)), "#f0f0f0")
    styles = [node.style for node in walk_nodes(page.body)]
    assert len(greys_of(styles)) <= MOST_GREYS
    assert {"#f5f5f5", "#fafafa"} <= greys_of(styles)


def replace_background(detection: Detection, colour: str) -> Page:
    return arrange(replace(detection, background=colour))


def _uneven_cards() -> Detection:
    parts: list[Seen] = [text(80, 120, "Everything that floats", 48, 700)]
    looks = ((80, 18.6, 0, "#333333"), (460, 19.0, 1, "#353535"), (840, 18.8, 0, "#313131"))
    for name, (x, size, down, colour) in zip("abc", looks, strict=True):
        parts += [
            box(x, 300, 340, 140, "#e0e7ff", radius=8),
            text(x + 24, 324 + down, f"Rope {name}", size, 700, colour),
        ]
        parts.append(text(x + 24, 372, f"Good for {name} ships", 15 - 0.2 * (x > 800), 400, "#555555"))
    return seen(*parts)


def test_cards_that_seem_to_differ_are_one_component() -> None:
    react = _html(_uneven_cards(), "react_tailwind")
    assert react.count("function Card(") == 1
    assert react.count("<article ") == 1
    vue = _html(_uneven_cards(), "vue_tailwind")
    assert vue.count('v-for="(each, at) in cards"') == 1
    sheet = _html(_uneven_cards())
    assert sheet.count('<article class="card">') == 3
    assert len(set(re.findall(r'<h2 class="([^"]+)">Rope', sheet))) == 1


def test_equal_headings_have_one_level_and_the_title_is_in_no_card() -> None:
    html = _html(_uneven_cards())
    assert re.search(r"<h1[^>]*>Everything that floats</h1>", html)
    assert len(re.findall(r"<h2[^>]*>Rope \w</h2>", html)) == 3


def test_first_and_last_paragraphs_are_no_header_and_footer() -> None:
    lines = [text(80, 40 + 60 * at, LONG, 16) for at in range(5)]
    html = _html(seen(*lines, height=340))
    assert "<header" not in html
    assert "<footer" not in html


def test_a_short_line_above_a_paragraph_is_a_heading() -> None:
    parts: list[Seen] = [text(80, 40, "A page about boats", 34, 700)]
    for at, name in enumerate(("Ropes", "Anchors")):
        parts += [text(80, 140 + 160 * at, name, 16, 700), text(80, 168 + 160 * at, LONG, 16)]
    html = _html(seen(*parts))
    assert re.findall(r"<h[23][^>]*>(\w+)</h[23]>", html) == ["Ropes", "Anchors"]


def test_a_menu_below_the_top_is_navigation() -> None:
    menu = [text(160 + 120 * at, 300, name, 15) for at, name in enumerate(("Home", "Blog", "About"))]
    html = _html(seen(text(160, 60, "A title", 40, 700), text(160, 180, LONG), *menu, text(160, 400, LONG)))
    assert len(re.findall(r"<a [^>]*>", html.partition("<nav")[2].partition("</nav>")[0])) == 3


def test_columns_stack_on_a_medium_screen_before_words_break() -> None:
    columns: list[Seen] = [text(80, 60, "Two columns", 40, 700)]
    for x, wide in ((80, 380), (500, 700)):
        columns.append(box(x, 160, wide, 300, "#eef2ff"))
        columns += [text(x + 24, 190 + 40 * at, f"Words of line {at} in it", 16) for at in range(5)]
    columns.append(picture(104, 400, 60, 40))
    html = _html(seen(*columns))
    assert "@media (max-width: 1000px)" in html
    medium = html.partition("@media (max-width: 1000px)")[2].partition("@media")[0]
    assert "flex-wrap: wrap" in medium
    assert re.search(r"flex: 1 1 \d+px", medium)
