"""Splits an icon into layers of one flat colour each."""

import itertools

import numpy as np
from numpy.typing import NDArray

from heald_local.see.ink import Ink, extract_ink
from heald_pictures.colours import hex_colour
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

FLAT = 10  # levels by which the pixels of a flat colour differ
APART = 24  # levels by which two colours differ at least
MIXED = 30  # levels that a pixel may be off the mixture of two colours
MOST_COLOURS = 3  # of an icon that is drawn in layers
FEWEST_PIXELS, LEAST_SHARE = 4, 0.05  # that have a colour: pixels, and the part of all that are not at an edge
MOST_LEFT = 0.1  # the part of them that have none of the colours
COARSE = 16  # levels of a step in which colours are counted
BIN_FACTORS = np.array([4096, 64, 1])  # the steps of the channels, as one number
BETWEEN, BETWEEN_OFF = (0.05, 0.95), 14  # the part of a mixture that its second colour has, and levels that it is off
BETTER = 2  # levels by which another mixture must be better to be used
MOST_MIXED = 0.03  # the part of an icon that is not a mixture of two of its colours
MOST_SHADED = 0.06  # the part of an icon of one colour that may have another one
Cover = NDArray[np.float32]
Layer = tuple[str, Cover]  # a colour, and the part of each pixel that it covers


def split_colours(seen: Pixels, ground: Pixels) -> list[Layer]:
    """Return the colours of an icon from the lowest layer to the highest; none if it has more than a few."""
    single = single_layer(seen, ground)
    if single is not None:
        return [single]
    palette = _find_palette(seen, ground)
    if palette is None:
        return []
    parts = _mix_parts(seen, np.concatenate((np.median(ground, axis=(0, 1))[None], palette)))
    if parts is None:
        return []
    order = sorted(range(1, len(palette) + 1), key=lambda number: -float(parts[number].sum()))
    layers: list[Layer] = []
    for at, number in enumerate(order):
        cover = np.clip(sum(parts[upper] for upper in order[at:]), 0, 1)
        layers.append((hex_colour(palette[number - 1]), np.asarray(cover, np.float32)))
    return layers


def single_layer(seen: Pixels, ground: Pixels) -> Layer | None:
    height, width = seen.shape[:2]
    ink = extract_ink(seen, ground, Rect(0, 0, width, height))
    if ink is None or ink.underlined or _is_shaded(seen, ground, ink):
        return None
    cover = np.zeros((height, width), np.float32)
    x, y = int(ink.rect.x), int(ink.rect.y)
    cover[y : y + ink.cover.shape[0], x : x + ink.cover.shape[1]] = ink.cover
    return hex_colour(ink.colour), cover


def _is_shaded(seen: Pixels, ground: Pixels, ink: Ink) -> bool:
    """Whether some of it has another colour than the ink: a face is not a disc."""
    change = seen.astype(np.float64) - ground
    direction = ink.colour - ink.paper
    cover = np.clip(change @ direction / max(float(direction @ direction), 1.0), 0, 1)
    strong = np.abs(change).max(axis=2) > APART
    off = np.abs(change - cover[:, :, None] * direction).max(axis=2)
    return bool(strong.any()) and float((off[strong] > MIXED).mean()) > MOST_SHADED


def _find_palette(seen: Pixels, ground: Pixels) -> NDArray[np.float64] | None:
    """Return the flat colours that differ from the ground and from each other; stripes may be thin."""
    pixels = seen.astype(np.int16)
    inner = pixels[1:-1, 1:-1]
    around = (pixels[:-2, 1:-1], pixels[2:, 1:-1], pixels[1:-1, :-2], pixels[1:-1, 2:])
    over, under, before, behind = (np.abs(inner - beside).max(axis=2) <= FLAT for beside in around)
    calm = (over & under) | (before & behind)
    calm &= np.abs(inner - ground[1:-1, 1:-1]).max(axis=2) > APART
    left = inner[calm].astype(np.float64)
    total = len(left)
    paper = np.median(ground, axis=(0, 1))
    fewest = max(FEWEST_PIXELS, LEAST_SHARE * total)
    colours: list[NDArray[np.float64]] = []
    while len(left) >= fewest and len(colours) <= MOST_COLOURS:
        bins = (left // COARSE).astype(np.int64) @ BIN_FACTORS
        values, counts = np.unique(bins, return_counts=True)
        colour = np.median(left[bins == values[counts.argmax()]], axis=0)
        near = np.abs(left - colour).max(axis=1) <= APART
        if not _is_mixture(colour, [paper, *colours]):
            if int(near.sum()) < fewest:
                break
            colours.append(np.median(left[near], axis=0))
        left = left[~near]
    return np.stack(colours) if 2 <= len(colours) <= MOST_COLOURS and len(left) <= MOST_LEFT * total else None


def _is_mixture(colour: NDArray[np.float64], others: list[NDArray[np.float64]]) -> bool:
    """Whether a colour lies between two others, as at a smooth edge."""
    least, most = BETWEEN
    for first, second in itertools.combinations(others, 2):
        along = second - first
        part = float((colour - first) @ along) / max(float(along @ along), 1.0)
        if least < part < most and float(np.abs(colour - first - part * along).max()) <= BETWEEN_OFF:
            return True
    return False


def _mix_parts(seen: Pixels, palette: NDArray[np.float64]) -> NDArray[np.float32] | None:
    """Return the part of each pixel that each colour has; None if many are not mixtures of two."""
    pixels = seen.astype(np.float64)
    best = np.full(pixels.shape[:2], np.inf)
    parts = np.zeros((len(palette), *pixels.shape[:2]), np.float32)
    for first, second in itertools.combinations(range(len(palette)), 2):
        along = palette[second] - palette[first]
        share = np.clip((pixels - palette[first]) @ along / max(float(along @ along), 1.0), 0, 1)
        off = np.abs(pixels - palette[first] - share[:, :, None] * along).max(axis=2)
        better = off < best - BETTER
        best = np.where(better, off, best)
        parts[:, better] = 0
        parts[first][better] = 1 - share[better]
        parts[second][better] = share[better]
    return parts if float((best > MIXED).mean()) <= MOST_MIXED else None
