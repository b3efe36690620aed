"""Fits font faces to the ink of a line: which face, size and letter spacing look most alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from heald_local.see.ink import Ink
from heald_pictures.fonts import LONG, SPECIAL, Face, faces, script_families
from heald_pictures.scripts import is_leftward

SAMPLE_LETTERS = 28  # letters of a line that are compared
SMALLEST, SMALLEST_SPACED = 4.0, 5  # pixels of type
SIZE_SLACK = 1.1  # pixels that a line may be longer or shorter to have a round size
FEWEST_SPACED = 3  # letters of a text that may be spaced
SPACING = (0.1, 0.25)  # letter spacing: pixels from which on it is seen, and the part of the size that it may have
WIDE_SPACING, SPACED_WIDE = 1.8, 8  # the same part for letters that stand far apart, and faces that are tried
SMALLEST_EM = 0.05  # ems of the height of a text: a dash is as low
SPACED_WORSE = 0.04  # likeness by which letter spacing must be better than none
STEPS = (1.0, 0.5, 0.2, 0.1)  # pixels: sizes are multiples of the first that is near
DECIMALS = 2  # of sizes and spacing, in pixels
SHIFTS, SHIFTS_DOWN = 2, 5  # pixels to each side by which pictures are shifted, and the number of shifts down
CLOSE = 0.03  # likeness by which a face may be worse than the best of a line and still count
LONGEST_VOTE = 60  # letters of a line that count
CLEAR = 0.93  # from this likeness on, letter spacing is not tried
SPACED = 2  # faces that are tried with letter spacing
UNLIKE = 0.22  # how far width and height may disagree about the size (as a logarithm) before a face is not drawn at all


def measure_glyphs(texts: Iterable[str]) -> None:
    """Measure the letters of long texts in all upright faces, as finding the families of a page does."""
    long = [text for text in texts if len(text) >= LONG and text.isascii()]
    pool = [face for face in faces() if not face.italic and face.family not in SPECIAL] if long else []
    for face in pool:
        for letter in {letter for text in long for letter in text if letter != " "}:
            face.ink(letter)


@dataclass(frozen=True, slots=True)
class Fit:
    """A face at a size with letter spacing, and its likeness to the picture: 1 is the same."""

    face: Face
    size: float
    spacing: float
    likeness: float


def fit_faces(ink: Ink, text: str, among: Iterable[Face] | None = None, *, spacing: bool = True) -> list[Fit]:
    """Return the best fit of each face, most alike first; with letter spacing if no face is clear without."""
    pool = list(among) if among is not None else [face for face in faces() if not face.italic]
    families, spacing = script_families(text), spacing and not is_leftward(text)
    pool = [face for face in pool if (face.family in families if families else face.family not in SPECIAL)]
    exact = ink.exact
    fits: list[Fit] = []
    for face in pool:
        left, top, right, bottom = face.ink(text)
        if right - left <= 0 or bottom - top <= 0:
            continue
        by_width, by_height = exact.w / (right - left), exact.h / (bottom - top)
        if abs(float(np.log(by_width / by_height))) > UNLIKE and len(pool) > 1:
            continue
        size = max(snap_size(by_width, SIZE_SLACK / (right - left)), SMALLEST)
        fits.append(_fit_face(ink, text, face, size, 0.0))
    fits.sort(key=lambda fit: -fit.likeness)
    if not spacing or len(text) < FEWEST_SPACED or (fits and fits[0].likeness >= CLEAR):
        return fits
    if not fits:
        taller = [(face, exact.h / max(face.ink(text)[3] - face.ink(text)[1], SMALLEST_EM)) for face in pool]
        wide = [_fit_spacing(ink, text, face, height, WIDE_SPACING) for face, height in taller[:SPACED_WIDE]]
        return sorted((fit for fit in wide if fit is not None and fit.spacing > 0), key=lambda fit: -fit.likeness)
    heights = {fit.face: exact.h / (fit.face.ink(text)[3] - fit.face.ink(text)[1]) for fit in fits[:SPACED]}
    spaced = [_fit_spacing(ink, text, face, height) for face, height in heights.items()]
    fits += [fit for fit in spaced if fit is not None]
    return sorted(fits, key=lambda fit: -_rank(fit))


def _fit_spacing(ink: Ink, text: str, face: Face, by_height: float, most: float = SPACING[1]) -> Fit | None:
    """Fit the best whole size near the height's, with letter spacing that fills the width."""
    left, _, right, _ = face.ink(text)
    tries: list[Fit] = []
    whole = float(round(by_height))
    for size in (whole, whole - 1, whole + 1):
        spacing = (ink.exact.w - (right - left) * size) / (len(text) - 1)
        if size >= SMALLEST_SPACED and SPACING[0] < abs(spacing) < most * size:
            tries.append(_fit_face(ink, text, face, size, round(spacing, DECIMALS)))
    return max(tries, key=_rank, default=None)


def _rank(fit: Fit) -> float:
    return fit.likeness - (SPACED_WORSE if fit.spacing else 0.0)


def snap_size(size: float, slack: float) -> float:
    """Return the roundest size within `slack`: whole, half, a tenth."""
    for step in STEPS:
        near = round(size / step) * step
        if abs(near - size) <= slack:
            return round(near, DECIMALS)
    return round(size, DECIMALS)


@lru_cache(maxsize=8_000)
def _fit_face(ink: Ink, text: str, face: Face, size: float, spacing: float) -> Fit:
    """Fit a face. Both finding the families of a page and styling its lines need the same fits."""
    phase = (ink.exact.x - face.ink(text)[0] * size) % 1
    sample = None if is_leftward(text) else SAMPLE_LETTERS if not spacing else SAMPLE_LETTERS // 2
    drawn = face.draw(text[:sample].rstrip(), size, spacing, phase)
    return Fit(face, size, spacing, likeness(ink.cover, drawn))


def clear_fits() -> None:
    """Forget the fits of a page that is done, and with them its ink."""
    _fit_face.cache_clear()


def likeness(cover: NDArray[np.float32], drawn: NDArray[np.float32]) -> float:
    """Return the best agreement of the two pictures over shifts of a pixel or two."""
    width, height = drawn.shape[1], max(cover.shape[0], drawn.shape[0])
    part = cover[:, : width + 1]
    padded = np.zeros((height + 2 * SHIFTS, width + 2 * SHIFTS), np.float32)
    padded[SHIFTS : SHIFTS + part.shape[0], SHIFTS : SHIFTS + part.shape[1]] = part
    padded[:, width + SHIFTS :] = 0
    norm = float((padded * padded).sum()) ** (1 / 2) * float((drawn * drawn).sum()) ** (1 / 2)
    if not norm:
        return 0.0
    rows = min(SHIFTS_DOWN, padded.shape[0] - drawn.shape[0] + 1)
    windows = sliding_window_view(padded, drawn.shape)[:rows, 1:4]
    return float(np.einsum("ijkl,kl->ij", windows, drawn).max()) / norm


def rank_faces(choices: Sequence[tuple[list[Fit], str]]) -> list[Face]:
    """Rank the faces of the page, commonest first: long lines count more, and only clear choices count."""
    weight: dict[Face, float] = {}
    for fits, text in choices:
        if not fits:
            continue
        for fit in fits:
            lead = fit.likeness - fits[0].likeness + CLOSE
            if lead > 0:
                weight[fit.face] = weight.get(fit.face, 0.0) + lead * min(len(text), LONGEST_VOTE)
    return sorted(weight, key=lambda face: -weight[face])
