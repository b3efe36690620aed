"""Joins the lines of paragraphs in several styles, and finds the items of bulleted lists.

A link or a bold word cuts a line into pieces. A paragraph of such lines is one text, and its pieces are its runs.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from heald_local.arrange.numbering import number_items
from heald_local.arrange.phrases import continues_line, is_code, space_between
from heald_local.see.font_weights import LEAST_BOLD
from heald_local.see.paragraphs import SAME_PITCH, as_text, ends_early, first_word, same_style, wrap_width
from heald_pictures.colours import colour_distance
from heald_pictures.elements import Detection, PictureElement, TextElement, TextLine, TextStyle
from heald_pictures.fonts import face
from heald_pictures.rect import Rect, hull

_EDGE = 2.5  # pixels by which the lines of a paragraph, or the bullets of a list, may begin apart
_CODE_EDGE = 6.0  # the same where one line begins with code, which has room around it
_TIGHTEST, _LOOSEST = 0.95, 2.1  # line heights of a paragraph, in ems
_SMALLEST_DOT, _LARGEST_DOT = 4.0, 11.0
_NEAREST, _FARTHEST = 3.0, 30.0  # pixels between a bullet and its line
_FEWEST_DOTS = 2
_OTHER_COLOUR = 64  # levels by which a bullet of a colour of its own differs from its line
_FEWEST_SIGNS = 2  # between the words of a paragraph of links
_FEWEST_PIECES, _UNREAD = 3, 1.2  # of a row, in which a word of so many ems may not have been read
_COVERED = 0.5  # of another line, which lies within a paragraph
_TALLEST_MARK = 2.5  # ems of a picture or a box that begins an item

Row = tuple[TextLine, ...]


def join_paragraphs(detection: Detection) -> Detection:
    """Return the detection with one text for each paragraph in several styles, and for each item of a list."""
    detection = _split_items(_split_at_marks(number_items(detection)))
    marked = [text for text in detection.texts if text.marker]
    markers = {id(text.lines[0]): text.marker for text in marked}
    rows = _find_rows(detection.texts)
    groups: list[list[Row]] = []
    for row in sorted(rows, key=lambda candidate: (candidate[0].baseline, candidate[0].rect.x)):
        home = next((group for group in groups if _follows(group, row)), None)
        if home is None or id(row[0]) in markers:
            groups.append([row])
        else:
            home.append(row)
    texts = list(detection.texts)
    for group in groups:
        for part in _split_paragraphs(group):
            if len(part) > 1 and any(len(row) > 1 for row in part):
                texts = _replace_rows(texts, part, markers.get(id(part[0][0]), ""))
    return replace(detection, texts=tuple(texts)) if len(texts) != len(detection.texts) or marked else detection


def _find_rows(texts: Sequence[TextElement]) -> list[Row]:
    """Return the lines of all texts; those that continue each other in another style are one row."""
    lines = sorted((line for text in texts for line in text.lines), key=lambda line: (line.baseline, line.rect.x))
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda piece: piece.rect.x):
        home = next((row for row in rows if continues_line(row[-1], line, is_sentence=len(row) > 1)), None)
        if home is None:
            rows.append([line])
        else:
            home.append(line)
    return [tuple(row) for row in _join_rows(rows)]


def _join_rows(rows: Sequence[list[TextLine]]) -> list[list[TextLine]]:
    """Join the parts of a row of several pieces where a word or sign between them was not read."""
    joined: list[list[TextLine]] = []
    for row in sorted(rows, key=lambda candidate: candidate[0].rect.x):
        before = next((other for other in joined if _goes_on(other, row)), None)
        if before is None:
            joined.append(row)
        else:
            before += row
    return joined


def _goes_on(row: Sequence[TextLine], following: Sequence[TextLine]) -> bool:
    last, line = row[-1], following[0]
    if max(len(row), len(following)) < _FEWEST_PIECES or not same_style(last.style, line.style):
        return False
    gap = line.rect.x - last.rect.right
    return abs(last.baseline - line.baseline) <= 1 and 0 < gap <= _UNREAD * line.style.size


def _base(row: Row) -> TextLine:
    return max(row, key=lambda line: len(line.text))


def _follows(group: Sequence[Row], row: Row) -> bool:
    last, size = group[-1], group[-1][0].style.size
    pitch = row[0].baseline - last[0].baseline
    edge = _CODE_EDGE if is_code(row[0].style) != is_code(last[0].style) else _EDGE
    if not _TIGHTEST * size <= pitch <= _LOOSEST * size or abs(row[0].rect.x - last[0].rect.x) > edge:
        return False
    if len(group) > 1 and abs(pitch - (last[0].baseline - group[-2][0].baseline)) > SAME_PITCH:
        return False
    return any(same_style(upper.style, lower.style) for upper in last for lower in row)


def _split_paragraphs(group: Sequence[Row]) -> list[list[Row]]:
    """Split rows after each on which the next word would have fitted."""
    wide = [hull(line.rect for line in row) for row in group]
    widest = max(rect.w for rect in wide)
    parts: list[list[Row]] = [[group[0]]]
    for at, row in enumerate(group[1:], start=1):
        if wide[at - 1].w + first_word(row[0]) <= widest - 1:
            parts.append([])
        parts[-1].append(row)
    return parts


def _replace_rows(texts: list[TextElement], rows: Sequence[Row], marker: str) -> list[TextElement]:
    """Replace the pieces of some rows by one text; the other lines of their texts stay texts."""
    pieces = [line for row in rows for line in row]
    made = replace(_paragraph(rows), marker=marker)
    least, most = wrap_width(made)
    if least + 1 >= most:
        return texts
    if any(_lies_within(line, made) for text in texts for line in text.lines if not _is_any(line, pieces)):
        return texts  # words that were not recognised as its own would lie over it
    remaining: list[TextElement] = []
    for text in texts:
        rest = [line for line in text.lines if not _is_any(line, pieces)]
        if len(rest) == len(text.lines):
            remaining.append(text)
        elif rest:
            remaining.append(as_text(rest))
    return sorted([*remaining, made], key=lambda text: (text.rect.y, text.rect.x))


def _is_any(line: TextLine, pieces: Sequence[TextLine]) -> bool:
    return any(line is piece for piece in pieces)


def _lies_within(line: TextLine, text: TextElement) -> bool:
    return hull(own.ink for own in text.lines).common(line.ink) > _COVERED * line.ink.area


def _paragraph(rows: Sequence[Row]) -> TextElement:
    base = _sign_style(rows) or max((line for row in rows for line in row), key=partial(_measure_style, rows)).style
    lines: list[TextLine] = []
    for row in rows:
        words = row[0].text
        for left, right in itertools.pairwise(row):
            words += f"{space_between(left, right)}{right.text}"
        around, ink = hull(line.rect for line in row), hull(line.ink for line in row)
        lines.append(replace(_base(row), text=words, rect=around, ink=ink, style=base))
    runs: list[list[TextLine]] = []
    for line in _split_at_signs([line for row in rows for line in row]):
        if runs and same_style(runs[-1][-1].style, line.style) and runs[-1][-1].style.underline == line.style.underline:
            runs[-1].append(line)
        else:
            runs.append([line])
    styled_runs = tuple(TextElement(tuple(run), run[0].rect, run[0].style, "left", run[0].rect.h) for run in runs)
    return replace(as_text(lines), runs=styled_runs)


def _sign_style(rows: Sequence[Row]) -> TextStyle | None:
    """Return the style of the signs between words that all have another one, such as links: it is the paragraph's."""
    pieces = [line for row in rows for line in row]
    signs = [piece.style for piece in pieces if _is_sign(piece)]
    words = [piece.style for piece in pieces if not _is_sign(piece)]
    if len(signs) < _FEWEST_SIGNS or not all(same_style(words[0], style) for style in words):
        return None
    sign = max(signs, key=signs.count)
    return None if sign.colour == words[0].colour else replace(words[0], colour=sign.colour, underline=False)


def _is_sign(piece: TextLine) -> bool:
    return len(piece.text) == 1 and not piece.text.isalnum()


def _split_at_signs(pieces: Sequence[TextLine]) -> list[TextLine]:
    """Split pieces at the sign that stands between others of them, such as the slash between links."""
    signs = {piece.text: piece.style for piece in pieces if _is_sign(piece)}
    split: list[TextLine] = []
    for piece in pieces:
        sign = next((sign for sign in signs if sign in piece.text.split()), "")
        split += _cut_at_sign(piece, sign, signs[sign]) if sign and piece.text != sign else [piece]
    return split


def _cut_at_sign(piece: TextLine, sign: str, style: TextStyle) -> list[TextLine]:
    groups = [(is_sign, " ".join(words)) for is_sign, words in itertools.groupby(piece.text.split(), sign.__eq__)]
    drawn = face(piece.style.family, piece.style.weight >= LEAST_BOLD, piece.style.italic)
    scale = piece.rect.w / max(drawn.advance(piece.text), drawn.advance(sign))
    cut: list[TextLine] = []
    before = ""
    for is_sign, words in groups:
        left, width = piece.rect.x + scale * drawn.advance(before), scale * drawn.advance(words)
        rect, ink = replace(piece.rect, x=left, w=width), replace(piece.ink, x=left, w=width)
        cut.append(replace(piece, text=words, rect=rect, ink=ink, style=style if is_sign else piece.style))
        before += f"{words} "
    return cut


def _measure_style(rows: Sequence[Row], line: TextLine) -> int:
    return sum(len(other.text) for row in rows for other in row if same_style(other.style, line.style))


def _split_at_marks(detection: Detection) -> Detection:
    """Cut texts at the lines that begin with a picture or a small box, where the line before leaves room."""
    marks = [element.rect for element in (*detection.pictures, *detection.boxes)]
    texts = [part for text in detection.texts for part in _split_at(text, marks)]
    return replace(detection, texts=tuple(texts)) if len(texts) > len(detection.texts) else detection


def _split_at(text: TextElement, marks: Sequence[Rect]) -> list[TextElement]:
    widest = max(line.rect.w for line in text.lines)
    groups = [[text.lines[0]]]
    for line, following in itertools.pairwise(text.lines):
        if ends_early(line, following, widest) and any(_begins(mark, following) for mark in marks):
            groups.append([])
        groups[-1].append(following)
    return [as_text(group) for group in groups] if len(groups) > 1 else [text]


def _begins(mark: Rect, line: TextLine) -> bool:
    """Whether a mark stands before a line, on its row."""
    is_level = line.ink.y - 2 <= mark.middle[1] <= line.ink.bottom + 2
    return is_level and mark.h <= _TALLEST_MARK * line.style.size and 0 <= line.rect.x - mark.right <= _FARTHEST


def _split_items(detection: Detection) -> Detection:
    """Cut texts beside a column of bullets into items; the bullets are not pictures then."""
    dots = [picture for picture in detection.pictures if _is_dot(picture)]
    lines = [line for text in detection.texts for line in text.lines]
    beside = [(dot, line) for dot in dots for line in lines if _is_beside(dot, line)]
    listed = [
        (dot, line)
        for dot, line in beside
        if sum(
            abs(other.rect.x - dot.rect.x) <= _EDGE and abs(neighbour.rect.x - line.rect.x) <= _EDGE
            for other, neighbour in beside
        )
        >= _FEWEST_DOTS
    ]
    if not listed:
        return detection
    starts = [line for _, line in listed]
    texts: list[TextElement] = []
    for text in detection.texts:
        groups: list[list[TextLine]] = []
        for line in text.lines:
            if not groups or any(line is start for start in starts):
                groups.append([])
            groups[-1].append(line)
        whole = len(groups) == 1
        for group in groups:
            item = text if whole else as_text(group)
            texts.append(replace(item, marker="disc") if any(group[0] is start for start in starts) else item)
    used = [dot for dot, _ in listed]
    pictures = tuple(neighbour for neighbour in detection.pictures if not any(neighbour is dot for dot in used))
    return replace(detection, texts=tuple(texts), pictures=pictures)


def _is_dot(picture: PictureElement) -> bool:
    rect = picture.rect
    sides = min(rect.w, rect.h) >= _SMALLEST_DOT and max(rect.w, rect.h) <= _LARGEST_DOT
    return picture.kind == "icon" and sides and abs(rect.w - rect.h) <= 2


def _is_beside(dot: PictureElement, line: TextLine) -> bool:
    """Whether a dot is the bullet of a line; a browser draws bullets in the colour of the text."""
    apart = line.rect.x - dot.rect.right
    if dot.colour and colour_distance(dot.colour, line.style.colour) > _OTHER_COLOUR:
        return False
    return _NEAREST <= apart <= _FARTHEST and line.ink.y - 2 <= dot.rect.middle[1] <= line.ink.bottom + 2
