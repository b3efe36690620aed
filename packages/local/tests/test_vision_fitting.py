"""Pages fit screens that are narrower than the picture: rows wrap, and long labels and words do."""

from dataclasses import replace

from heald_local.arrange.page import arrange
from heald_local.page import MEDIUM_BREAK
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, Detection, TextElement
from heald_pictures.rect import hull
from vision_pages import box, seen, text

NAMES = ("Apples", "Apricots", "Cherries", "Hazelnuts", "Mulberries", "Peaches", "Plums", "Figs")
SENTENCES = ("Fruit from the valley and the hills", "Open on all days but one", "Four farms work with us here now")


def _buttons(width: int = 1280) -> Detection:
    """A row of buttons that fills the page between its margins of 24 pixels."""
    labels = [text(0, 111, name, 15, 700, "#ffffff") for name in NAMES]
    padding = (width - 48 - 12 * (len(labels) - 1) - sum(label.rect.w for label in labels)) / (2 * len(labels))
    parts: list[Box | TextElement] = [text(24, 20, "What we grow in this valley", 28, 700)]
    left = 24.0
    for label in labels:
        parts.append(box(left, 100, label.rect.w + 2 * padding, 40, "#166534", radius=6))
        parts.append(text(left + padding, 111, label.text, 15, 700, "#ffffff"))
        left += label.rect.w + 2 * padding + 12
    return seen(*parts, width=width)


def _sentences() -> Detection:
    """A row of sentences that fills the page between its margins of 24 pixels."""
    size = 15 * (1232 - 2 * 22) / sum(text(0, 0, words, 15).rect.w for words in SENTENCES)
    parts = [text(24, 20, "What we grow in this valley", 28, 700)]
    left = 24.0
    for words in SENTENCES:
        parts.append(text(left, 100, words, size))
        left = parts[-1].rect.right + 22
    return seen(*parts)


def _css(page: Detection, stack: str = "html_css") -> str:
    return str(write_files(arrange(page), stack)["index.html"])


def test_a_row_that_cannot_shrink_wraps_on_every_narrower_screen() -> None:
    css = _css(_buttons())
    own_width = css.partition("@media (min-width: 1280px) {")[2].partition("\n}")[0]
    assert "flex-wrap: nowrap" in own_width
    assert "flex-wrap: wrap" in css.partition("@media")[0]
    assert "flex-wrap max-md:mt-6 page:flex-nowrap" in _css(_buttons(), "html_tailwind")


def test_a_row_that_can_shrink_wraps_on_a_medium_screen() -> None:
    css = _css(_sentences())
    assert "flex-wrap: nowrap" not in css
    assert "flex-wrap: wrap" not in css.partition("@media")[0]
    assert "flex-wrap: wrap" in css.partition(f"@media (max-width: {MEDIUM_BREAK}px)")[2]


def test_a_page_that_is_narrower_than_a_desktop_stacks_below_its_own_width() -> None:
    assert "body { overflow-wrap: anywhere; }" in _css(_buttons(900)).partition("@media (max-width: 899px)")[2]


def test_a_long_label_wraps_on_a_narrow_screen_and_a_short_one_does_not() -> None:
    label = text(52, 111, "Donaudampfschifffahrt 1893", 18, 700, "#ffffff")
    short = text(52, 211, "Buy", 18, 700, "#ffffff")
    parts = [box(40, 100, label.rect.w + 24, 42, "#166534"), box(40, 200, short.rect.w + 24, 42, "#166534")]
    css = _css(seen(*parts, label, short))
    rules = [rule for rule in css.partition("@media")[0].splitlines() if "white-space: nowrap" in rule]
    assert len(rules) == 1
    assert css.count("white-space: nowrap") == 2  # and at the page's own width


def test_words_that_are_longer_than_the_screen_break() -> None:
    css = _css(_buttons())
    assert "body { overflow-wrap: anywhere; }" in css.partition(f"@media (max-width: {MEDIUM_BREAK}px)")[2]
    assert "max-lg:[overflow-wrap:anywhere]" in _css(_buttons(), "html_tailwind")


def test_no_word_breaks_where_the_page_is_as_wide_as_its_picture() -> None:
    """A word that is a pixel wider than its box would else have its last letter below it, and move all that follows."""
    css = _css(_buttons())
    assert "body { overflow-wrap: normal; }" in css.partition("@media (min-width: 1280px)")[2].partition("@media")[0]
    assert "page:[overflow-wrap:normal]" in _css(_buttons(1100), "html_tailwind")


def test_a_line_beside_words_is_shorter_in_a_narrower_window() -> None:
    """It kept its width between the break and the page's own width, and reached beyond the edge."""
    words = text(20, 46, "Northwind Journal", 18), text(200, 46, "Ideas", 14), text(20, 120, "Behind the sea", 28)
    css = _css(seen(*words, box(475, 40, 780, 1, "#c0c0c0")))
    rule = next(line for line in css.splitlines() if "height: 1px" in line)
    assert "width: 780px" in rule
    assert "flex: 0 1 auto" in rule


def test_a_line_that_the_edge_of_the_page_cuts_does_not_widen_it() -> None:
    cut, whole = text(925, 46, "A headline that runs beyond the edge of the page"), text(20, 46, "Headlines")
    css = _css(seen(cut, whole, text(20, 120, "Words that are read in the evening.")))
    assert 1270 < cut.rect.right < 1280
    assert css.count("overflow-x: clip") == 1
    assert "min-width: 0" in next(line for line in css.splitlines() if "overflow-x: clip" in line)


def _paragraph(*spacings: float) -> TextElement:
    """A paragraph whose lines have letters of different spacing, as lines seem to that hold two spaces in a row."""
    lines = [text(80, 100 + 21 * at, "A machine for thick leather", 18).lines[0] for at in range(len(spacings))]
    spaced = [
        replace(line, style=replace(line.style, spacing=spacing)) for line, spacing in zip(lines, spacings, strict=True)
    ]
    rect = hull(line.rect for line in spaced)
    return TextElement(tuple(spaced), replace(rect, h=21 * len(lines)), spaced[0].style, "left", 21)


def test_spacing_of_letters_is_that_of_the_widest_line_that_would_wrap_with_more() -> None:
    assert "letter-spacing" not in _css(seen(_paragraph(0.5, 0.5, 0)))
    assert "letter-spacing: 0.5px" in _css(seen(_paragraph(0.5, 0.5, 0.5)))
