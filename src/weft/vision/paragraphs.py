"""Lines become texts: what wraps is one paragraph, what merely stands below is not.

Two lines belong together if they share a style, follow each other at a line's distance and align; and if the next
line's first word would not have fitted on the line before: that is what makes a wrapped line.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from weft.vision.fonts import face
from weft.vision.geometry import Rect, even, hull
from weft.vision.seen import Align, Line, Text, TextStyle, wide_letter

TIGHTEST, LOOSEST = 0.95, 2.1
"""Line heights of a paragraph, in ems."""
SLACK = 2.5


def paragraphs(lines: Sequence[Line]) -> list[Text]:
    """Every line in exactly one text, in reading order."""
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: (each.baseline, each.rect.x)):
        home = next((group for group in reversed(groups) if _follows(group, line)), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    parted = [part for group in groups for part in _parts(group)]
    texts = [_text(group) for group in parted]
    return sorted(texts, key=lambda text: (text.rect.y, text.rect.x))


def _follows(group: list[Line], line: Line) -> bool:
    last = group[-1]
    size = last.style.size
    if not alike(last.style, line.style):
        return False
    pitch = line.baseline - last.baseline
    if not TIGHTEST * size <= pitch <= LOOSEST * size:
        return False
    if len(group) > 1 and abs(pitch - (last.baseline - group[-2].baseline)) > 1.6:
        return False
    return _aligned(last, line)


def alike(one: TextStyle, two: TextStyle) -> bool:
    """The same but for what cannot be measured on a short line."""
    return (
        one.family == two.family
        and abs(one.size - two.size) <= 0.35
        and one.weight == two.weight
        and one.italic == two.italic
        and one.colour == two.colour
    )


def _aligned(one: Line, two: Line) -> bool:
    return (
        abs(one.rect.x - two.rect.x) <= SLACK
        or abs(one.rect.middle[0] - two.rect.middle[0]) <= SLACK
        or abs(one.rect.right - two.rect.right) <= SLACK
    )


def _parts(group: list[Line]) -> list[list[Line]]:
    """The group, cut after each line on which the next word would have fitted."""
    if len(group) == 1:
        return [group]
    widest = max(line.rect.w for line in group)
    parts = [[group[0]]]
    for last, line in itertools.pairwise(group):
        title = line.style.size >= 24 and line.baseline - last.baseline <= 1.4 * line.style.size
        if last.rect.w + first_word(line) <= widest - 1 and not title:
            parts.append([])
        parts[-1].append(line)
    return parts


def first_word(line: Line) -> float:
    """How much room the first word would have needed on the line before."""
    text = line.text
    if wide_letter(text[0]):
        return line.style.size
    word = " " + text.split(" ")[0]
    drawn = face(line.style.family, line.style.weight >= 600, line.style.italic)
    return drawn.advance(word) * line.style.size + line.style.spacing * len(word)


def _text(group: list[Line]) -> Text:
    style = max(
        (line.style for line in group), key=lambda each: sum(len(line.text) for line in group if line.style == each)
    )
    rect = hull(line.rect for line in group)
    if len(group) == 1:
        return Text(tuple(group), rect, style, "left", rect.h)
    pitch = (group[-1].baseline - group[0].baseline) / (len(group) - 1)
    leading = pitch - group[0].rect.h
    top = group[0].rect.y - (leading // 2)
    placed = Rect(rect.x, top, rect.w, round(pitch * len(group), 2))
    return Text(tuple(group), placed, replace(style), _align(group), round(pitch, 2))


def _align(group: list[Line]) -> Align:
    if even([line.rect.x for line in group], SLACK / 2):
        return "left"
    if even([line.rect.middle[0] for line in group], SLACK / 2):
        return "center"
    return "right" if even([line.rect.right for line in group], SLACK / 2) else "left"
