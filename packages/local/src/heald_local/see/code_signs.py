"""Reads signs in code that were taken for icons or not read, such as a lone slash or the quotes around a space.

Letters of code stand in columns of one width, on lines at even distances. So the place of each letter of a mark is
known, and each is compared with all that can stand there.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from heald_local.see.code_grid import CodeGrid
from heald_local.see.ink import Ink, extract_ink
from heald_local.see.paragraphs import CODE, group_paragraphs
from heald_local.see.symbols import is_on_ground
from heald_pictures.colours import hex_colour
from heald_pictures.elements import PictureElement, TextElement, TextLine
from heald_pictures.fonts import face
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

FEWEST_LINES = 2  # lines of code around a mark
AROUND = 4.0  # ems above and below a mark within which these stand
MOST_COLUMNS = 12  # of a mark
MOST_STEPS = 4  # lines between two of them
TALLEST = 1.6  # ems of a mark
DOUBTFUL = 0.86  # likeness of a short line that is read anew
BETTER, WORSE = 0.04, 0.06  # by which that must be better, or may be worse with the same letters
SHORT = 2  # letters of such a line
BOLD = 600  # the least weight that is drawn bold


def read_code_signs(
    pixels: Pixels, page: Pixels, texts: Sequence[TextElement], pictures: Sequence[PictureElement]
) -> tuple[list[TextElement], list[PictureElement]]:
    """Return the texts with the marks that are code, and the pictures without these."""
    lines = [line for text in texts for line in text.lines]
    code = [line for line in lines if line.style.family in CODE]
    if sum(len(line.text) > SHORT for line in code) < FEWEST_LINES:
        return list(texts), list(pictures)
    others: list[PictureElement] = []
    signs: list[TextLine] = []
    for picture in pictures:
        is_mark = picture.kind in ("icon", "unread")
        sign = _read_mark(pixels, page, code, picture.rect) if is_mark else None
        if sign is None:
            others.append(picture)
        else:
            signs.append(sign)
    kept = [_as_code(pixels, page, code, line) if _is_doubtful(line) else line for line in lines]
    if not signs and kept == lines:
        return list(texts), others
    return group_paragraphs([*kept, *signs]), others


def _is_doubtful(line: TextLine) -> bool:
    """Whether a line has so few letters that they or their typeface may be others."""
    return len(line.text) <= SHORT and (line.likeness < DOUBTFUL or line.style.family not in CODE)


def _as_code(pixels: Pixels, page: Pixels, code: Sequence[TextLine], line: TextLine) -> TextLine:
    """Return a short line as a part of the code around it if that explains it as well, else as it is."""
    sign = _read_mark(pixels, page, [other for other in code if other is not line], line.ink)
    if sign is None:
        return line
    least = line.likeness + (-WORSE if sign.text == line.text else BETTER)
    return sign if sign.likeness >= least else line


def _read_mark(pixels: Pixels, page: Pixels, code: Sequence[TextLine], place: Rect) -> TextLine | None:
    """Return a mark as a line of the code around it; None if it is none, or not all of it is alike."""
    near = [line for line in code if _is_near(line, place) and is_on_ground(page, place, line.ink)]
    if len(near) < FEWEST_LINES:
        return None
    ink = extract_ink(pixels, page, place)
    if ink is None:
        return None
    kind, _ = Counter((line.style.family, line.style.size) for line in near).most_common(1)[0]
    alike = [line for line in near if (line.style.family, line.style.size) == kind]
    nearest = min(alike, key=lambda line: abs(line.rect.middle[1] - place.middle[1]))
    baselines = _baselines(near, ink.rect)
    signs = [line for baseline in baselines if (line := _read_ink(nearest, baseline, ink)) is not None]
    return max(signs, key=lambda line: line.likeness, default=None)


def _is_near(line: TextLine, place: Rect) -> bool:
    """Whether a line of code stands above, below or beside a mark, and is as large as it."""
    size = line.style.size
    apart = max(line.rect.y - place.bottom, place.y - line.rect.bottom)
    across = max(line.rect.x - place.right, place.x - line.rect.right)
    return place.h <= TALLEST * size and apart <= AROUND * size and (apart <= 0 or across <= MOST_COLUMNS * size)


def _baselines(near: Sequence[TextLine], place: Rect) -> set[float]:
    """Return the baselines on which a mark may stand: those of the lines, and those that are a step from them."""
    baselines = sorted({line.baseline for line in near})
    size = near[0].style.size
    apart = [after - before for before, after in pairwise(baselines) if after - before >= size]
    steps = {distance / parts for distance in apart for parts in range(1, MOST_STEPS + 1) if distance >= parts * size}
    candidates = {
        *baselines,
        *(round(baseline + by) for baseline in baselines for step in steps for by in (-step, step)),
    }
    return {baseline for baseline in candidates if place.y - size <= baseline <= place.bottom + size}


def _grid(line: TextLine, baseline: float) -> CodeGrid:
    """Return the columns of a line of code, on a baseline."""
    style = line.style
    drawn = face(style.family, style.weight >= BOLD, style.italic)
    return CodeGrid(drawn, style.size, drawn.advance("0") * style.size + style.spacing, line.rect.x, baseline)


def _read_ink(line: TextLine, baseline: float, ink: Ink) -> TextLine | None:
    """Return the line of a piece of ink in the columns of another; None if a letter is unlike all others."""
    grid = _grid(line, baseline)
    first, last = grid.columns(ink)
    if not 0 <= last - first < MOST_COLUMNS:
        return None
    letters = [grid.letter(ink, number) for number in range(first, last + 1)]
    if any(letter is None for letter in letters):
        return None
    alike = [letter[1] for letter in letters if letter is not None]
    text = "".join(letter[0] for letter in letters if letter is not None)
    if not text.strip() or text != text.strip():
        return None
    style = replace(line.style, colour=hex_colour(ink.colour), underline=False)
    top = line.rect.y + baseline - line.baseline
    rect = Rect(grid.left + first * grid.column, top, len(text) * grid.column, line.rect.h)
    return TextLine(text, ink.rect, rect, style, baseline, min(alike), min(alike))
