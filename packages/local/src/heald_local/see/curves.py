"""Fits lines and cubic curves to outlines and chains of points."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heald_local.see.pixel_units import ALMOST_ZERO

REACH = 1.1  # pixels along the outline on both sides of a point that show whether it is a corner
CORNER = 0.72  # cosine of the turn from which on a point is a corner: about 44 degrees
CHAIN_CORNER = 0.97  # the same for a line of a chart: about 14 degrees
STEPS = 4  # rounds that move the points along a curve nearer to it
CHAIN_REACH = 5  # points of a chain on both sides of one that show whether it is a corner
FEWEST_POINTS = 3  # of an outline or chain that may bend
ROUNDS = 4  # reaches of a short outline, for which the reach is a part of it
SHORT_REACH = 6  # the part of a short outline is one of so many
TANGENT = 3  # points from the end of a piece to the one that shows its direction
NEARBY = 2  # the same for a point within an outline, to both sides
LEAST_STEP = 1e-6  # pixels between two points that are not the same
LINE = 2  # points of a segment that is straight
CURVE_STEPS = 8  # points of each curve that is drawn as lines
STRAIGHT_HANDLE = 3  # the handles of a curve that is nearly straight part the way between its ends into so many pieces
SHORTEST_HANDLE, LONGEST_HANDLE = 1e-3, 2  # of that distance: other solutions have loops
Points = NDArray[np.float64]
Segment = Points  # two points of a line, or four of a cubic curve


def fit_outline(outline: Points, tolerance: float) -> list[Segment]:
    """Fit a closed outline: corners stay corners, what lies between becomes lines and curves."""
    points = np.asarray(outline, np.float64)
    if len(points) < FEWEST_POINTS:
        return []
    cuts = _find_corners(points)
    if not cuts:
        start = int(points[:, 0].argmin())
        points = np.roll(points, -start, axis=0)
        cuts = [0, len(points) // 2]
    else:
        points = np.roll(points, -cuts[0], axis=0)
        cuts = [cut - cuts[0] for cut in cuts]
    smooth = not _find_corners(points)
    closed = np.concatenate((points, points[:1]))
    ends = [*cuts[1:], len(points)]
    segments: list[Segment] = []
    for first, last in zip(cuts, ends, strict=True):
        piece = closed[first : last + 1]
        if smooth:
            begin, end = _tangent_at(points, first), -_tangent_at(points, last % len(points))
        else:
            begin, end = _end_tangent(piece), _end_tangent(piece[::-1])
        segments += _fit_piece(piece, begin, end, tolerance)
    return segments


def fit_chain(points: Points, tolerance: float, reach: int = CHAIN_REACH) -> list[Segment]:
    """Fit an open chain of points, a pixel apart: corners stay corners."""
    if len(points) < FEWEST_POINTS:
        return [np.stack((points[0], points[-1]))]
    before, after = points[reach:-reach] - points[: -2 * reach], points[2 * reach :] - points[reach:-reach]
    sizes = np.maximum(np.hypot(*before.T) * np.hypot(*after.T), ALMOST_ZERO)
    cosine = (before * after).sum(axis=1) / sizes
    corners: list[int] = []
    for at in sorted(np.flatnonzero(cosine < CHAIN_CORNER).tolist(), key=lambda number: float(cosine[number])):
        if all(abs(at + reach - other) > reach for other in corners):
            corners.append(at + reach)
    cuts = [0, *sorted(corners), len(points) - 1]
    segments: list[Segment] = []
    for first, last in pairwise(cuts):
        piece = points[first : last + 1]
        segments += _fit_piece(piece, _end_tangent(piece), _end_tangent(piece[::-1]), tolerance)
    return segments


def flatten_outline(segments: Sequence[Segment], steps: int = CURVE_STEPS) -> list[tuple[float, float]]:
    """Return the points of an outline, with `steps` points on each curve."""
    points: list[tuple[float, float]] = []
    for segment in segments:
        if len(segment) == LINE:
            points.append((float(segment[0][0]), float(segment[0][1])))
            continue
        points += [(float(x), float(y)) for x, y in _bezier(segment, np.arange(steps) / steps)]
    return points


def _find_corners(points: Points) -> list[int]:
    """Return the points at which the outline turns sharply."""
    steps = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    reach = max(round(REACH / max(float(np.median(steps)), LEAST_STEP)), 1)
    if len(points) < ROUNDS * reach:
        reach = max(len(points) // SHORT_REACH, 1)
    before, after = points - np.roll(points, reach, axis=0), np.roll(points, -reach, axis=0) - points
    sizes = np.maximum(np.hypot(*before.T) * np.hypot(*after.T), ALMOST_ZERO)
    cosine = (before * after).sum(axis=1) / sizes
    sharp = np.flatnonzero(cosine < CORNER)
    corners: list[int] = []
    for at in sorted(sharp.tolist(), key=lambda number: float(cosine[number])):
        if all(min(abs(at - other), len(points) - abs(at - other)) > reach for other in corners):
            corners.append(at)
    return sorted(corners)


def _unit(vector: Points) -> Points:
    return vector / max(float(np.hypot(*vector)), ALMOST_ZERO)


def _tangent_at(points: Points, at: int) -> Points:
    return _unit(points[(at + NEARBY) % len(points)] - points[at - NEARBY])


def _end_tangent(piece: Points) -> Points:
    return _unit(piece[min(TANGENT, len(piece) - 1)] - piece[0])


def _fit_piece(piece: Points, begin: Points, end: Points, tolerance: float) -> list[Segment]:
    """Fit a piece between two corners (Schneider 1990): one line or curve, or two halves."""
    first, last = piece[0], piece[-1]
    along = last - first
    size = float(np.hypot(*along))
    away = piece - first
    off = np.abs(along[0] * away[:, 1] - along[1] * away[:, 0]) / size if size > LEAST_STEP else np.hypot(*away.T)
    if len(piece) <= 2 or (size > LEAST_STEP and float(off.max()) <= tolerance):
        return [np.stack((first, last))]
    places = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(piece, axis=0).T))))
    places /= max(float(places[-1]), ALMOST_ZERO)
    worst = len(piece) // 2
    for _ in range(STEPS):
        curve = _fit_cubic(piece, places, begin, end)
        errors = np.hypot(*(_bezier(curve, places) - piece).T)
        worst = int(errors.argmax())
        if float(errors[worst]) <= tolerance:
            return [curve]
        places = _nearer_places(curve, piece, places)
    worst = min(max(worst, 1), len(piece) - 2)
    middle = _unit(piece[min(worst + NEARBY, len(piece) - 1)] - piece[max(worst - NEARBY, 0)])
    return [
        *_fit_piece(piece[: worst + 1], begin, -middle, tolerance),
        *_fit_piece(piece[worst:], middle, end, tolerance),
    ]


def _fit_cubic(piece: Points, places: Points, begin: Points, end: Points) -> Segment:
    """Return the cubic with these tangents at its ends that lies nearest to the points."""
    first, last = piece[0], piece[-1]
    at_first, at_begin, at_end, at_last = _bernstein(places)
    left, right = at_begin[:, None] * begin, at_end[:, None] * end
    base = (at_first + at_begin)[:, None] * first + (at_last + at_end)[:, None] * last
    target = piece - base
    c00, c01, c11 = float((left * left).sum()), float((left * right).sum()), float((right * right).sum())
    x0, x1 = float((left * target).sum()), float((right * target).sum())
    size = float(np.hypot(*(last - first)))
    determinant = c00 * c11 - c01 * c01
    reach = [size / STRAIGHT_HANDLE, size / STRAIGHT_HANDLE]
    if abs(determinant) > ALMOST_ZERO:
        solved = [(x0 * c11 - x1 * c01) / determinant, (c00 * x1 - c01 * x0) / determinant]
        if min(solved) > SHORTEST_HANDLE * size and max(solved) < LONGEST_HANDLE * size:
            reach = solved
    return np.stack((first, first + begin * reach[0], last + end * reach[1], last))


def _bezier(curve: Segment, places: Points) -> Points:
    first, begin, end, last = _bernstein(places[:, None])
    return first * curve[0] + begin * curve[1] + end * curve[2] + last * curve[3]


def _bernstein(t: Points) -> tuple[Points, Points, Points, Points]:
    """Return the weights of the four points of a cubic curve."""
    rest = 1 - t
    return rest**3, 3 * t * rest**2, 3 * t**2 * rest, t**3


def _nearer_places(curve: Segment, piece: Points, places: Points) -> Points:
    """Move each place along the curve towards the foot of its point (Newton's method)."""
    off = _bezier(curve, places) - piece
    slopes = 3 * np.diff(curve, axis=0)
    bends = 2 * np.diff(slopes, axis=0)
    t, rest = places[:, None], 1 - places[:, None]
    speed = rest**2 * slopes[0] + 2 * t * rest * slopes[1] + t**2 * slopes[2]
    turn = rest * bends[0] + t * bends[1]
    under = (speed * speed).sum(axis=1) + (off * turn).sum(axis=1)
    moved = places - np.where(
        np.abs(under) > ALMOST_ZERO, (off * speed).sum(axis=1) / np.where(under == 0, 1, under), 0
    )
    return np.maximum.accumulate(np.clip(moved, 0, 1))
