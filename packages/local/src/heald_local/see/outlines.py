"""Traces the closed edges of a shape by marching squares."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald_local.see.pixel_units import PIXEL_MIDDLE

LEVEL = 0.5  # the part of a pixel that a shape covers where its edge is
DECIMALS = 3  # of the place of an edge within a pixel
FEWEST = 6  # points of an outline; those with fewer are dust

Point = tuple[float, float]
Loop = list[Point]


def trace_outlines(cover: NDArray[np.float32], finer: int) -> list[NDArray[np.float64]]:
    """Trace the outlines of a shape in pixels, on a picture that is `finer` times enlarged: strokes may be thin."""
    height, width = cover.shape
    image = Image.fromarray(np.pad(cover, 1))
    large = np.asarray(image.resize(((width + 2) * finer, (height + 2) * finer), Image.Resampling.BICUBIC))
    return [np.array(loop) / finer - 1 for loop in trace_loops(large) if len(loop) >= FEWEST]


def trace_loops(cover: NDArray[np.float32]) -> list[Loop]:
    """Trace the closed edges of a shape by marching squares, in pixels from the corner of the picture."""
    values = np.pad(cover.astype(np.float64), 1)
    inside = values >= LEVEL
    after: dict[Point, list[Point]] = {}
    rows, columns = np.nonzero(
        inside[:-1, :-1] ^ inside[:-1, 1:] | inside[:-1, :-1] ^ inside[1:, :-1] | inside[:-1, :-1] ^ inside[1:, 1:]
    )
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        for start, end in _cell_edges(values[row : row + 2, column : column + 2]):
            begin = (column + start[0], row + start[1])
            after.setdefault(begin, []).append((column + end[0], row + end[1]))
    loops: list[Loop] = []
    while after:
        first = next(iter(after))
        loop, at = [first], first
        while at in after:
            following = after[at].pop()
            if not after[at]:
                del after[at]
            at = following
            if at == first:
                break
            loop.append(at)
        loops.append([(x - PIXEL_MIDDLE, y - PIXEL_MIDDLE) for x, y in loop])
    return loops


def _cell_edges(cell: NDArray[np.float64]) -> list[tuple[Point, Point]]:
    """Return the edges in a square of four pixels' middles, each with the shape on its left."""
    a, b, c, d = float(cell[0, 0]), float(cell[0, 1]), float(cell[1, 1]), float(cell[1, 0])
    over, beside = (_crossing(a, b), 0.0), (1.0, _crossing(b, c))
    under, before = (_crossing(d, c), 1.0), (0.0, _crossing(a, d))
    match (a >= LEVEL, b >= LEVEL, c >= LEVEL, d >= LEVEL):
        case (True, False, False, False):
            return [(over, before)]
        case (False, True, False, False):
            return [(beside, over)]
        case (False, False, True, False):
            return [(under, beside)]
        case (False, False, False, True):
            return [(before, under)]
        case (True, True, False, False):
            return [(beside, before)]
        case (False, True, True, False):
            return [(under, over)]
        case (False, False, True, True):
            return [(before, beside)]
        case (True, False, False, True):
            return [(over, under)]
        case (False, True, True, True):
            return [(before, over)]
        case (True, False, True, True):
            return [(over, beside)]
        case (True, True, False, True):
            return [(beside, under)]
        case (True, True, True, False):
            return [(under, before)]
        case (True, False, True, False):
            return [(over, before), (under, beside)]
        case (False, True, False, True):
            return [(beside, over), (before, under)]
        case _:
            return []


def _crossing(cover: float, following: float) -> float:
    """Return where the level lies between two pixels, from 0 to 1, rounded so that neighbours agree."""
    return round((LEVEL - cover) / (following - cover), DECIMALS) if cover != following else PIXEL_MIDDLE
