"""Flat rectangles become boxes: the ring around one is its border, what fades outside is its shadow, and a colour that
changes evenly across it is a gradient.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weft.vision.boxes import Flat
from weft.vision.colours import commonest, css, distance, parts
from weft.vision.geometry import Rect
from weft.vision.regions import Pixels, Regions
from weft.vision.seen import Border, Box, Gradient, Shadow

THICKEST = 6
REACH = 40
"""How far a shadow is followed."""


def frame(pixels: Pixels, regions: Regions, flats: Sequence[Flat], background: str) -> list[Box]:
    """Boxes, outermost first; lines that turned out to be borders are gone, and so is what cannot be seen."""
    lines = [flat for flat in flats if min(flat.rect.w, flat.rect.h) <= THICKEST]
    areas = [flat for flat in flats if min(flat.rect.w, flat.rect.h) > THICKEST]
    rings: list[tuple[Rect, Rect]] = []
    boxes: list[Box] = []
    for number, flat in enumerate(areas):
        under = _under(flat.rect, areas[:number], background)
        border = _border(pixels, flat)
        rect, radius = flat.rect, flat.radius
        if border is not None:
            top, right, bottom, left = border.widths
            rect = Rect(rect.x - left, rect.y - top, rect.w + left + right, rect.h + top + bottom)
            radius = radius + max(border.widths) if radius >= 1.5 else radius
            rings.append((rect, flat.rect))
        gradient = _gradient(pixels, regions, flat)
        shadow = _shadow(pixels, rect, radius, under)
        if gradient is None and border is None and shadow is None and distance(flat.colour, under) <= 1:
            continue
        boxes.append(Box(rect, flat.colour, radius, border, shadow, gradient))
    shaded = [(box.rect.grown(box.shadow.blur + 3), box.rect.grown(-1)) for box in boxes if box.shadow is not None]
    rings += [(outer, inner) for outer, inner in shaded if inner.area]
    boxes += [Box(line.rect, line.colour) for line in lines if not _part_of_ring(line.rect, rings)]
    boxes.sort(key=lambda box: -box.rect.area)
    return boxes


def _part_of_ring(line: Rect, rings: Sequence[tuple[Rect, Rect]]) -> bool:
    return any(outer.holds(line, 1) and line.common(inner) < 1 for outer, inner in rings)


def _under(rect: Rect, larger: Sequence[Flat], background: str) -> str:
    """The colour that lies below: of the smallest flat around it."""
    for flat in reversed(larger):
        if flat.rect.holds(rect, 0.5) and flat.rect.area > rect.area * 1.02:
            return flat.colour
    return background


def _strip(pixels: Pixels, rect: Rect, side: int, away: int, bend: int) -> Pixels | None:
    """The pixels along one side (0 top, 1 right, 2 bottom, 3 left), `away` pixels outside, corners left out."""
    height, width = pixels.shape[:2]
    left, top, right, bottom = int(rect.x), int(rect.y), int(rect.right), int(rect.bottom)
    bend = min(bend, (right - left) // 2 - 2, (bottom - top) // 2 - 2)
    bend = max(bend, 0)
    if side in (0, 2):
        row = top - away if side == 0 else bottom - 1 + away
        return pixels[row, left + bend : right - bend] if 0 <= row < height else None
    column = left - away if side == 3 else right - 1 + away
    return pixels[top + bend : bottom - bend, column] if 0 <= column < width else None


def _border(pixels: Pixels, flat: Flat) -> Border | None:
    """A ring of one colour, at least on three sides."""
    bend = int(flat.radius) + 2
    widths, colours = [0.0] * 4, [""] * 4
    for side in range(4):
        for away in range(1, THICKEST + 2):
            strip = _strip(pixels, flat.rect, side, away, bend)
            if strip is None or not len(strip):
                break
            colour = commonest(strip)
            if (np.abs(strip.astype(np.int16) - colour).max(axis=1) <= 3).mean() < 0.9:
                break
            name = css(colour)
            if away == 1:
                if distance(name, flat.colour) <= 3:
                    break
                colours[side] = name
            elif distance(name, colours[side]) > 3:
                widths[side] = away - 1
                break
    sides = [side for side in range(4) if widths[side]]
    if len(sides) < 3 or max(distance(colours[sides[0]], colours[side]) for side in sides) > 4:
        return None
    if len({widths[side] for side in sides}) > 2:
        return None
    outside = [_strip(pixels, flat.rect, side, int(widths[side]) + 1, bend) for side in sides]
    seen = [css(commonest(strip)) for strip in outside if strip is not None and len(strip)]
    if seen and _fading(colours[sides[0]], seen, pixels, flat, sides, bend):
        return None
    return Border((widths[0], widths[1], widths[2], widths[3]), colours[sides[0]])


def _fading(colour: str, outside: list[str], pixels: Pixels, flat: Flat, sides: list[int], bend: int) -> bool:
    """Whether the ring is only the first step of a shadow: it barely differs from the next, and that from the next."""
    if min(distance(colour, other) for other in outside) > 10:
        return False
    if len(sides) == 4 and max(distance(outside[0], other) for other in outside) > 1:
        return False
    further = [_strip(pixels, flat.rect, side, 3, bend) for side in sides]
    steps = [css(commonest(strip)) for strip in further if strip is not None and len(strip)]
    return bool(steps) and min(distance(one, two) for one, two in zip(outside, steps, strict=False)) > 0


def _shadow(pixels: Pixels, rect: Rect, radius: float, under: str) -> Shadow | None:
    """What darkens the surroundings and fades away, measured from the middle of each side."""
    if rect.w < 24 or rect.h < 16:
        return None
    base = np.array(parts(under), np.float64)
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
    """How much darker than `base` it is, step by step outward, as long as it falls; empty if it is no shadow."""
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


def _gradient(pixels: Pixels, regions: Regions, flat: Flat) -> Gradient | None:
    """A plane through the colours, if the region has no one colour and the plane fits well."""
    rect = flat.rect
    left, top = int(rect.x), int(rect.y)
    part = pixels[top : int(rect.bottom), left : int(rect.right)]
    if part.shape[0] * part.shape[1] < 600:
        return None
    mask = regions.labels[top : int(rect.bottom), left : int(rect.right)] == flat.region
    near = np.abs(part.astype(np.int16) - np.array(parts(flat.colour), np.int16)).max(axis=2) <= 2
    if (near & mask).sum() >= 0.55 * mask.sum():
        return None
    rows, columns = np.nonzero(mask)
    step = max(len(rows) // 6000, 1)
    rows, columns = rows[::step], columns[::step]
    middle_x, middle_y = rect.w / 2, rect.h / 2
    where = np.stack([np.ones(len(rows)), columns + 0.5 - middle_x, rows + 0.5 - middle_y], axis=1)
    values = part[rows, columns].astype(np.float64)
    plane = np.linalg.lstsq(where, values, rcond=None)[0]
    rest = float(np.sqrt(((where @ plane - values) ** 2).mean()))
    slopes = plane[1:]
    best = int(np.abs(slopes).sum(axis=0).argmax())
    across, down = float(slopes[0, best]), float(slopes[1, best])
    if rest > 5.0 or max(abs(across) * rect.w, abs(down) * rect.h) < 4:
        return None
    angle = float(np.degrees(np.arctan2(across, -down))) % 360
    angle = round(angle / 5) * 5 if abs(angle / 45 - round(angle / 45)) > 0.12 else round(angle / 45) * 45
    turn = np.radians(angle)
    direction = np.array([np.sin(turn), -np.cos(turn)])
    length = abs(rect.w * direction[0]) + abs(rect.h * direction[1])
    change = direction @ slopes * length / 2
    return Gradient(float(angle % 360), css(plane[0] - change), css(plane[0] + change))
