"""Which typeface a text is set in, and how large: candidates are drawn and compared with the picture, not guessed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.vision.fonts import SPECIAL, Face, faces, needs_wide
from weft.vision.ink import Ink

SAMPLE = 28
"""Letters of a line that are compared; more would only cost time."""
CLEAR = 0.93
"""From here on a face is taken as it is, without trying letter spacing."""
SPACED = 2
UNLIKE = 0.22
"""How far width and height may disagree about the size (as a logarithm) before a face is not drawn at all."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A face at a size with letter spacing, and how like the picture it is: 1 is the same."""

    face: Face
    size: float
    spacing: float
    likeness: float


def fits(ink: Ink, text: str, among: Iterable[Face] | None = None, *, spacing: bool = True) -> list[Fit]:
    """The best fit of each candidate face, most alike first; with letter spacing where no face is clear without."""
    pool = list(among) if among is not None else [face for face in faces() if not face.italic]
    pool = [face for face in pool if _may(face, text)]
    exact = ink.exact
    found: list[Fit] = []
    for face in pool:
        left, top, right, bottom = face.ink(text)
        if right - left <= 0 or bottom - top <= 0:
            continue
        by_width, by_height = exact.w / (right - left), exact.h / (bottom - top)
        if abs(float(np.log(by_width / by_height))) > UNLIKE and len(pool) > 1:
            continue
        found.append(_try(ink, text, face, max(snap(by_width, 1.1 / (right - left)), 4.0), 0.0))
    found.sort(key=lambda fit: -fit.likeness)
    if not spacing or len(text) < 3 or (found and found[0].likeness >= CLEAR):
        return found
    heights = {fit.face: exact.h / (fit.face.ink(text)[3] - fit.face.ink(text)[1]) for fit in found[:SPACED]}
    spaced = [_spaced(ink, text, face, height) for face, height in heights.items()]
    found += [fit for fit in spaced if fit is not None]
    return sorted(found, key=lambda fit: -_rank(fit))


def _spaced(ink: Ink, text: str, face: Face, by_height: float) -> Fit | None:
    """The best whole size near the height's, with the letter spacing that makes up for the width."""
    left, _, right, _ = face.ink(text)
    tries: list[Fit] = []
    for size in (float(round(by_height)), float(round(by_height)) - 1, float(round(by_height)) + 1):
        spacing = (ink.exact.w - (right - left) * size) / (len(text) - 1)
        if size >= 5 and 0.1 < abs(spacing) < 0.25 * size:
            tries.append(_try(ink, text, face, size, round(spacing, 2)))
    return max(tries, key=_rank, default=None)


def _rank(fit: Fit) -> float:
    return fit.likeness - (0.04 if fit.spacing else 0.0)


def _may(face: Face, text: str) -> bool:
    if needs_wide(text):
        return face.family == "cjk"
    return face.family not in SPECIAL


def snap(size: float, slack: float) -> float:
    """The roundest size within `slack`: whole, half, a tenth."""
    for step in (1.0, 0.5, 0.2, 0.1):
        near = round(size / step) * step
        if abs(near - size) <= slack:
            return round(near, 2)
    return round(size, 2)


def _try(ink: Ink, text: str, face: Face, size: float, spacing: float) -> Fit:
    phase = (ink.exact.x - face.ink(text)[0] * size) % 1
    drawn = face.draw(text[: SAMPLE if not spacing else SAMPLE // 2].rstrip(), size, spacing, phase)
    return Fit(face, size, spacing, likeness(ink.cover, drawn))


def likeness(seen: NDArray[np.float32], drawn: NDArray[np.float32]) -> float:
    """How well the two agree when laid over each other as well as they can be, within a pixel or two."""
    width, height = drawn.shape[1], max(seen.shape[0], drawn.shape[0])
    part = seen[:, : width + 1]
    one = np.zeros((height + 4, width + 4), np.float32)
    one[2 : 2 + part.shape[0], 2 : 2 + part.shape[1]] = part
    one[:, width + 2 :] = 0
    norm = float((one * one).sum()) ** 0.5 * float((drawn * drawn).sum()) ** 0.5
    if not norm:
        return 0.0
    best = 0.0
    for down in range(5):
        if down + drawn.shape[0] > one.shape[0]:
            break
        for right in range(1, 4):
            window = one[down : down + drawn.shape[0], right : right + drawn.shape[1]]
            best = max(best, float((window * drawn).sum()))
    return best / norm


def vote(choices: Sequence[tuple[list[Fit], str]]) -> list[Face]:
    """Which faces the page uses, commonest first: long lines count more, and only clear choices count."""
    weight: dict[Face, float] = {}
    for found, text in choices:
        if not found:
            continue
        for fit in found:
            lead = fit.likeness - found[0].likeness + 0.03
            if lead > 0:
                weight[fit.face] = weight.get(fit.face, 0.0) + lead * min(len(text), 60)
    return sorted(weight, key=lambda face: -weight[face])
