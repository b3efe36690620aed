"""Reads lines a second time, closely, that their letters do not explain.

Lines are read narrowed, which is fast; small letters that stand close together, such as “ll” and “air”, are left out
of some. The line is then too long for its letters: its type seems to have an odd size, letter spacing, or other shapes.
"""

from collections.abc import Callable, Iterable, Sequence

from heald_local.see.ink import Ink
from heald_local.see.line_fits import best_fit
from heald_local.see.line_marks import Piece
from heald_local.see.ocr import OcrResult
from heald_local.see.script_ocr import is_script
from heald_pictures.fonts import Face, needs_wide

FEWEST_LETTERS = 8  # of a line that is read closely: shorter ones are not narrowed so far
DOUBTFUL = 0.85  # a line that looks less like its letters may have others, as in `styled_lines`
PROBES = 8  # doubtful lines that are read first, the longest: the others only if the letters of one were others
BETTER = 0.005  # likeness by which the closer reading must be better: more than a fit differs from itself

ReadClosely = Callable[[Sequence[Ink]], Sequence[OcrResult]]


def read_doubtful_lines(pieces: Sequence[Piece], favourites: Sequence[Face], read: ReadClosely) -> list[Piece]:
    """Return the pieces with closer readings where these look more like the ink."""
    doubtful = [number for number, (ink, reading) in enumerate(pieces) if _is_doubtful(ink, reading, favourites)]
    doubtful.sort(key=lambda number: -len(pieces[number][1].text))
    better = dict(_find_better(pieces, doubtful[:PROBES], favourites, read))
    if better:
        better |= dict(_find_better(pieces, doubtful[PROBES:], favourites, read))
    return [(ink, better.get(number, reading)) for number, (ink, reading) in enumerate(pieces)]


def _find_better(
    pieces: Sequence[Piece], numbers: Sequence[int], favourites: Sequence[Face], read: ReadClosely
) -> Iterable[tuple[int, OcrResult]]:
    """Yield the numbers of lines with their closer readings, if these are better."""
    closer = read([pieces[number][0] for number in numbers]) if numbers else ()
    for number, reading in zip(numbers, closer, strict=True):
        ink, former = pieces[number]
        text, former_text = reading.text.strip(), former.text.strip()
        if not text or text == former_text:
            continue
        fit, former_fit = best_fit(ink, text, favourites), best_fit(ink, former_text, favourites)
        if fit is not None and (former_fit is None or fit.likeness >= former_fit.likeness + BETTER):
            yield number, reading


def _is_doubtful(ink: Ink, reading: OcrResult, favourites: Sequence[Face]) -> bool:
    """Whether a line has an odd size, letter spacing, or letters that look unlike its ink."""
    text = reading.text.strip()
    if len(text) < FEWEST_LETTERS or needs_wide(text) or is_script(text):
        return False
    fit = best_fit(ink, text, favourites)
    return fit is None or fit.likeness < DOUBTFUL or bool(fit.spacing) or not float(fit.size).is_integer()
