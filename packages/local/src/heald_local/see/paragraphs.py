"""Groups lines of text into paragraphs."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from heald_local.see.font_weights import LEAST_BOLD
from heald_local.spans import is_even
from heald_pictures.colours import rgb_parts
from heald_pictures.elements import Align, TextElement, TextLine, TextStyle
from heald_pictures.fonts import face, needs_wide
from heald_pictures.rect import Rect, hull
from heald_pictures.scripts import wide_letter

TIGHTEST, LOOSEST = 0.95, 2.1  # line heights of a paragraph, in ems
WIDE_PITCH, WIDE_LETTERS = 1.95, 10  # the same for wide letters, whose paragraphs are looser
LIST_PITCH, LIST_LETTERS = 1.78, 28  # short lines that are farther apart are a list, such as links
SLACK = 2.5  # pixels by which the edges of a paragraph's lines differ
SAME_PITCH, SAME_PITCH_SHARE = 2.0, 0.06  # pixels, and ems, by which the distances of its lines differ
SAME_SIZE = 0.35  # pixels of type
FEWEST_ITEMS, MOST_WORDS = 3, 5  # lines of a list, and words of each
LONGEST_ACRONYM = 5  # letters
FEW_WORDS = 3  # of each line of a longer or looser list, whose lines need not leave room
LOOSE_ITEMS = 1.45  # ems between the lines of a list that has no more than the fewest
CONTINUED = ".,;:-–—…"  # ends of lines that are part of a sentence
SENTENCE_END = "!?)”"  # further ends of a sentence
LONG_LINE = 24  # letters of a line that is part of a text, on the mean, rather than the name of a link
PROSE_PITCH = 1.75  # ems between the lines of a text with line breaks, at most
APART = 1.4  # distance of two paragraphs, in distances of the lines of others in the same style and column
COLOURLESS = 48  # levels by which the channels of a colour differ that most texts have, and few links
NUMBERED = re.compile(r"\(?\d{1,2}[.)]\s|[-–•*]\s")  # the beginning of an item of a list
SAME_ROW, CELL_GAP = 1.5, 1.5  # pixels by which the baselines of a row of cells differ, and ems between two of them
IN_TABLE = 0.5  # the part of the lines that have another text on their row from which on they are cells
CODE = frozenset({"mono", "code"})  # families whose lines are seldom names
TITLE, TITLE_PITCH = 24, 1.4  # pixels of type, and ems between lines, of a title: it is wrapped to look well


def group_paragraphs(lines: Sequence[TextLine]) -> list[TextElement]:
    """Group lines into texts in reading order. Each line is in exactly one."""
    groups: list[list[TextLine]] = []
    ordered = sorted(lines, key=lambda line: (line.baseline, line.rect.x))
    wrapped = _find_wrapped(ordered)
    for line in ordered:
        home = next((group for group in reversed(groups) if _follows(group, line, wrapped)), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    parted = [part for group in groups for part in _parts(group, lines)]
    texts = [as_text(group) for group in parted]
    return sorted(texts, key=lambda text: (text.rect.y, text.rect.x))


def _find_wrapped(lines: Sequence[TextLine]) -> list[tuple[TextLine, float]]:
    """Return long lines below which another one in their style begins at the same place, with the distance of both."""
    wrapped: list[tuple[TextLine, float]] = []
    for number, line in enumerate(lines):
        if len(line.text) < LONG_LINE:
            continue
        for other in itertools.islice(lines, number + 1, None):
            pitch = other.baseline - line.baseline
            if pitch > PROSE_PITCH * line.style.size:
                break
            if pitch >= TIGHTEST * line.style.size and _continues(line, other):
                wrapped.append((line, pitch))
                break
    return wrapped


def _continues(line: TextLine, other: TextLine) -> bool:
    return abs(line.rect.x - other.rect.x) <= SLACK and same_style(line.style, other.style)


def _follows(group: list[TextLine], line: TextLine, wrapped: Sequence[tuple[TextLine, float]]) -> bool:
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
    if pitch > PROSE_PITCH * size and any(
        pitch >= APART * tight and _continues(other, line) for other, tight in wrapped
    ):
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


def _parts(group: list[TextLine], lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Split a group after each line on which the next word would have fitted; prose with line breaks stays one."""
    if len(group) == 1:
        return [group]
    if _are_titles(group):
        return [[line] for line in group]
    if _is_prose(group, lines):
        return [group]
    if _are_items(group):
        return [[line] for line in group]
    widest = max(line.rect.w for line in group)
    parts = [[group[0]]]
    for last, line in itertools.pairwise(group):
        title = line.style.size >= TITLE and line.baseline - last.baseline <= TITLE_PITCH * line.style.size
        if ends_early(last, line, widest) and not title:
            parts.append([])
        parts[-1].append(line)
    return parts


def _is_prose(group: Sequence[TextLine], lines: Sequence[TextLine]) -> bool:
    """Whether lines are one text although some leave room, such as a poem or an address: long, plain, and set tight.

    A column of links has short lines or a colour, and that of a table has other cells beside its lines.
    """
    style = group[0].style
    letters = sum(len(line.text) for line in group) / len(group)
    pitch = group[1].baseline - group[0].baseline
    is_plain = not style.underline and max(rgb_parts(style.colour)) - min(rgb_parts(style.colour)) <= COLOURLESS
    if letters < LONG_LINE or not is_plain or pitch > PROSE_PITCH * style.size or style.size >= TITLE:
        return False
    if any(NUMBERED.match(line.text) for line in group):
        return False
    return sum(_has_cell_beside(line, lines) for line in group) < IN_TABLE * len(group)


def _has_cell_beside(line: TextLine, lines: Sequence[TextLine]) -> bool:
    gap = CELL_GAP * line.style.size
    return any(
        abs(other.baseline - line.baseline) <= SAME_ROW
        and max(other.rect.x - line.rect.right, line.rect.x - other.rect.right) > gap
        for other in lines
    )


def _are_items(group: Sequence[TextLine]) -> bool:
    """Whether lines are a list, such as a column of links: short, each begins like a name, and some leave room."""
    if group[0].style.size >= TITLE:
        return False
    if any(line.text.strip().casefold() == "home" for line in group):
        return all(line.text.count(" ") < MOST_WORDS for line in group)  # a menu, which may have no capitals
    if len(group) < FEWEST_ITEMS:
        return False
    widest = max(line.rect.w for line in group)
    has_room = any(ends_early(last, line, widest) for last, line in itertools.pairwise(group))
    pitch = group[1].baseline - group[0].baseline
    is_loose = len(group) > FEWEST_ITEMS or pitch >= LOOSE_ITEMS * group[0].style.size
    is_short = is_loose and all(line.text.count(" ") < FEW_WORDS for line in group)
    is_far = pitch >= LOOSE_ITEMS * group[0].style.size and group[0].style.family not in CODE
    if is_short and is_far and len(group) > FEWEST_ITEMS and all(_is_small(line.text.strip()) for line in group):
        return True  # a menu without capitals: a paragraph begins with one
    names = [text for line in group if not _is_acronym(text := line.text.strip())]
    return (has_room or is_short) and bool(names) and all(map(_is_item, names))


def _is_item(text: str) -> bool:
    """Whether a line is a few words that begin with a capital or a figure and are not part of a sentence."""
    if text.isupper() or text[-1] in CONTINUED or text.count(" ") >= MOST_WORDS:
        return False
    return text[0].isupper() or text[0].isdigit()


def _is_acronym(text: str) -> bool:
    """Whether a line is one short word of capitals, such as the name of a link among others."""
    return text.isupper() and len(text) <= LONGEST_ACRONYM and text.isalpha()


def _are_titles(group: Sequence[TextLine]) -> bool:
    """Whether lines far apart are a list of titles: each begins with a capital, and none ends like a sentence."""
    style = group[0].style
    pitch = group[1].baseline - group[0].baseline
    if len(group) < FEWEST_ITEMS or style.size >= TITLE or pitch < LOOSE_ITEMS * style.size or style.family in CODE:
        return False
    lines = [line.text.strip() for line in group]
    starts = all(text[0].isupper() or text[0].isdigit() for text in lines)
    return starts and not any(text.isupper() or text[-1] in CONTINUED or text[-1] in SENTENCE_END for text in lines)


def _is_small(text: str) -> bool:
    """Whether a line begins with a small letter and does not end like a part of a sentence."""
    return text[0].islower() and text[-1] not in CONTINUED


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
    """Return the widths at which a browser wraps the text as detected: at least the first, less than the second.

    Between two lines of which the first leaves room for a word there is a line break, whatever the width.
    """
    least = max(line.rect.w for line in text.lines)
    pairs = itertools.pairwise(text.lines)
    return least, min(
        (line.rect.w + first_word(after) for line, after in pairs if not ends_early(line, after, least)),
        default=float("inf"),
    )


def ends_early(line: TextLine, following: TextLine, widest: float) -> bool:
    """Whether the first word of the following line would have fitted on a line."""
    return line.rect.w + first_word(following) <= widest - 1


def wrapped_lines(text: TextElement) -> tuple[str, ...]:
    """Return the text between its line breaks if that wraps by itself as detected, else its lines."""
    least, most = wrap_width(text)
    if least + 1 >= most:
        return tuple(line.text for line in text.lines)
    spans = [[text.lines[0]]]
    for line, following in itertools.pairwise(text.lines):
        if ends_early(line, following, least):
            spans.append([])
        spans[-1].append(following)
    return tuple(replace(text, lines=tuple(span)).text for span in spans)
