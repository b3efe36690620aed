"""The gaps in a line of text, which are the columns of a picture that no letter covers, and single signs beside it."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heald_pictures.elements import TextLine
from heald_pictures.rect import Rect
from heald_studio.score.page_image import Pixels

_LEAST_CONTRAST = 24  # levels of 255; a line that differs less from its ground has no gaps that are certain
_INK = 0.3  # the share of the contrast from which on a pixel is ink
_REACH = 1.5  # how far from the line a sign may be, in heights
_JOINED = 0.15  # a narrower gap is inside a sign, in heights
_WIDEST_SIGN = 0.9  # in heights


@dataclass(frozen=True, slots=True)
class InkGap:
    """A gap between letters or words, in CSS pixels."""

    left: float
    right: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class InkSign:
    """A sign beside a line that was not read with it, such as an arrow or a separator, in CSS pixels."""

    left: float
    right: float


def find_gaps(pixels: Pixels, line: TextLine, ratio: int) -> tuple[InkGap, ...]:
    """Return the gaps inside a line, from left to right."""
    covered = _covered_columns(pixels, line, line.ink.x, line.ink.right, ratio)
    return tuple(InkGap((here + 1) / ratio, after / ratio) for here, after in pairwise(covered) if after - here > 1)


def find_signs(pixels: Pixels, line: TextLine, ratio: int) -> tuple[InkSign | None, InkSign | None]:
    """Return the signs directly before and after a line; None where there is none, or something wider."""
    reach = _REACH * line.rect.h
    before = _covered_columns(pixels, line, line.ink.x - reach, line.ink.x - 1, ratio)[::-1]
    after = _covered_columns(pixels, line, line.ink.right + 1, line.ink.right + reach, ratio)
    return _sign_of(before, line, ratio), _sign_of(after, line, ratio)


def _covered_columns(pixels: Pixels, line: TextLine, left: float, right: float, ratio: int) -> list[int]:
    """Return the columns of the picture with ink. Only what is above the baseline counts: an underline goes through
    the gaps."""
    bottom = min(line.baseline, line.ink.bottom)
    area = _area_of(pixels, Rect(left, line.ink.y, right - left, bottom - line.ink.y), ratio)
    whole = _area_of(pixels, line.rect, ratio)
    if area.size == 0 or whole.size == 0:
        return []
    ground = np.median(whole.reshape(-1, 3), axis=0)
    contrast = float(np.abs(whole - ground).max())
    if contrast < _LEAST_CONTRAST:
        return []
    start = max(round(left * ratio), 0)
    columns = np.flatnonzero((np.abs(area - ground).max(axis=2) >= _INK * contrast).any(axis=0))
    return [start + int(column) for column in columns]


def _sign_of(columns: list[int], line: TextLine, ratio: int) -> InkSign | None:
    """Return the first sign of columns that are ordered by their distance from the line."""
    if not columns:
        return None
    joined = max(2, round(_JOINED * line.rect.h * ratio))
    end = next((at + 1 for at, (here, after) in enumerate(pairwise(columns)) if abs(after - here) > joined), None)
    sign = columns[: end or len(columns)]
    left, right = min(sign) / ratio, (max(sign) + 1) / ratio
    return InkSign(left, right) if right - left <= _WIDEST_SIGN * line.rect.h else None


def _area_of(pixels: Pixels, rect: Rect, ratio: int) -> NDArray[np.int16]:
    top, bottom = max(round(rect.y * ratio), 0), max(round(rect.bottom * ratio), 0)
    left, right = max(round(rect.x * ratio), 0), max(round(rect.right * ratio), 0)
    return pixels[top:bottom, left:right].astype(np.int16)
