"""Groups lines of text into paragraphs."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from heald_local.see.font_weights import LEAST_BOLD
from heald_local.spans import is_even
from heald_pictures.elements import Align, TextElement, TextLine, TextStyle
from heald_pictures.fonts import face, needs_wide
from heald_pictures.rect import Rect, hull
from heald_pictures.scripts import wide_letter

TIGHTEST, LOOSEST = 0.95, 2.1  # line heights of a paragraph, in ems
WIDE_PITCH, WIDE_LETTERS = 1.95, 10  # the same for wide letters, whose paragraphs are looser
LIST_PITCH, LIST_LETTERS = 1.78, 28  # short lines that are farther apart are a list, such as links
SLACK = 2.5  # pixels by which the edges of a paragraph's lines differ
SAME_PITCH, SAME_PITCH_SHARE = 1.6, 0.06  # pixels, and ems, by which the distances of its lines differ
SAME_SIZE = 0.35  # pixels of type
FEWEST_ITEMS, MOST_WORDS = 3, 5  # lines of a list, and words of each
FEW_WORDS = 3  # of each line of a longer or looser list, whose lines need not leave room
LOOSE_ITEMS = 1.45  # ems between the lines of a list that has no more than the fewest
CONTINUED = ".,;:-–—…"  # ends of lines that are part of a sentence
TITLE, TITLE_PITCH = 24, 1.4  # pixels of type, and ems between lines, of a title: it is wrapped to look well


def group_paragraphs(lines: Sequence[TextLine]) -> list[TextElement]:
    """Group lines into texts in reading order. Each line is in exactly one."""
    groups: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: (line.baseline, line.rect.x)):
        home = next((group for group in reversed(groups) if _follows(group, line)), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    parted = [part for group in groups for part in _parts(group)]
    texts = [as_text(group) for group in parted]
    return sorted(texts, key=lambda text: (text.rect.y, text.rect.x))


def _follows(group: list[TextLine], line: TextLine) -> bool:
    last = group[-1]
    size = last.style.size
    if not same_style(last.style, line.style):
        return False
    pitch = line.baseline - last.baseline
    if not TIGHTEST * size <= pitch <= LOOSEST * size:
        return False
    loose, longest = (WIDE_PITCH, WIDE_LETTERS) if needs_wide(line.text) else (LIST_PITCH, LIST_LETTERS)
    is_short = max(len(last.text), len(line.text)) <= longest
    if pitch > loose * size and (is_short or (_is_item(last.text.strip()) and _is_item(line.text.strip()))):
        return False
    if len(group) > 1 and abs(pitch - (last.baseline - group[-2].baseline)) > max(SAME_PITCH, SAME_PITCH_SHARE * size):
        return False
    return _aligned(last, line)


def same_style(style: TextStyle, other: TextStyle) -> bool:
    """Whether two styles are equal, apart from what a short line does not show."""
    return (
        style.family == other.family
        and abs(style.size - other.size) <= SAME_SIZE
        and style.weight == other.weight
        and style.italic == other.italic
        and style.colour == other.colour
    )


def _aligned(line: TextLine, other: TextLine) -> bool:
    return (
        abs(line.rect.x - other.rect.x) <= SLACK
        or abs(line.rect.middle[0] - other.rect.middle[0]) <= SLACK
        or abs(line.rect.right - other.rect.right) <= SLACK
    )


def _parts(group: list[TextLine]) -> list[list[TextLine]]:
    """Split a group after each line on which the next word would have fitted."""
    if len(group) == 1:
        return [group]
    if _are_items(group):
        return [[line] for line in group]
    widest = max(line.rect.w for line in group)
    parts = [[group[0]]]
    for last, line in itertools.pairwise(group):
        title = line.style.size >= TITLE and line.baseline - last.baseline <= TITLE_PITCH * line.style.size
        if last.rect.w + first_word(line) <= widest - 1 and not title:
            parts.append([])
        parts[-1].append(line)
    return parts


def _are_items(group: Sequence[TextLine]) -> bool:
    """Whether lines are a list, such as a column of links: short, each begins like a name, and some leave room."""
    if group[0].style.size >= TITLE:
        return False
    if any(line.text.strip().casefold() == "home" for line in group):
        return all(line.text.count(" ") < MOST_WORDS for line in group)  # a menu, which may have no capitals
    if len(group) < FEWEST_ITEMS:
        return False
    widest = max(line.rect.w for line in group)
    has_room = any(last.rect.w + first_word(line) <= widest - 1 for last, line in itertools.pairwise(group))
    pitch = group[1].baseline - group[0].baseline
    is_loose = len(group) > FEWEST_ITEMS or pitch >= LOOSE_ITEMS * group[0].style.size
    is_short = is_loose and all(line.text.count(" ") < FEW_WORDS for line in group)
    return (has_room or is_short) and all(_is_item(line.text.strip()) for line in group)


def _is_item(text: str) -> bool:
    """Whether a line is a few words that begin with a capital or a figure and are not part of a sentence."""
    if text.isupper() or text[-1] in CONTINUED or text.count(" ") >= MOST_WORDS:
        return False
    return text[0].isupper() or text[0].isdigit()


def first_word(line: TextLine) -> float:
    """Return the width that the first word would have needed on the line before."""
    text = line.text
    if wide_letter(text[0]):
        return line.style.size
    word = " " + text.split(" ")[0]
    drawn = face(line.style.family, line.style.weight >= LEAST_BOLD, line.style.italic)
    return drawn.advance(word) * line.style.size + line.style.spacing * len(word)


def as_text(group: Sequence[TextLine]) -> TextElement:
    """Make one text of lines, from the top down."""
    style = max(
        (line.style for line in group), key=lambda style: sum(len(line.text) for line in group if line.style == style)
    )
    rect = hull(line.rect for line in group)
    if len(group) == 1:
        return TextElement(tuple(group), rect, style, "left", rect.h)
    pitch = (group[-1].baseline - group[0].baseline) / (len(group) - 1)
    leading = pitch - group[0].rect.h
    top = group[0].rect.y - (leading // 2)
    placed = Rect(rect.x, top, rect.w, round(pitch * len(group), 2))
    return TextElement(tuple(group), placed, replace(style), _align(group), round(pitch, 2))


def _align(group: Sequence[TextLine]) -> Align:
    if is_even([line.rect.x for line in group], SLACK / 2):
        return "left"
    if is_even([line.rect.middle[0] for line in group], SLACK / 2):
        return "center"
    return "right" if is_even([line.rect.right for line in group], SLACK / 2) else "left"


def wrap_width(text: TextElement) -> tuple[float, float]:
    """Return the widths at which a browser wraps the text as detected: at least the first, less than the second."""
    least = max(line.rect.w for line in text.lines)
    pairs = zip(text.lines, text.lines[1:], strict=False)
    return least, min((line.rect.w + first_word(following) for line, following in pairs), default=float("inf"))


def wrapped_lines(text: TextElement) -> tuple[str, ...]:
    """Return one line if the text wraps by itself as detected, else its lines."""
    least, most = wrap_width(text)
    if least + 1 < most:
        return (text.text,)
    return tuple(line.text for line in text.lines)
