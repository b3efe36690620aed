"""Finds flat rectangles and turns them into boxes with borders, shadows and gradients."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from weft.vision.elements import Border, Box, Gradient, Rect, Shadow, spanning
from weft.vision.see.gradients import find_gradients
from weft.vision.see.regions import (
    Mask,
    Pixels,
    Regions,
    colour_distance,
    distance_between,
    dominant_colour,
    hex_colour,
    rgb_parts,
)
from weft.vision.see.round_boxes import RoundFlat, find_round_boxes, is_small_disc, measure_round_box

LEAST_AREA = 24
LEAST_SIDE = 7
STRAIGHT = 0.86  # the part of the rows that must end where the rectangle does
LEAST_JOINED, LEAST_FULL = 20, 0.6  # pixels of a side, and the part of one colour, of a box with one round side
LEAST_MEASURED = 16  # pixels of its shorter side: smaller ones may be dots and parts of icons
LEAST_ROUND = 2  # pixels: a radius from which on a box is measured by its edge
BENT = 6  # from this radius on one side may be less straight: a shadow in a corner hides rows


@dataclass(frozen=True, slots=True)
class FlatRect(RoundFlat):
    """A rectangle of nearly one colour; `region` is the label of its pixels."""

    region: int
    cover: float  # the part of the rectangle that has the colour


def find_flats(pixels: Pixels, regions: Regions) -> list[FlatRect]:
    """Find all flat rectangles, largest first."""
    edges = regions.edges
    wide, high = edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]
    thin = (np.minimum(wide, high) <= 4) & (np.maximum(wide, high) >= 24) & (regions.area >= 0.9 * wide * high)
    solid = (regions.area >= LEAST_AREA) & (np.minimum(wide, high) >= LEAST_SIDE)
    found: list[FlatRect] = []
    for number in np.flatnonzero(thin | solid):
        found += _flats(pixels, regions, int(number))
    found.sort(key=lambda flat: -flat.rect.area)
    return found


def _flats(pixels: Pixels, regions: Regions, number: int) -> list[FlatRect]:
    left, top, right, bottom = (int(edge) for edge in regions.edges[number])
    mask = regions.mask(number)
    colour = hex_colour(dominant_colour(pixels[top:bottom, left:right][mask]))
    area = int(regions.area[number])
    flats: list[FlatRect] = []
    for start, end, near, far in _plateaus(mask):
        rect = spanning((left + near, top + start, left + far, top + end))
        part = mask[start:end, near:far]
        if min(part.shape) < LEAST_SIDE and len(flats) + 1 and area < 0.85 * rect.area:
            continue
        radius = corner_radius(part)
        if radius is None:
            continue
        cover = float(part.mean())
        if cover < 0.12 and rect.area < 200_000:
            continue
        flats.append(FlatRect(rect, colour, radius, number, cover))
    return flats


def _plateaus(mask: Mask) -> list[tuple[int, int, int, int]]:
    """Cut an outline where its sides jump: one part for a rectangle, two or three for an L or a T."""
    height, width = mask.shape
    left, right = _outline(mask)
    if _straight(left, 0) >= STRAIGHT and _straight(right, width) >= STRAIGHT:
        return [(0, height, 0, width)]
    if height < 24 or width < 24 or mask.size < 4000 or corner_radius(mask) is not None:
        return [(0, height, 0, width)]
    jumps = np.flatnonzero((np.abs(np.diff(left)) > 6) | (np.abs(np.diff(right)) > 6)) + 1
    bounds = [0, *(int(jump) for jump in jumps), height]
    parts: list[tuple[int, int, int, int]] = []
    for start, end in itertools.pairwise(bounds):
        if end - start < 8:
            continue
        near, far = int(np.median(left[start:end])), int(np.median(right[start:end]))
        if parts and abs(parts[-1][2] - near) <= 2 and abs(parts[-1][3] - far) <= 2:
            parts[-1] = (parts[-1][0], end, near, far)
            continue
        parts.append((start, end, near, far))
    return parts if len(parts) <= 6 else []


def _outline(mask: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first pixel of each row, and the first after its last; the middle for an empty row."""
    width = mask.shape[1]
    return mask.argmax(axis=1), width - mask[:, ::-1].argmax(axis=1)


def _straight(side: NDArray[np.intp], wanted: int) -> float:
    return float((np.abs(side - wanted) <= 1).mean())


def corner_radius(mask: Mask) -> float | None:
    """Return the radius of a rounded rectangle, 0 for square corners, None for another shape."""
    height, width = mask.shape
    left, right = _outline(mask)
    right = width - right
    most = min(height, width) / 2
    guess = _radius_of(left, right, most)
    bends = [_bend(height, guess, at) for at in (0.0, 0.5)]
    one, two = (np.minimum(*(np.abs(side - bend) for bend in bends)) for side in (left, right))
    off = np.minimum(one, two)
    fits = float((one <= 1.6).mean()), float((two <= 1.6).mean())
    if min(fits) >= STRAIGHT or (guess >= BENT and max(fits) >= 0.9 and min(fits) >= STRAIGHT - 0.1):
        return guess
    square = (left <= 1).mean(), (right <= 1).mean()
    if min(square) >= STRAIGHT and float((off <= 1.6).mean()) > 0.5:
        return 0.0
    return _half_round(mask, left, right)


def _half_round(mask: Mask, left: NDArray[np.intp], right: NDArray[np.intp]) -> float | None:
    """Return the radius of a box with round corners on one side alone, as the first of joined buttons has.

    None for another shape: a letter such as D is rounder.
    """
    height, width = mask.shape
    if min(height, width) < LEAST_JOINED or float(mask.mean()) < LEAST_FULL:
        return None
    for bent, straight in ((left, right), (right, left)):
        radius = _radius_of(bent, bent, min(height, width) / 2)
        off = np.abs(bent - _bend(height, radius, 0.0))
        if _straight(straight, 0) >= 0.95 and radius <= 0.35 * height and float((off <= 1.6).mean()) >= STRAIGHT:
            return radius
    return None


def _radius_of(left: NDArray[np.intp], right: NDArray[np.intp], most: float) -> float:
    """Compute the radius from the pixels that each corner lacks: a quarter circle leaves 0.2146 of its square."""
    half = len(left) // 2
    lacking: list[float] = []
    for side in (left, right):
        for part in (side[:half], side[::-1][:half]):
            bent = np.clip(np.minimum.accumulate(part), 0, most)
            lacking.append(float(bent.sum()))
    middle = float(np.median(lacking))
    if middle > 1500:
        return float(min(round((middle / 0.2146) ** 0.5), most))
    return float(min(int(np.abs(_lacking() - middle).argmin()), most))


@cache
def _lacking() -> NDArray[np.float64]:
    """Return, for each whole radius, how many pixels a round corner lacks."""
    found: list[float] = []
    for radius in range(90):
        rows = np.arange(radius) + 0.0
        inside = radius - np.sqrt(np.clip(radius**2 - (radius - rows) ** 2, 0, None))
        found.append(float(np.ceil(inside - 0.02).sum()))
    return np.array(found)


def _bend(height: int, radius: float, at: float) -> NDArray[np.float64]:
    """Return how far a rounded rectangle's side lies inside its edge, row by row.

    It is measured at each row's outer edge (0, for pixels that are wholly inside) or its middle (0.5).
    """
    rows: NDArray[np.float64] = np.arange(height, dtype=np.float64)
    away = np.clip(radius - at - np.minimum(rows, height - 1 - rows), 0, None)
    return radius - np.sqrt(np.clip(radius**2 - away**2, 0, None))


THICKEST = 6
SAME_PAPER = 3  # levels by which a box of the colour of the paper may differ from it
CLEARLY = 24  # levels by which a border differs from a gradient around it
REACH = 40  # how far a shadow is followed


def build_boxes(pixels: Pixels, regions: Regions, flats: Sequence[FlatRect], background: str) -> list[Box]:
    """Build boxes, outermost first, without lines that are borders and boxes that cannot be seen."""
    lines = [flat for flat in flats if min(flat.rect.w, flat.rect.h) <= THICKEST]
    areas = [flat for flat in flats if min(flat.rect.w, flat.rect.h) > THICKEST]
    boxes = find_round_boxes(pixels, areas, lines)
    rings = [(box.rect, box.rect.grown(-2)) for box in boxes]
    around = [box.rect.grown(1) for box in boxes]
    for number, flat in enumerate(areas):
        if any(rect.holds(flat.rect) and flat.rect.area > 0.6 * rect.area for rect in around):
            continue
        under = _under(flat.rect, areas[:number], background)
        border = _border(pixels, flat)
        rect, radius = flat.rect, flat.radius
        if border is not None:
            top, right, bottom, left = border.widths
            rect = Rect(rect.x - left, rect.y - top, rect.w + left + right, rect.h + top + bottom)
            radius = radius + max(border.widths) if radius >= 1.5 else radius
            rings.append((rect, flat.rect))
        gradient, fading = _gradients(pixels, regions, flat, colour_distance(flat.colour, under) > 1)
        boxes += fading
        shadow = _shadow(pixels, rect, radius, under)
        if gradient is None and border is None and shadow is None and colour_distance(flat.colour, under) <= 1:
            continue
        is_plain = border is None and shadow is None and gradient is None
        if is_plain and radius >= LEAST_ROUND and min(rect.w, rect.h) >= LEAST_MEASURED:
            rect, radius = measure_round_box(pixels, flat)
        elif is_plain and radius >= LEAST_ROUND and is_small_disc(pixels, flat):
            radius = min(rect.w, rect.h) / 2
        boxes.append(Box(rect, flat.colour, radius, border, shadow, gradient))
    shaded = [(box.rect.grown(box.shadow.blur + 3), box.rect.grown(-1)) for box in boxes if box.shadow is not None]
    rings += [(outer, inner) for outer, inner in shaded if inner.area]
    boxes += [
        Box(line.rect, line.colour)
        for line in lines
        if not any(outer.holds(line.rect, 1) and line.rect.common(inner) < 1 for outer, inner in rings)
    ]
    boxes.sort(key=lambda box: -box.rect.area)
    return boxes


def is_exact(box: Box, pixels: Pixels, background: str) -> bool:
    """Whether a box is so large, straight and full that the page is not drawn by hand.

    The inner area of a small frame can be as straight, but it has the colour of the paper.
    """
    if box.border is not None or box.rect.area <= 0.01 * pixels.shape[0] * pixels.shape[1]:
        return box.border is not None
    if box.gradient is not None:
        return True
    rect = box.rect
    part = pixels[int(rect.y) : int(rect.bottom), int(rect.x) : int(rect.right)]
    near = distance_between(part, np.array(rgb_parts(box.fill), np.uint8)) <= 2
    return colour_distance(box.fill, background) > SAME_PAPER and float(near.mean()) > 0.5


def _under(rect: Rect, larger: Sequence[FlatRect], background: str) -> str:
    """Return the colour of the smallest flat rectangle around this one."""
    for flat in reversed(larger):
        if flat.rect.holds(rect, 0.5) and flat.rect.area > rect.area * 1.02:
            return flat.colour
    return background


def _strip(pixels: Pixels, rect: Rect, side: int, away: int, bend: int) -> Pixels | None:
    """Return the pixels along a side (0 top, 1 right, 2 bottom, 3 left), `away` pixels outside, without corners."""
    height, width = pixels.shape[:2]
    left, top, right, bottom = int(rect.x), int(rect.y), int(rect.right), int(rect.bottom)
    bend = min(bend, (right - left) // 2 - 2, (bottom - top) // 2 - 2)
    bend = max(bend, 0)
    if side in (0, 2):
        row = top - away if side == 0 else bottom - 1 + away
        return pixels[row, left + bend : right - bend] if 0 <= row < height else None
    column = left - away if side == 3 else right - 1 + away
    return pixels[top + bend : bottom - bend, column] if 0 <= column < width else None


def _border(pixels: Pixels, flat: FlatRect) -> Border | None:
    """Find a ring of one colour on three sides at least."""
    bend = int(flat.radius) + 2
    widths, colours = [0.0] * 4, [""] * 4
    for side in range(4):
        for away in range(1, THICKEST + 2):
            strip = _strip(pixels, flat.rect, side, away, bend)
            if strip is None or not len(strip):
                break
            colour = dominant_colour(strip)
            if (np.abs(strip.astype(np.int16) - colour).max(axis=1) <= 3).mean() < 0.9:
                if away > 1 and _is_unlike(strip, colours[side]):
                    widths[side] = away - 1  # a gradient or a photograph is around it
                break
            name = hex_colour(colour)
            if away == 1:
                if colour_distance(name, flat.colour) <= 3:
                    break
                colours[side] = name
            elif colour_distance(name, colours[side]) > 3:
                widths[side] = away - 1
                break
    sides = [side for side in range(4) if widths[side]]
    if len(sides) < 3 or max(colour_distance(colours[sides[0]], colours[side]) for side in sides) > 4:
        return None
    if len({widths[side] for side in sides}) > 2:
        return None
    outside = [_strip(pixels, flat.rect, side, int(widths[side]) + 1, bend) for side in sides]
    beyond = [hex_colour(dominant_colour(strip)) for strip in outside if strip is not None and len(strip)]
    if beyond and _fading(colours[sides[0]], beyond, pixels, flat, sides, bend):
        return None
    return Border((widths[0], widths[1], widths[2], widths[3]), colours[sides[0]])


def _is_unlike(strip: Pixels, colour: str) -> bool:
    """Whether nearly all pixels differ clearly from a colour."""
    off = np.abs(strip.astype(np.int16) - np.array(rgb_parts(colour), np.int16)).max(axis=1)
    return float((off > CLEARLY).mean()) >= 0.95


def _fading(colour: str, outside: list[str], pixels: Pixels, flat: FlatRect, sides: list[int], bend: int) -> bool:
    """Whether a ring is the first step of a shadow: it barely differs from the next."""
    if min(colour_distance(colour, other) for other in outside) > 10:
        return False
    if len(sides) == 4 and max(colour_distance(outside[0], other) for other in outside) > 1:
        return False
    further = [_strip(pixels, flat.rect, side, 3, bend) for side in sides]
    steps = [hex_colour(dominant_colour(strip)) for strip in further if strip is not None and len(strip)]
    return bool(steps) and min(colour_distance(one, two) for one, two in zip(outside, steps, strict=False)) > 0


def _shadow(pixels: Pixels, rect: Rect, radius: float, under: str) -> Shadow | None:
    """Measure a shadow: darkening that fades outward, from the middle of each side."""
    if rect.w < 24 or rect.h < 16:
        return None
    base = np.array(rgb_parts(under), np.float64)
    reach: list[float] = []
    peak = 0.0
    for side in range(4):
        fades = _fades(pixels, rect, side, base, radius)
        reach.append(float(len(fades)))
        if side:
            peak = max(peak, float(fades[0]) if len(fades) else 0.0)
    top, right, bottom, left = reach
    if bottom < 2 or peak < 2 or min(left, right) < 1:
        return None
    blur = (left + right) / 2 * 1.15
    down = max((bottom - top) / 2, 0.0)
    brightness = max(float(base.mean()), 16.0)
    alpha = min(peak / brightness * 1.7, 0.5)
    return Shadow(0.0, round(down), round(max(blur, 2.0)), round(alpha, 2))


def _fades(pixels: Pixels, rect: Rect, side: int, base: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Return how much darker than `base` each step outward is, while it falls; empty if it is no shadow."""
    steps: list[float] = []
    for away in range(1, REACH):
        strip = _strip(pixels, rect, side, away, int(max(rect.w, rect.h) * 0.3 + radius))
        if strip is None or not len(strip):
            break
        darker = float((base - np.median(strip.reshape(-1, 3), axis=0)).mean())
        if darker < 0.6 or (steps and darker > steps[-1] + 0.5):
            break
        if steps and steps[-1] - darker > max(12.0, 0.5 * steps[-1]) and away > 2:
            return np.empty(0)
        steps.append(darker)
    if len(steps) >= REACH - 2 or (len(steps) > 3 and steps[0] - steps[-1] < 1.5):
        return np.empty(0)
    return np.array(steps)


def _gradients(pixels: Pixels, regions: Regions, flat: FlatRect, bounded: bool) -> tuple[Gradient | None, list[Box]]:
    """Find the gradient of a flat rectangle, and the boxes on it that fade into its colour."""
    rect = flat.rect
    where = (slice(int(rect.y), int(rect.bottom)), slice(int(rect.x), int(rect.right)))
    own, fades = find_gradients(pixels[where], regions.labels[where] == flat.region, flat.colour, bounded=bounded)
    places = [Rect(place.x + rect.x, place.y + rect.y, place.w, place.h) for place, _ in fades]
    return own, [Box(place, flat.colour, gradient=fade) for place, (_, fade) in zip(places, fades, strict=True)]
