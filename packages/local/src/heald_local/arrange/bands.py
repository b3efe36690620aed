"""Finds where a page of several columns is divided across: rows of cards, and what stands above all columns."""

import itertools
from collections.abc import Sequence

from heald_local.arrange.controls import collect_texts
from heald_local.arrange.part import Part
from heald_local.spans import is_even
from heald_pictures.rect import hull

_EDGE = 3.0  # pixels by which columns of two rows of cards may differ
_LEVEL = 8.0  # pixels by which the first parts of columns may differ
_LEAST_GAP = 12.0
_WIDER = 1.5  # times the usual distance is that between two rows of cards
_LEAST_PHOTO = 80.0
_MOST_BADGES = 1
_FAR_CAPTION = 40.0  # pixels between a photograph or a line below it and the next line
_ALIKE = 4.0  # pixels between the middles of two parts on one line

Rows = Sequence[Sequence[Part]]


def split_cards(rows: Rows, columns: Rows) -> list[list[Part]]:
    """Group the rows of a page into bands, if two bands or more are cards in the same columns; else none."""
    gaps = [
        min(part.rect.y for part in lower) - max(part.rect.bottom for part in upper)
        for upper, lower in itertools.pairwise(rows)
    ]
    usual = sorted(gaps)[len(gaps) // 2]
    bands: list[list[Part]] = [list(rows[0])]
    for gap, row in zip(gaps, rows[1:], strict=True):
        if gap >= max(_WIDER * usual, _LEAST_GAP):
            bands.append([])
        bands[-1] += row
    lefts = [hull(part.rect for part in column).x for column in columns]
    cards = [band for band in bands if _are_cards(band, lefts)]
    return bands if len(cards) > 1 else []


def _are_cards(band: Sequence[Part], lefts: Sequence[float]) -> bool:
    """Whether a picture or a box begins at the left edge of every column, and all of them at one height."""
    tops_of_cards = [
        part.rect for part in band if part.picture is not None or (part.box is not None and part.kind != "rule")
    ]
    top = min(part.rect.y for part in band)
    first = [rect for rect in tops_of_cards if rect.y - top <= _LEVEL]
    return len(lefts) > 1 and all(any(abs(rect.x - left) <= _EDGE for rect in first) for left in lefts)


def split_top(columns: Rows) -> list[list[Part]]:
    """Part what stands above all columns from the columns, if it is in one of them and the others begin below."""
    tops = [min(part.rect.y for part in column) for column in columns]
    begin = sorted(tops)[1]
    if begin - min(tops) <= _LEVEL or any(abs(top - begin) > _LEVEL for top in tops if top != min(tops)):
        return []
    parts = [part for column in columns for part in column]
    above = [part for part in parts if part.rect.bottom <= begin - _LEAST_GAP]
    below = [part for part in parts if part not in above]
    first = columns[tops.index(min(tops))]
    begins = [part for part in first if abs(part.rect.y - begin) <= _LEVEL]
    clear = all(part.rect.y >= begin - _LEVEL for part in below)
    return [above, below] if above and begins and clear else []


def has_partners(rows: Rows, columns: Rows) -> bool:
    """Whether a column has few parts, each on one line with a part of another column: the ends of rows."""
    for column in columns:
        others = [part for other in columns if other is not column for part in other]
        if 2 * len(column) <= len(rows) and all(any(_is_level(part, other) for other in others) for part in column):
            return True
    return False


def begins_with_photos(rows: Rows) -> bool:
    """Whether the first row is photographs alone: what is below them are their captions, not rows of a table."""
    pictured = any(part.picture is not None for part in rows[0]) and all(_is_shown(part) for part in rows[0])
    return pictured and any(part.text is not None for row in rows[1:] for part in row)


def _is_shown(part: Part) -> bool:
    """Whether a part is a large picture, or a box with hardly anything written in it."""
    if min(part.rect.w, part.rect.h) < _LEAST_PHOTO or part.kind == "rule":
        return False
    return part.picture is not None or (part.box is not None and len(collect_texts(part)) <= _MOST_BADGES)


def split_captions(rows: Rows) -> list[tuple[int, list[list[Part]]]]:
    """Return the number of each row with no columns, or that of a row of photographs with the columns of it and the
    words below it, one for each photograph.
    """
    groups: list[tuple[int, list[list[Part]]]] = []
    at = 0
    while at < len(rows):
        columns, used = _caption_columns(rows[at:])
        groups.append((at, columns if used > 1 else []))
        at += max(used, 1)
    return groups


def _caption_columns(rows: Rows) -> tuple[list[list[Part]], int]:
    """Return the columns that the first rows are, and how many rows these are; none if they are not photographs."""
    photos = sorted(rows[0], key=lambda part: part.rect.x)
    wide = [part.rect.w for part in photos]
    if len(photos) < 2 or not begins_with_photos(rows) or not is_even(wide, _EDGE):
        return [], 0
    columns = [[part] for part in photos]
    for used, row in enumerate(rows[1:], start=1):
        homes = [_column_of(part, photos) for part in row]
        near = min(part.rect.y for part in row) - max(part.rect.bottom for part in rows[used - 1]) <= _FAR_CAPTION
        if -1 in homes or not near or any(_is_shown(part) for part in row):
            return columns, used
        for part, home in zip(row, homes, strict=True):
            columns[home].append(part)
    return columns, len(rows)


def _column_of(part: Part, photos: Sequence[Part]) -> int:
    inside = (part.rect.x >= photo.rect.x - _EDGE and part.rect.right <= photo.rect.right + _EDGE for photo in photos)
    return next((number for number, within in enumerate(inside) if within), -1)


def join_columns(columns: Rows) -> list[list[Part]]:
    """Join neighbours that are columns of one grid: their pictures have one width and begin at the same heights."""
    joined: list[list[Part]] = []
    for column in columns:
        if joined and _are_of_one_grid(joined[-1], column):
            joined[-1] += column
        else:
            joined.append(list(column))
    return joined


def _are_of_one_grid(first: Sequence[Part], second: Sequence[Part]) -> bool:
    left, right = ([part.rect for part in column if _is_card_top(part)] for column in (first, second))
    pairs = [(a, b) for b in right for a in left if abs(a.y - b.y) <= _EDGE and abs(a.w - b.w) <= _EDGE]
    return len(right) > 1 and len({b.y for _, b in pairs}) == len(right)


def _is_card_top(part: Part) -> bool:
    large = min(part.rect.w, part.rect.h) >= _LEAST_PHOTO and part.kind != "rule"
    return large and (part.picture is not None or part.box is not None)


def _is_level(first: Part, second: Part) -> bool:
    low = first.rect.bottom, second.rect.bottom
    return abs(first.rect.middle[1] - second.rect.middle[1]) <= _ALIKE or abs(low[0] - low[1]) <= _ALIKE
