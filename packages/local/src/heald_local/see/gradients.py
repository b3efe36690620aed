"""Fits CSS gradients to areas that change colour evenly, and paints them.

A plane is tried first, then stops along a line of any angle, then stops around a middle. What none of them explains to
within a few levels, such as the sky of a photograph, is not a gradient.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heald_local.see.pixel_units import ALMOST_ZERO, LIGHTEST, PIXEL_MIDDLE
from heald_pictures.colours import hex_colour, rgb_parts
from heald_pictures.elements import Gradient
from heald_pictures.rect import Rect, spanning
from heald_pictures.regions import Mask, Pixels, distance_between, label_islands

Values = NDArray[np.float64]

NEAR = 2  # levels that a flat colour may be off
FLAT, SOME = 0.55, 0.12  # parts of an area that have one colour: it is flat, or something may fade into it
SAMPLES = 6000
LEAST_CHANGE = 4.0  # levels from end to end
PLANE_REST, PLANE_SHARE = 5.0, 0.05  # levels that a plane may be off, at most, and as a part of its change
REST = 1.5  # levels that stops may be off, as a root mean square
STOP_REST = 2.5  # levels that a stop may be off before another one is needed
MOST_STOPS = 5
BINS = 48
TURNS = 24  # angles that are tried
MIDDLES = tuple((across, down) for across in (0.5, 0.0, 1.0) for down in (0.5, 0.0, 1.0))  # where most are placed
LEAST_AREA = 600  # pixels of a rectangle in which a gradient is looked for
LEAST_FADE, LEAST_SIDE = 6_000, 40  # pixels of an area that fades into the colour around it
HALF_TURN, WHOLE_TURN = 180, 360  # degrees; a gradient of 180 goes from above to below
EIGHTH, NEAR_EIGHTH = 45, 0.12  # degrees that most gradients have, and the part of them that a plane may be off
QUARTER = 90  # degrees: gradients along a side
COARSE = 5  # degrees to which other angles of a plane are rounded
FINER = (5.0, 2.5, 1.0)  # degrees by which the angle of a line of stops is changed
BETTER = 0.02  # levels, as a root mean square, by which another angle must be better
SQUARE_NEAR, SQUARE_WORSE = 4, 0.3  # degrees by which the usual angle may be off, and levels by which it may be worse
FARTHEST_MIDDLE = 1.5  # sides of an area from its middle to that of rings
FIRST_STEP, LAST_STEP = 0.16, 0.004  # of the search for the middle of rings, in parts of the sides
CHEAPER = 1e-4  # levels by which a place must be better to be used
FULLEST_BIN = 3  # samples of a short span, at least, for it to have a colour
FEWEST_BINS = 4  # such spans, at least, for a line to have colours
DECIMALS = 3  # of the place of a stop
SHORTEST_PIECE = 1e-6  # parts of a line between two stops
MOST_MORE = 0.5  # the part of its own length by which a fading box is extended
FULL = 0.7  # the part of its rectangle that a fading area fills, apart from what lies on it


@dataclass(frozen=True, slots=True)
class _Samples:
    """Some pixels of an area: their places from its top left corner, and their colours."""

    x: Values
    y: Values
    colours: Values
    width: float
    height: float


def find_gradients(
    part: Pixels, mask: Mask, colour: str, *, bounded: bool
) -> tuple[Gradient | None, list[tuple[Rect, Gradient]]]:
    """Find the gradient of the marked pixels, or those that fade into their commonest colour.

    An area that is `bounded` has another colour than what is around it, and so rather one gradient of its own.
    """
    if mask.size < LEAST_AREA:
        return None, []
    near = distance_between(part, np.array(rgb_parts(colour), np.uint8)) <= NEAR
    share = float((near & mask).sum() / max(mask.sum(), 1))
    if share >= FLAT:
        return None, _find_fades(part, mask, mask & ~near, colour)
    samples = _sample(part, mask)
    plane = _fit_plane(samples)
    if plane is not None:
        return plane, []
    fades = _find_fades(part, mask, mask & ~near, colour) if share >= SOME and not bounded else []
    return (None, fades) if fades else (_fit_line(samples) or _fit_rings(samples), [])


def _find_fades(part: Pixels, mask: Mask, away: Mask, colour: str) -> list[tuple[Rect, Gradient]]:
    """Find gradients that end in the colour of the area that they lie on, so that nothing bounds them."""
    if int(away.sum()) < LEAST_FADE:
        return []
    fades: list[tuple[Rect, Gradient]] = []
    islands = label_islands(away)
    for number in np.flatnonzero(islands.area >= LEAST_FADE):
        left, top, right, bottom = (int(edge) for edge in islands.edges[number])
        if number == 0 or min(right - left, bottom - top) < LEAST_SIDE:
            continue
        fading, free = islands.mask(int(number)), mask[top:bottom, left:right]
        if fading.sum() < FULL * free.sum() or free.mean() < FULL:
            continue
        samples = _sample(part[top:bottom, left:right], free)
        gradient = _fit_plane(samples) or _fit_line(samples) or _fit_rings(samples)
        if gradient is not None:
            place = spanning((left, top, right, bottom))
            fades.append(_extend(place, gradient, colour, (part.shape[1], part.shape[0])))
    return fades


def paint_gradient(gradient: Gradient, width: int, height: int) -> Values:
    """Return the colours of a gradient on a box of this size."""
    x: Values = np.arange(width, dtype=np.float64) + np.float64(PIXEL_MIDDLE)
    y: Values = np.arange(height, dtype=np.float64) + np.float64(PIXEL_MIDDLE)
    if gradient.middle is not None:
        across, down = gradient.middle
        wide, high = gradient.reach
        along = np.hypot((x[None, :] / width - across) / wide, (y[:, None] / height - down) / high)
    else:
        along = _along(x[None, :], y[:, None], width, height, gradient.angle)
    places = [place for place, _ in gradient.steps]
    colours = np.array([rgb_parts(colour) for _, colour in gradient.steps], np.float64)
    return np.stack([np.interp(along, places, colours[:, channel]) for channel in range(colours.shape[1])], axis=2)


def _sample(part: Pixels, mask: Mask) -> _Samples:
    rows, columns = np.nonzero(mask)
    step = max(len(rows) // SAMPLES, 1)
    rows, columns = rows[::step], columns[::step]
    height, width = mask.shape
    x, y = columns.astype(np.float64) + np.float64(PIXEL_MIDDLE), rows.astype(np.float64) + np.float64(PIXEL_MIDDLE)
    return _Samples(x, y, part[rows, columns].astype(np.float64), width, height)


def _along(x: Values, y: Values, width: float, height: float, angle: float) -> Values:
    """Return the places on the line of a CSS gradient: 0 where it starts, 1 where it ends."""
    turn = np.radians(angle)
    across, down = float(np.sin(turn)), float(-np.cos(turn))
    length = abs(width * across) + abs(height * down)
    return ((x - width / 2) * across + (y - height / 2) * down) / length + 1 / 2


def _fit_plane(samples: _Samples) -> Gradient | None:
    """Fit two colours and an angle."""
    middle_x, middle_y = samples.width / 2, samples.height / 2
    where = np.stack([np.ones(len(samples.x)), samples.x - middle_x, samples.y - middle_y], axis=1)
    plane = np.linalg.lstsq(where, samples.colours, rcond=None)[0]
    rest = float(np.sqrt(((where @ plane - samples.colours) ** 2).mean()))
    slopes = plane[1:]
    best = int(np.abs(slopes).sum(axis=0).argmax())
    across, down = float(slopes[0, best]), float(slopes[1, best])
    change = max(abs(across) * samples.width, abs(down) * samples.height)
    if change < LEAST_CHANGE or rest > min(max(PLANE_SHARE * change, 1.0), PLANE_REST):
        return None
    seen_angle = float(np.degrees(np.arctan2(across, -down))) % WHOLE_TURN
    is_usual = abs(seen_angle / EIGHTH - round(seen_angle / EIGHTH)) <= NEAR_EIGHTH
    grid = EIGHTH if is_usual else COARSE
    angle = round(seen_angle / grid) * grid
    turn = np.radians(angle)
    direction = np.array([np.sin(turn), -np.cos(turn)])
    length = abs(samples.width * direction[0]) + abs(samples.height * direction[1])
    half = direction @ slopes * length / 2
    return Gradient(float(angle % WHOLE_TURN), hex_colour(plane[0] - half), hex_colour(plane[0] + half))


def _fit_line(samples: _Samples) -> Gradient | None:
    """Fit several stops along a line."""

    def rest_at(angle: float) -> float:
        along = _along(samples.x, samples.y, samples.width, samples.height, angle)
        return _rest(along, samples.colours)

    turns = [HALF_TURN * number / TURNS for number in range(TURNS)]
    rests = {angle: rest_at(angle) for angle in turns}
    angle = min(rests, key=lambda turn: rests[turn])
    if rests[angle] > 2 * REST:
        return None
    for step in FINER:
        for near in (angle - step, angle + step):
            if near not in rests:
                rests[near] = rest_at(near)
            if rests[near] < rests[angle] - BETTER:
                angle = near
    square = round(angle / EIGHTH) * float(EIGHTH)
    if abs(square - angle) <= SQUARE_NEAR and rest_at(square) <= rests[angle] + SQUARE_WORSE:
        angle = square
    stops = _find_stops(_along(samples.x, samples.y, samples.width, samples.height, angle), samples.colours)
    if stops is None:
        return None
    if angle % HALF_TURN == 0:  # most are written from above to below
        angle = float(HALF_TURN)
        stops = (
            _find_stops(_along(samples.x, samples.y, samples.width, samples.height, angle), samples.colours) or stops
        )
    return Gradient(angle % WHOLE_TURN, stops[0][1], stops[-1][1], tuple(stops[1:-1]))


def _fit_rings(samples: _Samples) -> Gradient | None:
    """Fit several stops around a middle."""
    x, y = samples.x / samples.width, samples.y / samples.height
    if float((samples.colours.max(axis=0) - samples.colours.min(axis=0)).max()) < LEAST_CHANGE:
        return None

    def rest_at(place: tuple[float, float, float]) -> float:
        across, down, shape = place
        return _rest(_normal(np.hypot(x - across, (y - down) * shape)), samples.colours)

    usual = [(across, down, shape) for across, down in MIDDLES for shape in (1.0, samples.height / samples.width)]
    best = _descend(rest_at, min([*usual, *_guess_middle(x, y, samples.colours)], key=rest_at))
    if rest_at(best) > REST:
        return None
    across, down, shape = best
    away = np.hypot(x - across, (y - down) * shape)
    far = float(away.max())
    stops = _find_stops(away / far, samples.colours)
    if stops is None:
        return None
    reach = round(far, DECIMALS), round(far / shape, DECIMALS)
    middle = round(across, DECIMALS), round(down, DECIMALS)
    return Gradient(0.0, stops[0][1], stops[-1][1], tuple(stops[1:-1]), middle, reach)


def _guess_middle(x: Values, y: Values, colours: Values) -> list[tuple[float, float, float]]:
    """Return the middle of a hill or hollow of the colours, in parts of both sides, and how much flatter it is."""
    values = colours[:, int((colours.max(axis=0) - colours.min(axis=0)).argmax())]
    where = np.stack([np.ones(len(x)), x, y, x * x, y * y], axis=1)
    _, across, down, wide, high = (float(factor) for factor in np.linalg.lstsq(where, values, rcond=None)[0])
    if not wide * high > 0:
        return []
    middle = -across / (2 * wide), -down / (2 * high)
    is_far = max(abs(place - 1 / 2) for place in middle) > FARTHEST_MIDDLE
    return [] if is_far else [(*middle, float(np.sqrt(high / wide)))]


def _descend(
    cost: Callable[[tuple[float, float, float]], float], start: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return the best place near a first guess: each number is changed by steps that grow smaller."""
    best, least = start, cost(start)
    step = FIRST_STEP
    while step > LAST_STEP:
        improved = False
        for number in range(len(start)):
            for sign in (-1, 1):
                place = list(best)
                place[number] = place[number] * (1 + sign * step) if number == 2 else place[number] + sign * step
                tried = (place[0], place[1], place[2])
                tried_cost = cost(tried)
                if tried_cost < least - CHEAPER:
                    best, least, improved = tried, tried_cost, True
        if not improved:
            step /= 2
    return best


def _normal(values: Values) -> Values:
    return values / max(float(values.max()), ALMOST_ZERO)


def _profile(along: Values, colours: Values) -> tuple[Values, Values]:
    """Return the mean colour of each of some short spans of a line, and the middle of the span."""
    spans = np.clip((along * BINS).astype(np.intp), 0, BINS - 1)
    counts = np.bincount(spans, minlength=BINS)
    used = counts >= FULLEST_BIN
    weight = np.maximum(counts, 1)
    means = [np.bincount(spans, colours[:, channel], BINS) / weight for channel in range(colours.shape[1])]
    return (np.bincount(spans, along, BINS) / weight)[used], np.stack(means, axis=1)[used]


def _rest(along: Values, colours: Values) -> float:
    """Return how far the colours are off those that their place on the line has, as a root mean square."""
    places, means = _profile(along, colours)
    if len(places) < FEWEST_BINS:
        return float("inf")
    off = [np.interp(along, places, means[:, channel]) - colours[:, channel] for channel in range(colours.shape[1])]
    return float(np.sqrt(np.mean(np.square(off))))


def _find_stops(along: Values, colours: Values) -> list[tuple[float, str]] | None:
    """Return the fewest stops that explain a line; None if that needs too many, or does not explain it."""
    if _rest(along, colours) > REST:
        return None
    places, means = _profile(along, colours)
    chosen = _bends(places, means, 0, len(places) - 1)
    if len(chosen) > MOST_STOPS or float((means.max(axis=0) - means.min(axis=0)).max()) < LEAST_CHANGE:
        return None
    stops = [(float(places[number]), means[number]) for number in chosen]
    first, last = _prolong(stops[0], stops[1], 0.0), _prolong(stops[-1], stops[-2], 1.0)
    whole = [(0.0, first), *stops[1:-1], (1.0, last)]
    return [(round(place, DECIMALS), hex_colour(np.clip(colour, 0, LIGHTEST))) for place, colour in whole]


def _bends(places: Values, means: Values, first: int, last: int) -> list[int]:
    """Return the numbers of the points that a line of straight pieces must pass (Douglas and Peucker 1973)."""
    if last - first < 2:
        return [first, last]
    inner = np.arange(first + 1, last)
    share = (places[inner] - places[first]) / max(float(places[last] - places[first]), ALMOST_ZERO)
    off = np.abs(means[first] + share[:, None] * (means[last] - means[first]) - means[inner]).max(axis=1)
    worst = int(off.argmax())
    if off[worst] <= STOP_REST:
        return [first, last]
    middle = first + 1 + worst
    return [*_bends(places, means, first, middle)[:-1], *_bends(places, means, middle, last)]


def _prolong(end: tuple[float, Values], inner: tuple[float, Values], place: float) -> Values:
    slope = (end[1] - inner[1]) / max(abs(end[0] - inner[0]), SHORTEST_PIECE) * (1 if end[0] > inner[0] else -1)
    return end[1] + slope * (place - end[0])


def _extend(place: Rect, gradient: Gradient, colour: str, limit: tuple[int, int]) -> tuple[Rect, Gradient]:
    """Extend a fading box to where it reaches the colour around it: its last levels are not seen as different."""
    if gradient.middle is not None or gradient.stops or gradient.angle % QUARTER:
        return place, gradient
    start, end, ground = (np.array(rgb_parts(name), np.float64) for name in (gradient.start, gradient.end, colour))
    fades = bool(np.abs(end - ground).max() <= np.abs(start - ground).max())
    far, near = (start, end) if fades else (end, start)
    change = float(np.abs(near - far).max())
    more = float(np.abs(near - ground).max()) / max(change, 1.0)
    if more > MOST_MORE:
        return place, gradient
    angle = gradient.angle if fades else (gradient.angle + HALF_TURN) % WHOLE_TURN
    left, top, right, bottom = place.x, place.y, place.right, place.bottom
    if angle == HALF_TURN:
        bottom = min(round(bottom + more * place.h), limit[1])
    elif angle == 0:
        top = max(round(top - more * place.h), 0)
    elif angle == QUARTER:
        right = min(round(right + more * place.w), limit[0])
    else:
        left = max(round(left - more * place.w), 0)
    return spanning((left, top, right, bottom)), Gradient(angle, hex_colour(far), colour)
