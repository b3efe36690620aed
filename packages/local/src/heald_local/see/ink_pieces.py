"""Finds the ink at places of text, and splits it into pieces of one style."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heald_local.see.ink import FAINT, Ink, extract_ink
from heald_local.see.select_arrows import room_before_arrow
from heald_pictures.elements import Box
from heald_pictures.rect import Rect, hull, spanning
from heald_pictures.regions import Mask, Pixels, distance_between, largest_channel

REACH, REACH_ABOVE = 6, 2  # pixels beyond the detector's box that a line is followed, to the sides and above and below
CORE_REACH = 3  # pixels more that its letters are followed without a gap above and below
LEAST_GAP = 9.0  # pixels of a gap that parts two texts
SAME_INK, COMPARED = 0.6, 30  # the part of ink that is known already, and the last pieces with which it is compared
NESTED = 0.7  # the part of a rectangle from which on it lies in another one
HOLDS_WIDE, HOLDS_HIGH = 0.6, 0.5  # the width and height of a box that text may be on, in parts of the text's
CROSSED = 0.25  # of the height of a text: a frame whose edge is nearer to its middle crosses the text, as a legend's
BEND, MOST_BEND = 0.2, 3  # the part of the radius of a box, and pixels, that its corners reach into it
VALLEY = 0.15  # the ink of the row between two lines, in parts of that of their strongest row
ALIKE_TALL = 0.6  # the height of the lower of two lines that are set without space, in parts of the other's
TIGHT = 0.4  # the part of the height of a line by which its middle and that of another line differ
LEVEL = 0.4  # the part of the height by which two texts are on one line
LEAST_WIDE, LEAST_HIGH = 2, 3  # pixels of a piece
WORD_GAP, LEAST_WORD_GAP = 0.16, 2.0  # between words, in heights of the line, and in pixels
DASH_HIGH, DASH_GAP, LEAST_DASH_GAP = 0.3, 0.6, 5  # of a dash before an item: its height and the gap behind it
STRONGEST = 0.97  # the quantile of the pixels of a word that show its colour
NARROW, NARROWEST = 0.45, 6  # a word that is narrower, in heights and in pixels, shows no style
PALE = 0.62  # a word that is paler than this part of another one has another colour
TALLER, LEAST_TALL = 2.3, 6  # times as tall as another word is another size, if that has so many pixels
RULE_WIDTH, FEWEST_RULES = 2, 2  # pixels of a line between two texts of a row, and the number of such lines
MUCH_LOWER = 0.8  # the height of letters beside one such line, in parts of its height
DARK, DARK_QUANTILE = 18.0, 0.995  # levels by which ink differs from the page, and the quantile of the strongest
GAP = 1.15  # a gap wider than this many ink heights parts two texts
POINT = 0.42  # sides of a full stop or comma, in parts of the height of its line
APART, STEP = 1.0, 0.85  # a gap in heights of the line, and the height of the smaller of two texts beside each other
CENTRED = 2  # pixels by which the middles of such texts may differ, doubled
HUE, HUE_STRONG, STRONG = 0.94, 0.975, 160.0  # the least likeness of one colour; more where both stand out this much
OFF_COLOUR = 40.0  # levels by which a word is off the other's colour at any strength; `ink` calls 48 a second colour
SHADE, EVEN = 0.84, 0.84  # strength of the paler of two texts on one line, and of the words of one text
SIGN_WIDE = 0.35  # the width of a sign that has a colour of its own, in heights of the line
FEWEST_MIXED, MOST_MIXED = 3, 200  # the letters and signs of such a line
TWO_SHADES, FEWEST_SHADED = 0.8, 2  # the same where shades alternate, and the words of each


def find_ink(pixels: Pixels, page: Pixels, rects: Sequence[Rect], boxes: Sequence[Box] = ()) -> list[Ink]:
    """Find the ink in each rectangle, within the box that it is on. One rectangle may hold several pieces."""
    inks: list[Ink] = []
    places = _without_nested(rects)
    for rect in places:
        tight = [other for other in places if other is not rect and _is_tight(rect, other)]
        for part in _pieces(pixels, page, rect, _between(rect, places, _find_room(pixels, rect, boxes)), tight):
            ink = extract_ink(pixels, page, part)
            for found in [ink] if ink is not None else _extract_mixed_line(pixels, page, part):
                if not any(found.rect.common(other.rect) > SAME_INK * found.rect.area for other in inks[-COMPARED:]):
                    inks.append(found)
    return inks


def _extract_mixed_line(pixels: Pixels, page: Pixels, rect: Rect) -> list[Ink]:
    """Extract the ink of a line whose narrow signs have a colour of their own, such as A | B | C or a linked [1].

    So many pixels have another colour that the line looks like a picture. Signs that stand apart at its ends are pieces
    of their own. Empty if there is no such line.
    """
    dark = _dark_mask(pixels, page, rect)
    columns, height = np.flatnonzero(dark.any(axis=0)), len(dark)
    groups = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    if not FEWEST_MIXED <= len(groups) <= MOST_MIXED:
        return []
    places = [spanning((rect.x + group[0], rect.y, rect.x + group[-1] + 1, rect.bottom)) for group in groups]
    inks = [ink for place in places if (ink := extract_ink(pixels, page, place)) is not None]
    if len(inks) < len(groups):
        return []
    main = max(inks, key=lambda ink: ink.rect.w)
    is_sign = [not _has_colour(ink, main.colour) for ink in inks]
    if any(sign and ink.rect.w > SIGN_WIDE * height for ink, sign in zip(inks, is_sign, strict=True)):
        return []
    apart = max(LEAST_WORD_GAP, WORD_GAP * height)
    first = int(is_sign[0] and inks[1].rect.x - inks[0].rect.right > apart)
    last = len(inks) - int(is_sign[-1] and inks[-1].rect.x - inks[-2].rect.right > apart)
    return [*inks[:first], _join_inks(inks[first:last], main), *inks[last:]]


def _join_inks(inks: Sequence[Ink], main: Ink) -> Ink:
    """Return one ink of several, in the colour of one of them."""
    whole = hull(ink.rect for ink in inks)
    cover = np.zeros((round(whole.h), round(whole.w)), np.float32)
    for ink in inks:
        top, left = round(ink.rect.y - whole.y), round(ink.rect.x - whole.x)
        cover[top : top + ink.cover.shape[0], left : left + ink.cover.shape[1]] = ink.cover
    return Ink(whole, cover, main.paper, main.colour, main.underlined)


def _has_colour(ink: Ink, colour: NDArray[np.float64]) -> bool:
    return float(np.abs(ink.colour - colour).max()) <= OFF_COLOUR


def _without_nested(rects: Sequence[Rect]) -> list[Rect]:
    """Drop rectangles that lie in larger ones."""
    outer: list[Rect] = []
    for rect in sorted(rects, key=lambda rect: -rect.area):
        if not any(rect.common(other) > NESTED * rect.area for other in outer):
            outer.append(rect)
    return sorted(outer, key=lambda rect: (rect.y, rect.x))


def _find_room(pixels: Pixels, rect: Rect, boxes: Sequence[Box]) -> Rect | None:
    return _room_around(pixels, rect, boxes) or _room_beside(
        rect, [box.rect for box in boxes if box.border is not None]
    )


def _room_beside(rect: Rect, frames: Sequence[Rect]) -> Rect | None:
    """Return the room of a text between the frame above it and the one below, such as the field of a label.

    The shade inside of a frame is no ink of the text. None if there is no frame so near.
    """
    middle, apart = rect.middle[1], CROSSED * rect.h
    over = [frame for frame in frames if min(frame.right, rect.right) > max(frame.x, rect.x)]
    top = max((frame.bottom for frame in over if rect.y - REACH < frame.bottom < middle - apart), default=None)
    bottom = min((frame.y for frame in over if middle + apart < frame.y < rect.bottom + REACH), default=None)
    if top is None and bottom is None:
        return None
    high, low = rect.y - REACH if top is None else top, rect.bottom + REACH if bottom is None else bottom
    return spanning((rect.x - REACH, high, rect.right + REACH, low))


def _room_around(pixels: Pixels, rect: Rect, boxes: Sequence[Box]) -> Rect | None:
    """Return the inside of the smallest box around the middle of a rectangle, if the text can be on it."""
    across, down = rect.middle
    middle = Rect(across, down, 0, 0)
    around = [box for box in boxes if box.rect.holds(middle)]
    on = [box for box in around if box.rect.w >= HOLDS_WIDE * rect.w and box.rect.h >= HOLDS_HIGH * rect.h]
    if not on:
        return None
    box = min(on, key=lambda box: box.rect.area)
    edge = max(box.border.widths) if box.border is not None else 0.0
    inside = box.rect.grown(-(edge + 1 + min(BEND * box.radius, MOST_BEND)))
    before_arrow = room_before_arrow(pixels, box.rect)
    return inside if before_arrow is None else replace(inside, w=before_arrow.right - inside.x)


def _between(rect: Rect, rects: Sequence[Rect], room: Rect | None) -> Rect | None:
    """Return the room up to halfway to the texts before and after on the same line."""
    left, right = rect.x - REACH, rect.right + REACH
    near, far = left, right
    for other in rects:
        beside = min(other.bottom, rect.bottom) - max(other.y, rect.y) > LEVEL * min(other.h, rect.h)
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


def _is_tight(rect: Rect, other: Rect) -> bool:
    """Whether the place of another line reaches into that of a line, as where lines are set without space."""
    across = min(rect.right, other.right) - max(rect.x, other.x)
    down = min(rect.bottom, other.bottom) - max(rect.y, other.y)
    apart = abs(rect.middle[1] - other.middle[1])
    alike = min(rect.h, other.h) >= ALIKE_TALL * max(rect.h, other.h)
    return alike and across > 0 and down > 0 and apart > TIGHT * min(rect.h, other.h)


def _without_neighbours(dark: Mask, top: int, rect: Rect, tight: Sequence[Rect]) -> Mask:
    """Clear the ink of lines above and below, from the row with the least ink between both."""
    cleared = dark.copy()
    counts = dark.sum(axis=1)
    here = round(rect.middle[1]) - top
    for other in tight:
        there = min(max(round(other.middle[1]) - top, 0), len(counts) - 1)
        between = counts[min(here, there) : max(here, there) + 1]
        if len(between) < 2 or between.min() > VALLEY * between.max():
            continue
        if there < here:
            cleared[: there + int(np.flatnonzero(between == between.min())[-1])] = False
        else:
            cleared[here + int(np.flatnonzero(between == between.min())[0]) + 1 :] = False
    return cleared


def _pieces(pixels: Pixels, page: Pixels, rect: Rect, room: Rect | None, tight: Sequence[Rect]) -> list[Rect]:
    """Extend the rectangle to its ink, and split it at wide gaps. Lines that are `tight` reach into its place."""
    height, width = pixels.shape[:2]
    grown = Rect(rect.x - REACH, rect.y - REACH_ABOVE, rect.w + 2 * REACH, rect.h + 2 * REACH_ABOVE).within(
        width, height
    )
    if room is not None:
        near, high = max(grown.x, room.x), max(grown.y, room.y)
        far, low = max(min(grown.right, room.right), near), max(min(grown.bottom, room.bottom), high)
        grown = spanning((near, high, far, low))
    left, top = int(grown.x), int(grown.y)
    dark = _without_neighbours(_dark_mask(pixels, page, grown), top, rect, tight)
    rows = _core_rows(dark, round(rect.y) - top, round(rect.bottom) - top)
    if rows is None:
        return []
    high, low = rows
    band = _without_rules(dark[high:low], pixels[top + high : top + low, left : left + dark.shape[1]])
    columns = np.flatnonzero(band.any(axis=0))
    if not len(columns):
        return []
    limit = max(GAP * (low - high), LEAST_GAP)
    parts: list[Rect] = []
    for group in np.split(columns, np.flatnonzero(np.diff(columns) > limit) + 1):
        start, end = int(group[0]), int(group[-1]) + 1
        words = _group_words(pixels, page, band, (left, top + high), (start, end))
        for near, far in (piece for word in words for piece in _split_low(band, word)):
            here = np.flatnonzero(band[:, near:far].any(axis=1))
            parts.append(spanning((left + near, top + high + int(here[0]), left + far, top + high + int(here[-1]) + 1)))
    return [part for part in parts if part.w >= LEAST_WIDE and part.h >= LEAST_HIGH]


def _without_rules(band: Mask, pixels: Pixels) -> Mask:
    """Clear thin upright lines that are as tall as the band and paler than its letters.

    One alone must be much taller than the letters: it may be a bar between two words.
    """
    columns = np.flatnonzero(band.any(axis=0))
    if not len(columns):
        return band
    groups = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    thin = [group for group in groups if len(group) <= RULE_WIDTH and bool(band[:, group].all())]
    others = [group for group in groups if not any(group is rule for rule in thin)]
    if not thin or not others:
        return band
    paper = np.median(pixels, axis=(0, 1))
    away = np.abs(pixels.astype(np.int16) - paper).max(axis=2)
    strength = float(np.quantile(away[:, np.concatenate(others)][band[:, np.concatenate(others)]], STRONGEST))
    tallest = max(int(np.ptp(np.flatnonzero(band[:, group].any(axis=1)))) + 1 for group in others)
    pale = [group for group in thin if float(away[:, group].max()) < PALE * strength]
    fewest = 1 if tallest <= MUCH_LOWER * len(band) else FEWEST_RULES
    if len(pale) < fewest or tallest >= len(band):
        return band
    cleared = band.copy()
    cleared[:, np.concatenate(pale)] = False
    return cleared


def _group_words(
    pixels: Pixels, page: Pixels, band: Mask, origin: tuple[int, int], ends: tuple[int, int]
) -> list[tuple[int, int]]:
    """Split where the colour changes, or the height more than letters do."""
    start, end = ends
    filled = np.flatnonzero(band[:, start:end].any(axis=0)) + start
    height = len(band)
    groups = np.split(filled, np.flatnonzero(np.diff(filled) > max(LEAST_WORD_GAP, WORD_GAP * height)) + 1)
    words = [(int(group[0]), int(group[-1]) + 1) for group in groups]
    if len(words) < 2:
        return [ends]
    left, top = origin
    whole = (slice(top, top + height), slice(left, left + band.shape[1]))
    change = pixels[whole].astype(np.int16) - page[whole]
    looks = [_word_look(change[:, near:far], band[:, near:far]) for near, far in words]
    kin = [words[0]]
    last = looks[0]
    gap = words[1][0] - words[0][1]
    if looks[0].height <= DASH_HIGH * height and gap > max(DASH_GAP * height, LEAST_DASH_GAP):
        kin.append(words.pop(1))  # a dash before an item
        last = looks.pop(1)
    for number, (word, look) in enumerate(zip(words[1:], looks[1:], strict=True), start=1):
        if _differ(last, look) or _is_other_text(band, kin[-1], word):
            if number > 1 and words[number - 1][0] > kin[-1][0] and _begins_word(*words[number - 2 : number + 1]):
                kin[-1] = (kin[-1][0], words[number - 2][1])
                word = (words[number - 1][0], word[1])
            kin.append(word)
            last = look
            continue
        kin[-1] = (kin[-1][0], word[1])
        last = last if last.width >= look.width else look
    if len(kin) == 1 and len(words) > 2:
        return _split_by_shade(words, [look.strength for look in looks], height, ends)
    return kin


def _begins_word(before: tuple[int, int], letter: tuple[int, int], word: tuple[int, int]) -> bool:
    """Whether a narrow letter, which shows no style, stands nearer to the word behind it, as in Investment."""
    is_narrow = letter[1] - letter[0] < NARROWEST
    return is_narrow and word[0] - letter[1] < letter[0] - before[1]


def _split_low(band: Mask, ends: tuple[int, int]) -> list[tuple[int, int]]:
    """Split words beside a taller text, such as links beside a site's name, at gaps that are wide for their height."""
    near, far = ends
    rows, columns = np.flatnonzero(band[:, near:far].any(axis=1)), np.flatnonzero(band[:, near:far].any(axis=0))
    limit = max(GAP * int(rows[-1] - rows[0] + 1), LEAST_GAP)
    groups = np.split(columns, np.flatnonzero(np.diff(columns) > limit) + 1)
    return [(near + int(group[0]), near + int(group[-1]) + 1) for group in groups]


def _split_by_shade(
    words: list[tuple[int, int]], strengths: list[float], height: int, ends: tuple[int, int]
) -> list[tuple[int, int]]:
    """Split once where all words before are clearly darker, or lighter, than all behind.

    Narrow words are ignored: thin strokes are pale.
    """
    wide_words = [
        (word, strength) for word, strength in zip(words, strengths, strict=True) if word[1] - word[0] >= height
    ]
    for at in range(1, len(wide_words)):
        before, behind = ([strength for _, strength in part] for part in (wide_words[:at], wide_words[at:]))
        dark, pale = (before, behind) if min(before) > max(behind) else (behind, before)
        if max(pale) < SHADE * min(dark) and min(pale) > EVEN * max(pale) and min(dark) > EVEN * max(dark):
            middle = (sum(dark) / len(dark) + sum(pale) / len(pale)) / 2
            between = range(words.index(wide_words[at - 1][0]) + 1, words.index(wide_words[at][0]) + 1)
            cut = next(number for number in between if (strengths[number] > middle) == (dark is behind))
            return [(ends[0], words[cut - 1][1]), (words[cut][0], ends[1])]
    return _split_at_shades(words, strengths, [word for word, _ in wide_words], ends)


def _split_at_shades(
    words: list[tuple[int, int]], strengths: list[float], wide_words: list[tuple[int, int]], ends: tuple[int, int]
) -> list[tuple[int, int]]:
    """Split at every change between two clear shades, such as around paler links in a sentence.

    A narrow word that is pale may have either shade; it has that of the word before, or else of the one behind.
    """
    by_word = dict(zip(words, strengths, strict=True))
    ordered = sorted(by_word[word] for word in wide_words)
    steps = [(paler / darker, at) for at, (paler, darker) in enumerate(pairwise(ordered), start=1) if darker]
    step, at = min(steps, default=(1.0, 0))
    pale, dark = ordered[:at], ordered[at:]
    if step >= TWO_SHADES or min(len(pale), len(dark)) < FEWEST_SHADED:
        return [ends]
    if min(pale) <= EVEN * max(pale) or min(dark) <= EVEN * max(dark):
        return [ends]
    middle = (pale[-1] + dark[0]) / 2
    wide = set(wide_words)
    shades: list[bool] = []
    for number, word in enumerate(words):
        is_dark = by_word[word] > middle
        if not is_dark and word not in wide and shades and shades[-1]:
            following = next((later for later in words[number + 1 :] if later in wide), None)
            is_dark = following is None or by_word[following] > middle
        shades.append(is_dark)
    cuts = [number for number in range(1, len(words)) if shades[number] != shades[number - 1]]
    starts = [ends[0], *(words[cut][0] for cut in cuts)]
    return list(zip(starts, [*(words[cut - 1][1] for cut in cuts), ends[1]], strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _WordLook:
    """The strongest difference of a word from the paper, its height and its width."""

    change: NDArray[np.float64]
    height: int
    width: int

    @property
    def strength(self) -> float:
        return float(np.linalg.norm(self.change))


def _word_look(change: NDArray[np.int16], dark: Mask) -> _WordLook:
    strength = largest_channel(np.abs(change))
    strongest = strength >= max(float(np.quantile(strength, STRONGEST)), 1.0)
    rows = np.flatnonzero(dark.any(axis=1))
    return _WordLook(np.median(change[strongest], axis=0), int(rows[-1] - rows[0] + 1), dark.shape[1])


def _differ(word: _WordLook, following: _WordLook) -> bool:
    """Whether two words have another colour, strength or size; points and narrow words show none."""
    narrower, lower = min(word.width, following.width), min(word.height, following.height)
    if narrower < min(NARROW * lower, NARROWEST):
        return False
    if max(following.height, following.width) < POINT * word.height:
        return False
    if max(word.height, word.width) < POINT * following.height:
        return False
    paler, darker = sorted((word.strength, following.strength))
    if not paler:
        return False
    alike = float(word.change @ following.change) / (word.strength * following.strength)
    if alike < (HUE_STRONG if paler > STRONG else HUE) or paler < PALE * darker:
        return True
    if max(_off_colour(word, following), _off_colour(following, word)) > OFF_COLOUR:
        return True
    return max(word.height, following.height) > TALLER * lower and lower >= LEAST_TALL


def _off_colour(word: _WordLook, other: _WordLook) -> float:
    """Return the levels by which a word is off the other one's colour, at the strength where they are nearest."""
    nearest = float(word.change @ other.change) / other.strength**2
    return float(np.abs(word.change - nearest * other.change).max())


def _is_other_text(band: Mask, word: tuple[int, int], following: tuple[int, int]) -> bool:
    """Whether the words stand apart and on one middle, not on one baseline, such as a name and a smaller link."""
    if following[0] - word[1] < APART * len(band):
        return False
    first, second = (np.flatnonzero(band[:, near:far].any(axis=1)) for near, far in (word, following))
    small, large = sorted((first, second), key=lambda rows: int(rows[-1] - rows[0]))
    above, below = int(small[0] - large[0]), int(large[-1] - small[-1])
    smaller = small[-1] - small[0] + 1 < STEP * (large[-1] - large[0] + 1)
    return bool(smaller) and min(above, below) >= 1 and abs(above - below) <= CENTRED


def _dark_mask(pixels: Pixels, page: Pixels, rect: Rect) -> Mask:
    left, top, right, bottom = int(rect.x), int(rect.y), round(rect.right), round(rect.bottom)
    change = distance_between(pixels[top:bottom, left:right], page[top:bottom, left:right])
    if not change.size:
        return np.zeros((1, 1), np.bool_)
    return change > max(DARK, FAINT * float(np.quantile(change, DARK_QUANTILE)))


def _core_rows(dark: Mask, top: int, bottom: int) -> tuple[int, int] | None:
    """Return the rows of the line itself: from its middle outward to the first empty row."""
    counts = dark.sum(axis=1)
    middle = np.arange(max(top, 0), min(bottom, len(counts)))
    if not len(middle) or not counts[middle].any():
        return None
    filled = np.flatnonzero(counts[middle] > 0) + middle[0]
    high, low = int(filled[0]), int(filled[-1]) + 1
    while high > 0 and counts[high - 1] and high > top - CORE_REACH:
        high -= 1
    while low < len(counts) and counts[low] and low < bottom + CORE_REACH:
        low += 1
    return high, low
