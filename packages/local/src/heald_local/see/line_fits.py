"""Finds the typefaces of a page, and the one that looks most like the ink of a line."""

from collections import Counter
from collections.abc import Sequence

from heald_local.see.face_fits import Fit, fit_faces, rank_faces
from heald_local.see.ink import Ink
from heald_local.see.ocr import OcrResult
from heald_pictures.fonts import Face, face_for, faces, needs_wide

SAMPLE_LINES, SAMPLE_HEIGHT = 18, 4  # lines that show the families of a page, and those of one height
LONGEST_SAMPLE = 40  # letters of a line that count
MOST_FAMILIES = 3  # of a page
FIRST_FAMILY = 0.025  # likeness by which the first family of a page is preferred
ITALIC, SPACED = 0.03, 0.04  # likeness by which slanted faces and letter spacing must be better than none
CERTAIN, FITTING = 0.94, 0.8  # likeness from which on no slanted face, and no face of another family, is tried


def find_families(pieces: Sequence[tuple[Ink, OcrResult]]) -> list[Face]:
    """Find the families that the page uses, by its longest lines."""
    latin = [(ink, reading) for ink, reading in pieces if not needs_wide(reading.text)]
    longest = sorted(latin, key=lambda piece: -min(len(piece[1].text), LONGEST_SAMPLE) * piece[1].sure)
    sizes: Counter[int] = Counter()
    chosen: list[tuple[Ink, OcrResult]] = []
    for ink, reading in longest:
        if sizes[round(ink.rect.h)] >= SAMPLE_HEIGHT or len(chosen) >= SAMPLE_LINES:
            continue
        sizes[round(ink.rect.h)] += 1
        chosen.append((ink, reading))
    ranked = rank_faces([(fit_faces(ink, reading.text.strip()), reading.text) for ink, reading in chosen])
    families = list(dict.fromkeys(face.family for face in ranked))[:MOST_FAMILIES]
    return [face for family in families for face in faces() if face.family == family]


def best_fit(ink: Ink, text: str, favourites: Sequence[Face]) -> Fit | None:
    """Return the best fit of the page's families, upright before slanted; of any face if none fits."""
    if needs_wide(text):
        return next(iter(fit_faces(ink, text)), None)
    first = favourites[0].family if favourites else ""

    def rank(fit: Fit) -> float:
        worth = fit.likeness + (FIRST_FAMILY if fit.face.family == first else 0.0)
        return worth - (ITALIC if fit.face.italic else 0.0) - (SPACED if fit.spacing else 0.0)

    upright = sorted(fit_faces(ink, text, [face for face in favourites if not face.italic]), key=rank, reverse=True)
    if upright and upright[0].likeness >= CERTAIN:
        return upright[0]
    italics = [face for face in favourites if face.italic]
    slanted = fit_faces(ink, text, italics, spacing=False)
    if slanted and (not upright or rank(slanted[0]) > rank(upright[0])):
        slanted = fit_faces(ink, text, italics)
    favourite_fits = sorted([*upright, *slanted], key=rank, reverse=True)
    if favourite_fits and favourite_fits[0].likeness >= FITTING:
        return favourite_fits[0]
    fits = [*favourite_fits[:1], *fit_faces(ink, text)[:1]] or fit_faces(ink, text, [face_for(text)])
    return max(fits, key=rank, default=None)
