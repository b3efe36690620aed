"""Separates the ink of text lines from its background."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.vision.elements import Box, Rect, spanning
from weft.vision.see.regions import Mask, Pixels, distance_between, largest_channel

FAINT = 0.12  # the part of the strongest contrast from which on a pixel counts as ink
REACH = 6  # how far beyond the detector's box a line is followed
GAP = 1.15  # a gap wider than this many ink heights parts two texts
POINT = 0.42  # sides of a full stop or comma, in parts of the height of its line
APART, STEP = 1.0, 0.85  # a gap in heights of the line, and the height of the smaller of two texts beside each other
CENTRED = 2  # pixels by which the middles of such texts may differ, doubled
HUE, HUE_STRONG, STRONG = 0.94, 0.975, 160.0  # the least likeness of one colour; more where both stand out this much
SHADE, EVEN = 0.84, 0.84  # strength of the paler of two texts on one line, and of the words of one text


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """A piece of text: the area of its ink, the darkness of each pixel (0 to 1), and the two colours.

    Each is equal to itself only, so that what is measured of it can be cached.
    """

    rect: Rect
    cover: NDArray[np.float32]
    paper: NDArray[np.float64]
    colour: NDArray[np.float64]
    underlined: bool = False

    @property
    def exact(self) -> Rect:
        """The edges with fractions of pixels, from the coverage of the outermost ones."""
        sides = (self.cover[:, 0], self.cover[:, -1], self.cover[0], self.cover[-1])
        near, far, high, low = (min(max(float(side.max()), 0.0), 1.0) for side in sides)
        left, right = self.rect.x + 1 - near, self.rect.right - 1 + far
        top, bottom = self.rect.y + 1 - high, self.rect.bottom - 1 + low
        return spanning((left, top, max(right, left + 1), max(bottom, top + 1)))


def find_ink(pixels: Pixels, page: Pixels, rects: Sequence[Rect], boxes: Sequence[Box] = ()) -> list[Ink]:
    """Find the ink in each rectangle, within the box that it is on. One rectangle may hold several pieces."""
    found: list[Ink] = []
    settled = _without_nested(rects)
    for rect in settled:
        for part in _pieces(pixels, page, rect, _between(rect, settled, _room_around(rect, boxes))):
            ink = extract_ink(pixels, page, part)
            if ink is not None and not any(ink.rect.common(other.rect) > 0.6 * ink.rect.area for other in found[-30:]):
                found.append(ink)
    return found


def extract_ink(pixels: Pixels, page: Pixels, rect: Rect) -> Ink | None:
    """Extract the ink within a rectangle, cropped."""
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    change = pixels[top:bottom, left:right].astype(np.float64) - page[top:bottom, left:right]
    strength = largest_channel(np.abs(change))
    if not strength.size or strength.max() < 24:
        return None
    strongest = strength >= np.quantile(strength, 0.985) - 1e-6
    strongest &= strength > 0.6 * strength.max()
    direction = np.median(change[strongest], axis=0)
    cover = np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, 1)
    dark = cover > FAINT
    if dark.sum() < 6 or _is_colourful(change, cover, direction):
        return None
    ruled = _underline_row(dark)
    if ruled is not None:
        cover[ruled:] = 0
        dark[ruled:] = False
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    high, low, near, far = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    paper = np.median(page[top:bottom, left:right].reshape(-1, 3), axis=0)
    return Ink(
        spanning((left + near, top + high, left + far, top + low)),
        cover[high:low, near:far].astype(np.float32),
        paper,
        np.clip(paper + direction, 0, 255),
        ruled is not None,
    )


def _is_colourful(change: NDArray[np.float64], cover: NDArray[np.float64], direction: NDArray[np.float64]) -> bool:
    """Whether there are more colours than paper, ink and what lies between, as in a picture."""
    off = largest_channel(np.abs(change - cover[:, :, None] * direction))
    strong = largest_channel(np.abs(change)) > 24
    return float((off[strong] > 48).mean()) > 0.2 if strong.any() else False


def _underline_row(dark: Mask) -> int | None:
    """Find the row where an underline begins: thin, low, and nearly as wide as the line."""
    columns = np.flatnonzero(dark.any(axis=0))
    height = len(dark)
    if height < 8 or columns[-1] - columns[0] < 2 * height:
        return None
    full = dark[:, columns[0] : columns[-1] + 1].mean(axis=1)
    rows = np.flatnonzero(full > 0.8)
    if not len(rows) or len(rows) > 3 or rows[0] < 0.62 * height or rows[-1] - rows[0] > 3:
        return None
    return int(rows[0]) if full[rows[0] - 1] < 0.35 else None


def _without_nested(rects: Sequence[Rect]) -> list[Rect]:
    """Drop rectangles that lie in larger ones."""
    kept: list[Rect] = []
    for rect in sorted(rects, key=lambda each: -each.area):
        if not any(rect.common(other) > 0.7 * rect.area for other in kept):
            kept.append(rect)
    return sorted(kept, key=lambda each: (each.y, each.x))


def _room_around(rect: Rect, boxes: Sequence[Box]) -> Rect | None:
    """Return the inside of the smallest box around the middle of a rectangle, if the text can be on it."""
    across, down = rect.middle
    middle = Rect(across, down, 0, 0)
    on = [box for box in boxes if box.rect.holds(middle) and box.rect.w >= 0.6 * rect.w and box.rect.h >= 0.5 * rect.h]
    if not on:
        return None
    box = min(on, key=lambda each: each.rect.area)
    edge = max(box.border.widths) if box.border is not None else 0.0
    return box.rect.grown(-(edge + 1 + min(0.2 * box.radius, 3)))


def _between(rect: Rect, rects: Sequence[Rect], room: Rect | None) -> Rect | None:
    """Return the room up to halfway to the texts before and after on the same line."""
    left, right = rect.x - REACH, rect.right + REACH
    near, far = left, right
    for other in rects:
        beside = min(other.bottom, rect.bottom) - max(other.y, rect.y) > 0.4 * min(other.h, rect.h)
        if other is rect or not beside or other.right < left or other.x > right:
            continue
        if other.middle[0] < rect.x:
            near = max(near, (other.right + rect.x) / 2)
        elif other.middle[0] > rect.right:
            far = min(far, (other.x + rect.right) / 2)
    if near == left and far == right:
        return room
    whole = spanning((near, rect.y - REACH, max(far, near), rect.bottom + REACH))
    if room is None:
        return whole
    near, far = max(near, room.x), min(far, room.right)
    return spanning((near, room.y, max(far, near), room.bottom))


def _pieces(pixels: Pixels, page: Pixels, rect: Rect, room: Rect | None) -> list[Rect]:
    """Extend the rectangle to its ink, and split it at wide gaps."""
    height, width = pixels.shape[:2]
    grown = Rect(rect.x - REACH, rect.y - 2, rect.w + 2 * REACH, rect.h + 4).within(width, height)
    if room is not None:
        near, high = max(grown.x, room.x), max(grown.y, room.y)
        far, low = max(min(grown.right, room.right), near), max(min(grown.bottom, room.bottom), high)
        grown = spanning((near, high, far, low))
    left, top = int(grown.x), int(grown.y)
    dark = _dark_mask(pixels, page, grown)
    rows = _core_rows(dark, round(rect.y) - top, round(rect.bottom) - top)
    if rows is None:
        return []
    high, low = rows
    band = dark[high:low]
    columns = np.flatnonzero(band.any(axis=0))
    if not len(columns):
        return []
    limit = max(GAP * (low - high), 9.0)
    parts: list[Rect] = []
    for group in np.split(columns, np.flatnonzero(np.diff(columns) > limit) + 1):
        start, end = int(group[0]), int(group[-1]) + 1
        words = _group_words(pixels, page, band, (left, top + high), (start, end))
        for near, far in (piece for word in words for piece in _split_low(band, word)):
            here = np.flatnonzero(band[:, near:far].any(axis=1))
            parts.append(spanning((left + near, top + high + int(here[0]), left + far, top + high + int(here[-1]) + 1)))
    return [part for part in parts if part.w >= 2 and part.h >= 3]


def _group_words(
    pixels: Pixels, page: Pixels, band: Mask, origin: tuple[int, int], ends: tuple[int, int]
) -> list[tuple[int, int]]:
    """Split where the colour changes, or the height more than letters do."""
    start, end = ends
    filled = np.flatnonzero(band[:, start:end].any(axis=0)) + start
    height = len(band)
    groups = np.split(filled, np.flatnonzero(np.diff(filled) > max(2.0, 0.16 * height)) + 1)
    words = [(int(group[0]), int(group[-1]) + 1) for group in groups]
    if len(words) < 2:
        return [ends]
    left, top = origin
    whole = (slice(top, top + height), slice(left, left + band.shape[1]))
    change = pixels[whole].astype(np.int16) - page[whole]
    looks = [_word_look(change[:, near:far], band[:, near:far]) for near, far in words]
    kin = [words[0]]
    last = looks[0]
    if looks[0][1] <= 0.3 * height and words[1][0] - words[0][1] > max(0.6 * height, 5):
        kin.append(words.pop(1))  # a dash before an item
        last = looks.pop(1)
    for word, look in zip(words[1:], looks[1:], strict=True):
        if _differ(last, look) or _is_other_text(band, kin[-1], word):
            kin.append(word)
            last = look
            continue
        kin[-1] = (kin[-1][0], word[1])
        last = last if last[2] >= look[2] else look
    if len(kin) == 1 and len(words) > 2:
        return _split_by_shade(words, [float(np.linalg.norm(look[0])) for look in looks], height, ends)
    return kin


def _split_low(band: Mask, ends: tuple[int, int]) -> list[tuple[int, int]]:
    """Split words beside a taller text, such as links beside a site's name, at gaps that are wide for their height."""
    near, far = ends
    rows, columns = np.flatnonzero(band[:, near:far].any(axis=1)), np.flatnonzero(band[:, near:far].any(axis=0))
    limit = max(GAP * int(rows[-1] - rows[0] + 1), 9.0)
    groups = np.split(columns, np.flatnonzero(np.diff(columns) > limit) + 1)
    return [(near + int(group[0]), near + int(group[-1]) + 1) for group in groups]


def _split_by_shade(
    words: list[tuple[int, int]], strengths: list[float], height: int, ends: tuple[int, int]
) -> list[tuple[int, int]]:
    """Split once where all words before are clearly darker, or lighter, than all behind.

    Narrow words are ignored: thin strokes are pale.
    """
    telling = [(word, strength) for word, strength in zip(words, strengths, strict=True) if word[1] - word[0] >= height]
    for at in range(1, len(telling)):
        before, behind = ([strength for _, strength in part] for part in (telling[:at], telling[at:]))
        dark, pale = (before, behind) if min(before) > max(behind) else (behind, before)
        if max(pale) < SHADE * min(dark) and min(pale) > EVEN * max(pale) and min(dark) > EVEN * max(dark):
            middle = (sum(dark) / len(dark) + sum(pale) / len(pale)) / 2
            between = range(words.index(telling[at - 1][0]) + 1, words.index(telling[at][0]) + 1)
            cut = next(number for number in between if (strengths[number] > middle) == (dark is behind))
            return [(ends[0], words[cut - 1][1]), (words[cut][0], ends[1])]
    return [ends]


def _word_look(change: NDArray[np.int16], dark: Mask) -> tuple[NDArray[np.float64], int, int]:
    """Return the strongest difference of a word from the paper, its height and its width."""
    strength = largest_channel(np.abs(change))
    strongest = strength >= max(float(np.quantile(strength, 0.97)), 1.0)
    rows = np.flatnonzero(dark.any(axis=1))
    return np.median(change[strongest], axis=0), int(rows[-1] - rows[0] + 1), dark.shape[1]


def _differ(one: tuple[NDArray[np.float64], int, int], two: tuple[NDArray[np.float64], int, int]) -> bool:
    if min(one[2], two[2]) < 0.45 * min(one[1], two[1]) and min(one[2], two[2]) < 6:
        return False
    if max(two[1:]) < POINT * one[1] or max(one[1:]) < POINT * two[1]:
        return False
    first, second = float(np.linalg.norm(one[0])), float(np.linalg.norm(two[0]))
    if not first or not second:
        return False
    alike = float(one[0] @ two[0]) / (first * second)
    if alike < (HUE_STRONG if min(first, second) > STRONG else HUE) or min(first, second) < 0.62 * max(first, second):
        return True
    return max(one[1], two[1]) > 2.3 * min(one[1], two[1]) and min(one[1], two[1]) >= 6


def _is_other_text(band: Mask, one: tuple[int, int], two: tuple[int, int]) -> bool:
    """Whether the words stand apart and on one middle, not on one baseline, such as a name and a smaller link."""
    if two[0] - one[1] < APART * len(band):
        return False
    first, second = (np.flatnonzero(band[:, near:far].any(axis=1)) for near, far in (one, two))
    small, large = sorted((first, second), key=lambda rows: int(rows[-1] - rows[0]))
    above, below = int(small[0] - large[0]), int(large[-1] - small[-1])
    smaller = small[-1] - small[0] + 1 < STEP * (large[-1] - large[0] + 1)
    return bool(smaller) and min(above, below) >= 1 and abs(above - below) <= CENTRED


def _dark_mask(pixels: Pixels, page: Pixels, rect: Rect) -> Mask:
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    change = distance_between(pixels[top:bottom, left:right], page[top:bottom, left:right])
    if not change.size:
        return np.zeros((1, 1), np.bool_)
    return change > max(18.0, FAINT * float(np.quantile(change, 0.995)))


def _core_rows(dark: Mask, top: int, bottom: int) -> tuple[int, int] | None:
    """Return the rows of the line itself: from its middle outward to the first empty row."""
    counts = dark.sum(axis=1)
    middle = np.arange(max(top, 0), min(bottom, len(counts)))
    if not len(middle) or not counts[middle].any():
        return None
    filled = np.flatnonzero(counts[middle] > 0) + middle[0]
    high, low = int(filled[0]), int(filled[-1]) + 1
    while high > 0 and counts[high - 1] and high > top - 3:
        high -= 1
    while low < len(counts) and counts[low] and low < bottom + 3:
        low += 1
    return high, low
