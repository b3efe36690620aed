"""Recognises phrases: runs of one sentence in several styles, and texts that are links by looks or place."""

import itertools
from collections.abc import Sequence

from heald_local.arrange.colours import is_vivid
from heald_local.arrange.part import Part
from heald_pictures.colours import colour_distance
from heald_pictures.elements import TextElement, TextLine, TextStyle
from heald_pictures.rect import hull
from heald_pictures.scripts import wide_letter

_SPACES = (-0.05, 0.5)  # distance of two words of a sentence, in parts of the size
_TIGHT = 0.13  # a distance below this has no space in it
_LEVEL = 1.5
_NEAR_COLOUR = 24.0


def merge_runs(children: Sequence[Part]) -> tuple[Part, ...]:
    """Join neighbours of a row that are one sentence in several styles to one text."""
    result: list[Part] = []
    run: list[Part] = []
    for child in (*children, None):
        if child is not None and run and _continues(run[-1], child):
            run.append(child)
            continue
        result += [_sentence(run)] if len(run) > 1 else run
        run = [child] if child is not None else []
    return tuple(result)


def _continues(left: Part, right: Part) -> bool:
    first, second = left.text, right.text
    if first is None or second is None or left.tag != "div" or right.tag != "div" or left.children or right.children:
        return False
    return len(first.lines) == len(second.lines) == 1 and continues_line(first.lines[0], second.lines[0])


def continues_line(left: TextLine, right: TextLine) -> bool:
    """Whether two pieces are words of one line: level, of one size, and a space apart."""
    if abs(left.style.size - right.style.size) > 0.8 or abs(left.baseline - right.baseline) > _LEVEL:
        return False
    low, high = (share * left.style.size for share in _SPACES)
    worded = any(letter.isalpha() for letter in left.text + right.text)
    return worded and low <= right.rect.x - left.rect.right <= high


def _sentence(run: Sequence[Part]) -> Part:
    """Make one text of several; its children are the runs."""
    texts = [part.text for part in run if part.text is not None]
    base = max(texts, key=lambda text: len(text.text)).style
    words = texts[0].text
    for left, right in itertools.pairwise(texts):
        words += f"{space_between(left.lines[0], right.lines[0])}{right.text}"
    around = hull(part.rect for part in run)
    first = texts[0].lines[0]
    ink = hull(text.lines[0].ink for text in texts)
    line = TextLine(words, ink, around, base, first.baseline, min(text.lines[0].sure for text in texts))
    return Part("text", around, tuple(run), text=TextElement((line,), around, base, "left", around.h))


def space_between(left: TextLine, right: TextLine) -> str:
    """Return the space between two pieces of a sentence: none if they touch, or are words of a script without any."""
    if right.baseline - left.baseline > _LEVEL:
        return "" if wide_letter(left.text[-1]) and wide_letter(right.text[0]) else " "
    return "" if right.rect.x - left.rect.right < _TIGHT * left.style.size else " "


def run_spaces(part: Part) -> list[str]:
    """Return the text before each run of a sentence: a space, or nothing."""
    texts = [child.text for child in part.children if child.text is not None]
    return ["", *(space_between(left.lines[-1], right.lines[0]) for left, right in itertools.pairwise(texts))]


def run_tag(style: TextStyle, base: TextStyle) -> str:
    """Return the tag of a run within a sentence; empty for plain words."""
    if style.underline and not base.underline:
        return "a"
    if colour_distance(style.colour, base.colour) > _NEAR_COLOUR and is_vivid(style.colour):
        return "a"
    if style.weight >= 600 > base.weight:
        return "b"  # what is important cannot be seen
    if style.italic and not base.italic:
        return "em"
    return "span" if colour_distance(style.colour, base.colour) > _NEAR_COLOUR else ""
