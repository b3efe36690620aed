"""Fits lines and cubic curves to closed outlines, and writes them as the data of an SVG path."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

REACH = 1.1  # pixels along the outline on both sides of a point that show whether it is a corner
CORNER = 0.72  # cosine of the turn from which on a point is a corner: about 44 degrees
CHAIN_CORNER = 0.97  # the same for a line of a chart: about 14 degrees
STEPS = 4  # rounds that move the points along a curve nearer to it

Points = NDArray[np.float64]
Segment = Points  # two points of a line, or four of a cubic curve


def fit_outline(outline: Points, tolerance: float) -> list[Segment]:
    """Fit a closed outline: corners stay corners, what lies between becomes lines and curves."""
    points = np.asarray(outline, np.float64)
    if len(points) < 3:
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
    found: list[Segment] = []
    for first, last in zip(cuts, ends, strict=True):
        piece = closed[first : last + 1]
        if smooth:
            begin, end = _tangent_at(points, first), -_tangent_at(points, last % len(points))
        else:
            begin, end = _end_tangent(piece), _end_tangent(piece[::-1])
        found += _fit_piece(piece, begin, end, tolerance)
    return found


def fit_chain(points: Points, tolerance: float, reach: int = 5) -> list[Segment]:
    """Fit an open chain of points, a pixel apart: corners stay corners."""
    if len(points) < 3:
        return [np.stack((points[0], points[-1]))]
    smooth = points.copy()
    before, after = smooth[reach:-reach] - smooth[: -2 * reach], smooth[2 * reach :] - smooth[reach:-reach]
    sizes = np.maximum(np.hypot(*before.T) * np.hypot(*after.T), 1e-9)
    cosine = (before * after).sum(axis=1) / sizes
    kept: list[int] = []
    for at in sorted(np.flatnonzero(cosine < CHAIN_CORNER).tolist(), key=lambda number: float(cosine[number])):
        if all(abs(at + reach - other) > reach for other in kept):
            kept.append(at + reach)
    cuts = [0, *sorted(kept), len(points) - 1]
    found: list[Segment] = []
    for first, last in pairwise(cuts):
        piece = points[first : last + 1]
        found += _fit_piece(piece, _end_tangent(piece), _end_tangent(piece[::-1]), tolerance)
    return found


def open_path_data(segments: Sequence[Segment]) -> str:
    """Return the data of a path that is not closed."""
    return _outline_data(segments, 1.0).removesuffix("z")


def path_data(outlines: Sequence[Sequence[Segment]], scale: float = 1.0) -> str:
    """Return the data of a path, in steps of a tenth of a pixel; each outline is closed."""
    return "".join(_outline_data(segments, scale) for segments in outlines if segments)


def _outline_data(segments: Sequence[Segment], scale: float) -> str:
    """Write one outline: where it begins, and each line and curve from where the last one ended."""
    at = _tenths(segments[0][0], scale)
    start, text, last = at, "M" + _join_numbers(at), ""
    for number, segment in enumerate(segments):
        points = [_tenths(point, scale) for point in segment[1:]]
        if len(segment) == 2 and (points[-1] == at or (number == len(segments) - 1 and points[-1] == start)):
            continue
        command = "c" if len(segment) == 4 else "l"
        steps = [part - at[axis] for point in points for axis, part in enumerate(point)]
        written = _join_numbers(steps)
        text += command + written if command != last else (written if written.startswith("-") else f" {written}")
        at, last = points[-1], command
    return f"{text}z"


def _tenths(point: Points, scale: float) -> tuple[int, int]:
    return round(10 * float(point[0]) * scale), round(10 * float(point[1]) * scale)


def _join_numbers(tenths: Sequence[int]) -> str:
    """Write numbers without what SVG does not need: a zero before a point, a space before a sign."""
    text = ""
    for value in tenths:
        whole, part = divmod(abs(value), 10)
        number = ("-" if value < 0 else "") + (str(whole) if whole or not part else "") + (f".{part}" if part else "")
        text += number if not text or number.startswith("-") else f" {number}"
    return text


def flatten_outline(segments: Sequence[Segment], steps: int = 8) -> list[tuple[float, float]]:
    """Return the points of an outline, with `steps` points on each curve."""
    found: list[tuple[float, float]] = []
    for segment in segments:
        if len(segment) == 2:
            found.append((float(segment[0][0]), float(segment[0][1])))
            continue
        found += [(float(x), float(y)) for x, y in _bezier(segment, np.arange(steps) / steps)]
    return found


def format_number(value: float) -> str:
    """Write a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _find_corners(points: Points) -> list[int]:
    """Return the points at which the outline turns sharply."""
    steps = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    reach = max(round(REACH / max(float(np.median(steps)), 1e-6)), 1)
    if len(points) < 4 * reach:
        reach = max(len(points) // 6, 1)
    before, after = points - np.roll(points, reach, axis=0), np.roll(points, -reach, axis=0) - points
    sizes = np.maximum(np.hypot(*before.T) * np.hypot(*after.T), 1e-9)
    cosine = (before * after).sum(axis=1) / sizes
    sharp = np.flatnonzero(cosine < CORNER)
    kept: list[int] = []
    for at in sorted(sharp.tolist(), key=lambda number: float(cosine[number])):
        if all(min(abs(at - other), len(points) - abs(at - other)) > reach for other in kept):
            kept.append(at)
    return sorted(kept)


def _unit(vector: Points) -> Points:
    return vector / max(float(np.hypot(*vector)), 1e-9)


def _tangent_at(points: Points, at: int) -> Points:
    return _unit(points[(at + 2) % len(points)] - points[at - 2])


def _end_tangent(piece: Points) -> Points:
    return _unit(piece[min(3, len(piece) - 1)] - piece[0])


def _fit_piece(piece: Points, begin: Points, end: Points, tolerance: float) -> list[Segment]:
    """Fit a piece between two corners (Schneider 1990): one line or curve, or two halves."""
    first, last = piece[0], piece[-1]
    along = last - first
    size = float(np.hypot(*along))
    away = piece - first
    off = np.abs(along[0] * away[:, 1] - along[1] * away[:, 0]) / size if size > 1e-6 else np.hypot(*away.T)
    if len(piece) <= 2 or (size > 1e-6 and float(off.max()) <= tolerance):
        return [np.stack((first, last))]
    places = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(piece, axis=0).T))))
    places /= max(float(places[-1]), 1e-9)
    worst = len(piece) // 2
    for _ in range(STEPS):
        curve = _fit_cubic(piece, places, begin, end)
        errors = np.hypot(*(_bezier(curve, places) - piece).T)
        worst = int(errors.argmax())
        if float(errors[worst]) <= tolerance:
            return [curve]
        places = _nearer_places(curve, piece, places)
    worst = min(max(worst, 1), len(piece) - 2)
    middle = _unit(piece[min(worst + 2, len(piece) - 1)] - piece[max(worst - 2, 0)])
    return [
        *_fit_piece(piece[: worst + 1], begin, -middle, tolerance),
        *_fit_piece(piece[worst:], middle, end, tolerance),
    ]


def _fit_cubic(piece: Points, places: Points, begin: Points, end: Points) -> Segment:
    """Return the cubic with these tangents at its ends that lies nearest to the points."""
    first, last = piece[0], piece[-1]
    t, rest = places, 1 - places
    one, two = 3 * t * rest**2, 3 * t**2 * rest
    left, right = one[:, None] * begin, two[:, None] * end
    base = (rest**3 + one)[:, None] * first + (t**3 + two)[:, None] * last
    target = piece - base
    c00, c01, c11 = float((left * left).sum()), float((left * right).sum()), float((right * right).sum())
    x0, x1 = float((left * target).sum()), float((right * target).sum())
    size = float(np.hypot(*(last - first)))
    determinant = c00 * c11 - c01 * c01
    reach = [size / 3, size / 3]
    if abs(determinant) > 1e-9:
        found = [(x0 * c11 - x1 * c01) / determinant, (c00 * x1 - c01 * x0) / determinant]
        if min(found) > 1e-3 * size and max(found) < 2 * size:
            reach = found
    return np.stack((first, first + begin * reach[0], last + end * reach[1], last))


def _bezier(curve: Segment, places: Points) -> Points:
    t, rest = places[:, None], 1 - places[:, None]
    return rest**3 * curve[0] + 3 * t * rest**2 * curve[1] + 3 * t**2 * rest * curve[2] + t**3 * curve[3]


def _nearer_places(curve: Segment, piece: Points, places: Points) -> Points:
    """Move each place along the curve towards the foot of its point (Newton's method)."""
    off = _bezier(curve, places) - piece
    slopes = 3 * np.diff(curve, axis=0)
    bends = 2 * np.diff(slopes, axis=0)
    t, rest = places[:, None], 1 - places[:, None]
    speed = rest**2 * slopes[0] + 2 * t * rest * slopes[1] + t**2 * slopes[2]
    turn = rest * bends[0] + t * bends[1]
    under = (speed * speed).sum(axis=1) + (off * turn).sum(axis=1)
    moved = places - np.where(np.abs(under) > 1e-9, (off * speed).sum(axis=1) / np.where(under == 0, 1, under), 0)
    return np.maximum.accumulate(np.clip(moved, 0, 1))
