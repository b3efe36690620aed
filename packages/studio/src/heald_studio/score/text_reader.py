"""Reads the text in a picture of a page, and finds the places that look like text but were not read."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Lock

import msgspec

from heald.core.distribution import install_advice
from heald_pictures.colours import rgb_parts
from heald_pictures.detector import find_detector
from heald_pictures.elements import TextLine
from heald_pictures.errors import ModelsMissing, VisionError
from heald_pictures.rect import Rect, hull
from heald_studio.browser.page import TextBlock
from heald_studio.score.page_image import PictureError

LEAST_HEIGHT, MOST_HEIGHT = 8.0, 96.0
LEAST_WIDTH = 1.7  # of a place, in heights: a narrower one may be an icon
LEAST_REST = 1.6  # of what is left beside the lines on it, in heights: less is the margin of a line

_LEVEL, _SAME_SIZE = 1.6, 0.8  # pixels by which the baselines and the sizes of the runs of a row differ
_RUN_GAP = (-0.1, 0.5)  # ems between two runs of a row: they are a space apart, or touch
_TOUCHING = 0.13  # ems between two runs of a row, below which there is no space between them
_CODE = frozenset({"mono", "code"})
_CODE_SIZES, _CODE_LEVEL = (0.8, 1.1), 2.0  # of code in a sentence: sizes of its words, and pixels off their baseline
_CODE_GAP = 0.95  # ems between code, which has room around it, and the words beside it, at most

_BOLD = 600  # the least weight that a browser draws bold
_STYLE_DOUBTS = ((0.9, 0.0), (0.75, 0.09), (-1.0, 0.3))
"""The likeness of a line to its letters, and the chance that its weight or style was misread, as measured on pages
whose documents are known."""

NO_READER = f"Reading text from a picture needs the extra local; install it with: {install_advice('local')}."
SKETCHED = "The picture is a sketch, which a page does not look like; look at the page instead."

_one_at_a_time = Lock()


def read_text(image: bytes) -> tuple[TextBlock, ...]:
    """Read the lines of text in a picture, in its own pixels. The first call takes some seconds.

    The local converter uses the same reader and cache. A place that looks like text and that no line explains is a
    block with an empty text, so that the reader does not hide what it cannot read.
    """
    try:
        detect_elements = find_detector()
        with _one_at_a_time:
            detection = detect_elements(image)
    except ModelsMissing:
        raise PictureError(NO_READER) from None
    except VisionError as error:
        raise PictureError(str(error)) from None
    if detection.drawn:
        raise PictureError(SKETCHED)
    lines = [line for text in detection.texts for line in text.lines]
    unread = find_unread(detection.text_places, [line.rect for line in lines])
    blocks = [_row_block(row, detection.ratio) for row in join_runs(lines)]
    blocks += [_block("", place, detection.ratio) for place in unread]
    return tuple(sorted(blocks, key=lambda line: (line.y, line.x)))


def _block(text: str, rect: Rect, scale: int) -> TextBlock:
    return TextBlock(text, rect.x * scale, rect.y * scale, rect.w * scale, rect.h * scale)


def join_runs(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Return the rows of text: runs in several styles, such as a link in a sentence, are one row as in a browser."""
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: line.rect.x):
        row = next((row for row in rows if _continues(row[-1], line)), None)
        if row is None:
            rows.append([line])
        else:
            row.append(line)
    return rows


def _continues(last: TextLine, line: TextLine) -> bool:
    size = last.style.size
    gap = line.rect.x - last.rect.right
    if _is_code(last) != _is_code(line) and _continues_with_code(last, line):
        return True
    is_level = abs(last.baseline - line.baseline) <= _LEVEL and abs(size - line.style.size) <= _SAME_SIZE
    return is_level and _RUN_GAP[0] * size <= gap <= _RUN_GAP[1] * size


def _is_code(line: TextLine) -> bool:
    return line.style.family in _CODE


def _continues_with_code(last: TextLine, line: TextLine) -> bool:
    """Whether one of two runs is code in the sentence of the other: it is smaller, and has room around it."""
    code, words = (last, line) if _is_code(last) else (line, last)
    smallest, largest = (part * words.style.size for part in _CODE_SIZES)
    is_level = abs(last.baseline - line.baseline) <= _CODE_LEVEL and smallest <= code.style.size <= largest
    gap = line.rect.x - last.rect.right
    return is_level and _RUN_GAP[0] * words.style.size <= gap <= _CODE_GAP * words.style.size


def _row_text(row: Sequence[TextLine]) -> str:
    """Return the text of a row, without a space between runs that touch, such as the signs of code."""
    words = row[0].text
    for last, line in pairwise(row):
        words += f"{'' if line.rect.x - last.rect.right < _TOUCHING * last.style.size else ' '}{line.text}"
    return words


def _row_block(row: Sequence[TextLine], scale: int) -> TextBlock:
    """Return the block of a row, in the colour of its longest run."""
    shares = [(len(run.text), *_style_shares(run)) for run in row]
    letters = sum(length for length, _, _ in shares)
    bold = sum(length * share for length, share, _ in shares) / letters
    italic = sum(length * share for length, _, share in shares) / letters
    longest = max(row, key=lambda run: len(run.text))
    block = _block(_row_text(row), hull(run.rect for run in row), scale)
    return msgspec.structs.replace(block, colour=rgb_parts(longest.style.colour), bold=bold, italic=italic)


def _style_shares(line: TextLine) -> tuple[float, float]:
    """Return how bold and how italic a line is, which allows for the chance that this was misread."""
    doubt = next(chance for least, chance in _STYLE_DOUBTS if line.likeness >= least)
    return abs((line.style.weight >= _BOLD) - doubt), abs(line.style.italic - doubt)


def find_unread(places: Sequence[Rect], lines: Sequence[Rect]) -> list[Rect]:
    """Return the parts of places that no line covers. Places may overlap each other; the parts do not."""
    unread: list[Rect] = []
    for place in sorted(places, key=lambda rect: -rect.area):
        if not LEAST_HEIGHT <= place.h <= MOST_HEIGHT or place.w < LEAST_WIDTH * place.h:
            continue
        level = [line for line in (*lines, *unread) if _are_level(place, line)]
        unread += _parts_beside(place, level)
    return sorted(unread, key=lambda rect: (rect.y, rect.x))


def _are_level(place: Rect, line: Rect) -> bool:
    common = min(place.bottom, line.bottom) - max(place.y, line.y)
    return common > 0.4 * min(place.h, line.h) and line.x < place.right and line.right > place.x


def _parts_beside(place: Rect, lines: Sequence[Rect]) -> Iterator[Rect]:
    end = place.x
    for left, right in (*sorted((line.x, line.right) for line in lines), (place.right, place.right)):
        if left - end > max(LEAST_REST * place.h, 0.2 * place.w if lines else 0.0):
            yield Rect(end, place.y, left - end, place.h)
        end = max(end, right)
