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
_CODE = frozenset({"mono", "code"})
_CODE_SIZES = (0.8, 1.1)  # of code in a sentence, in sizes of its words
_FARTHEST_CODE, _FARTHEST_STOP = 0.95, 1.45  # distance of code, which has room around it, and the words beside it
_CODE_LEVEL = 2.0
_USUAL_SPACE = 0.27  # between two words, in parts of the size


def merge_runs(children: Sequence[Part]) -> tuple[Part, ...]:
    """Join neighbours of a row that are one sentence in several styles to one text."""
    result: list[Part] = []
    run: list[Part] = []
    for child in (*children, None):
        if child is not None and run and _continues(run[-1], child, len(run) > 1):
            run.append(child)
            continue
        result += [_sentence(run)] if len(run) > 1 else run
        run = [child] if child is not None else []
    return tuple(result)


def _continues(left: Part, right: Part, is_sentence: bool) -> bool:
    first, second = left.text, right.text
    if first is None or second is None or left.tag != "div" or right.tag != "div" or left.children or right.children:
        return False
    if len(first.lines) != 1 or len(second.lines) != 1:
        return False
    return continues_line(first.lines[0], second.lines[0], is_sentence=is_sentence)


def continues_line(left: TextLine, right: TextLine, *, is_sentence: bool = False) -> bool:
    """Whether two pieces are words of one line: level, of one size, and a space apart; code may be smaller.

    Code at the end of what is a sentence already (`is_sentence`) may be followed by a full stop that was not read.
    """
    if is_code(left.style) != is_code(right.style):
        farthest = _FARTHEST_STOP if is_sentence and is_code(left.style) else _FARTHEST_CODE
        if _continues_with_code(left, right, farthest):
            return True
    if abs(left.style.size - right.style.size) > 0.8 or abs(left.baseline - right.baseline) > _LEVEL:
        return False
    low, high = (share * left.style.size for share in _SPACES)
    worded = any(letter.isalpha() for letter in left.text + right.text)
    return worded and low <= right.rect.x - left.rect.right <= high


def is_code(style: TextStyle) -> bool:
    return style.family in _CODE


def _continues_with_code(left: TextLine, right: TextLine, farthest: float) -> bool:
    """Whether one of two pieces is code in the sentence of the other."""
    code, words = (left, right) if is_code(left.style) else (right, left)
    smallest, largest = (share * words.style.size for share in _CODE_SIZES)
    if not smallest <= code.style.size <= largest or abs(left.baseline - right.baseline) > _CODE_LEVEL:
        return False
    return _SPACES[0] <= (right.rect.x - left.rect.right) / words.style.size <= farthest


def code_room(before: TextElement | None, code: TextElement, after: TextElement | None) -> tuple[float, float]:
    """Return the room on both sides of code in a sentence that is not the space between words."""
    room: list[float] = []
    for left, right in ((before, code), (code, after)):
        if left is None or right is None or right.lines[0].baseline - left.lines[-1].baseline > _CODE_LEVEL:
            room.append(0.0)
            continue
        words = right if left is code else left
        gap = right.lines[0].rect.x - left.lines[-1].rect.right
        room.append(max(gap - _USUAL_SPACE * words.style.size, 0.0) if gap >= _TIGHT * words.style.size else 0.0)
    return room[0], room[1]


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
    text = TextElement((line,), around, base, "left", around.h, marker=texts[0].marker)
    return Part("text", around, tuple(run), text=text)


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
    if is_code(style) and not is_code(base):
        return "code"
    if colour_distance(style.colour, base.colour) > _NEAR_COLOUR and is_vivid(style.colour):
        return "a"
    if style.weight >= 600 > base.weight:
        return "b"  # what is important cannot be seen
    if style.italic and not base.italic:
        return "em"
    return "span" if colour_distance(style.colour, base.colour) > _NEAR_COLOUR else ""
