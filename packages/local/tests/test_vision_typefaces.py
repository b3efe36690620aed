"""Lines in a font that is not installed: one family and one size for what looks alike."""

from dataclasses import replace

from heald_local.see.paragraphs import group_paragraphs
from heald_local.see.typefaces import drop_spacing, join_lists, unify_letter_rows, unify_typefaces
from heald_pictures.elements import Family, TextLine, TextStyle
from heald_pictures.fonts import face
from heald_pictures.rect import Rect


def _line(
    x: float,
    baseline: float,
    words: str,
    size: float,
    family: Family = "sans",
    likeness: float = 0.86,
    spacing: float = 0,
) -> TextLine:
    """A line whose ink has the width that it has in sans at 15 pixels, whatever was recognised."""
    drawn = face("sans")
    left, _, right, _ = drawn.ink(words)
    ink = Rect(x, baseline - 11, round((right - left) * 15), 14)
    width = face(family).advance(words) * size + spacing * len(words)
    rect = Rect(x - left * size, baseline - round(size), width, round(size * 1.2))
    return TextLine(words, ink, rect, TextStyle(family, size, 400, False, "#111111", spacing), baseline, 0.99, likeness)


def _links(likeness: float) -> list[TextLine]:
    return [
        _line(32, 60, "Home and garden", 15, likeness=likeness),
        _line(180, 60, "Products", 14, "serif", likeness),
        _line(280, 60, "Journal", 16, "system", likeness, spacing=-0.4),
        _line(360, 60, "Everything about prices", 15, likeness=likeness),
    ]


def test_uncertain_lines_get_one_family_and_one_size() -> None:
    styles = {line.style for line in unify_typefaces(_links(0.86))}
    assert [(style.family, style.size, style.spacing) for style in styles] == [("sans", 15.0, 0.0)]


def test_certain_lines_do_not_change() -> None:
    lines = _links(0.97)
    assert unify_typefaces(lines) == lines


def test_a_certain_line_of_another_family_stays_beside_uncertain_ones() -> None:
    sure = _line(32, 200, "Printed in a serif", 15, "serif", 0.97)
    unified = unify_typefaces([*_links(0.86), sure])
    assert unified[-1] == sure


def test_sizes_that_differ_much_stay_apart() -> None:
    small = _line(32, 200, "A caption below", 15)
    small = replace(small, ink=replace(small.ink, w=small.ink.w * 0.8), style=replace(small.style, size=12))
    sizes = [line.style.size for line in unify_typefaces([*_links(0.86), small])]
    assert sizes[0] == 15
    assert sizes[-1] == 12


def test_code_and_other_scripts_keep_their_family() -> None:
    code = _line(32, 200, "import heald", 15, "code", 0.8)
    assert unify_typefaces([*_links(0.86), code])[-1] == code


def test_the_short_last_line_of_a_paragraph_has_its_size() -> None:
    long = _line(32, 100, "Reminders go out on the days your customers pay, never on a", 15, likeness=0.98)
    short = _line(32, 124, "Sunday.", 14, likeness=0.96, spacing=0.5)
    unified = unify_typefaces([long, short])
    assert unified[0] == long
    assert (unified[1].style.size, unified[1].style.spacing) == (15, 0)
    assert [text.text for text in group_paragraphs(unified)] == [f"{long.text} Sunday."]


def test_a_large_heading_is_one_text_if_a_baseline_is_off_by_two_pixels() -> None:
    def line(baseline: float, words: str) -> TextLine:
        style = TextStyle("sans", 52, 700, False, "#111111")
        width = face("sans", True).advance(words) * 52
        rect = Rect(640 - width / 2, baseline - 47, width, 60)
        return TextLine(words, rect, rect, style, baseline, 0.99)

    lines = [line(100, "Invoices that send"), line(159, "themselves, so that you"), line(220, "go home")]
    assert len(group_paragraphs(lines)) == 1


def test_a_spaced_word_gets_the_size_of_the_words_beside_it() -> None:
    plain = _line(32, 60, "Home and garden", 15, likeness=0.97)
    spaced = _line(180, 60, "Products", 14, likeness=0.97, spacing=0.5)
    wide = replace(spaced, ink=replace(spaced.ink, w=spaced.ink.w + 12))
    adjusted = drop_spacing([plain, spaced, wide])
    assert (adjusted[1].style.size, adjusted[1].style.spacing) == (15, 0)
    assert adjusted[2] == wide
    assert adjusted[0] == plain


def test_the_words_of_a_menu_get_one_weight_and_one_size() -> None:
    words = ("Products", "Journal", "Pricing and plans", "Support")
    menu = [_line(32, 60 + 34 * at, word, 15 + at % 2) for at, word in enumerate(words)]
    menu[1] = replace(menu[1], style=replace(menu[1].style, weight=700))
    joined = join_lists(menu)
    assert {(line.style.size, line.style.weight) for line in joined} == {(15, 400)}
    beside = [_line(32 + 180 * at, 60, word, 15 + at % 2) for at, word in enumerate(words)]
    assert {line.style.size for line in join_lists(beside[:2])} == {15, 16}


def test_a_line_keeps_a_family_that_other_lines_of_the_page_have_for_certain() -> None:
    sure = _line(32, 200, "Printed in a serif", 15, "serif", 0.97)
    alike = _line(32, 240, "Rooms of the inn", 14, "serif", 0.85)
    unlike = _line(32, 280, "Rooms of the barn", 14, "serif", 0.7)
    others = [*_links(0.86), _line(32, 320, "A long sentence that shows which family most of the page has", 15)]
    unified = unify_typefaces([*others, sure, alike, unlike])
    assert [line.style.family for line in unified[-3:]] == ["serif", "serif", "sans"]
    alone = unify_typefaces([*others, replace(sure, text="Inn"), alike])
    assert alone[-1].style.family == "sans"
    prose = [_line(32, 400 + 24 * at, "Boats of the harbour leave at noon", 15, likeness=0.97) for at in range(20)]
    assert unify_typefaces([*prose, sure, alike])[-1].style.family == "sans"


def test_the_letters_of_an_index_get_one_style_and_keep_their_colours() -> None:
    families: list[Family] = ["sans", "system", "serif", "sans", "sans"]
    letters = [
        replace(_line(32 + 26 * at, 60, letter, 13 + 3 * at, families[at]), ink=Rect(32 + 26 * at, 49, 10, 11))
        for at, letter in enumerate("ABCDE")
    ]
    letters[1] = replace(letters[1], style=replace(letters[1].style, colour="#9a3412", weight=700))
    joined = unify_letter_rows(letters)
    size = joined[0].style.size
    assert {(line.style.family, line.style.weight, line.style.size) for line in joined} == {("sans", 400, size)}
    assert abs(size - 11 / (face("sans").ink("B")[3] - face("sans").ink("B")[1])) < 1
    assert joined[1].style.colour == "#9a3412"
    assert unify_letter_rows(letters[:3]) == letters[:3]
