"""Signs that the network confuses and whose shapes tell them apart: straight and typographic quotes, and dashes.

Both are small parts of a line, which looks nearly the same with either. So each is compared alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from heald_local.see.face_fits import Fit, fit_faces, likeness
from heald_local.see.ink import FAINT, Ink
from heald_local.see.line_icons import Draft
from heald_local.see.paragraphs import CODE
from heald_local.see.script_ocr import is_script
from heald_pictures.fonts import Face, needs_wide
from heald_pictures.regions import Regions, label_islands

QUOTES = {"'": "‘’", '"': "“”"}  # straight ones, with those that open and close
DASHES = "-–—"
OPENED = frozenset(" ([{—–-/“‘\"'")  # signs before a quote that opens
PHASES = (0.0, 0.25, 0.5, 0.75)  # of a pixel in which a sign may begin
BETTER = 0.02  # likeness by which a typographic quote must be better: on public pages straight ones are never better
TOUCHING = 0.25  # the part of a pixel that is ink where letters touch a sign at their smooth edges
SMALLEST = 13.0  # pixels of type whose quotes show their shape
HIGH, UPPER, LOWER = 0.45, 0.35, 0.65  # ems of a quote, and the parts of a line in which it begins and ends
BESIDE = 0.12  # ems that a quote may be off its place
FLAT, LONG = 0.2, 0.2  # ems of the height of a dash, and of its width at least
DASH_BESIDE, DASH_OFF = 0.35, 0.12  # ems that a dash may be off its place, and its width off that of its kind


def correct_signs(draft: Draft) -> Draft:
    """Return a line with the quotes and dashes that its ink shows."""
    corrected = _correct_once(draft)
    # The signs that were put right may have moved what stands behind them.
    return draft if corrected is draft else _correct_once(corrected)


def _correct_once(draft: Draft) -> Draft:
    ink, reading, fit = draft
    text = reading.text.strip()
    dashes = [number for number, sign in enumerate(text) if sign in DASHES and _stands_alone(text, number)]
    has_quotes = fit.size >= SMALLEST and any(sign in QUOTES for sign in text)
    if fit.face.family in CODE or not (has_quotes or dashes) or needs_wide(text) or is_script(text):
        return draft
    signs = list(text)
    islands = [label_islands(ink.cover > part) for part in (FAINT, TOUCHING)]
    for straight in QUOTES if has_quotes else ():
        places = [number for number, sign in enumerate(text) if sign == straight]
        leads = {number: _typographic_lead(ink, islands, fit, text, number) for number in places}
        least = 0.0 if leads and min(leads.values()) > -BETTER and max(leads.values()) >= BETTER else BETTER
        signs = [_curly(text, at) if leads.get(at, -1.0) >= least else sign for at, sign in enumerate(signs)]
    for number in dashes:
        signs[number] = _dash(ink, islands[0], fit, text, number)
    corrected = "".join(signs)
    if corrected == text:
        return draft
    refits = fit_faces(ink, corrected, [fit.face], spacing=bool(fit.spacing))
    return (ink, replace(reading, text=corrected), refits[0]) if refits else draft


def _stands_alone(text: str, number: int) -> bool:
    return 0 < number < len(text) - 1 and text[number - 1] == text[number + 1] == " "


def _pen(ink: Ink, fit: Fit, text: str, number: int) -> float:
    """Return where a letter begins, in columns of the ink."""
    start = ink.exact.x - ink.rect.x - fit.face.ink(text)[0] * fit.size
    return start + fit.face.advance(text[:number]) * fit.size + fit.spacing * number


def _islands_at(islands: Regions, near: float, far: float) -> Iterator[tuple[int, int, int, int]]:
    """Yield the edges of the pieces of ink that reach into some columns."""
    for left, top, right, bottom in islands.edges[1:].tolist():
        if right > near and left < far:
            yield left, top, right, bottom


def _curly(text: str, number: int) -> str:
    """Return the typographic form of a quote: the one that opens, or the one that closes and is an apostrophe."""
    opens = number == 0 or text[number - 1] in OPENED
    return QUOTES[text[number]][0 if opens else 1]


def _typographic_lead(ink: Ink, islands: Sequence[Regions], fit: Fit, text: str, number: int) -> float:
    """Return by how much the ink of a quote is more like a typographic one; 0 if it cannot be told from its letters."""
    straight, size, height = text[number], fit.size, len(ink.cover)
    pen, (left, _, right, _) = _pen(ink, fit, text, number), fit.face.ink(straight)
    near, far = pen + (left - BESIDE) * size, pen + (right + BESIDE) * size
    by_part = (
        [
            (x, top, end, bottom)
            for x, top, end, bottom in _islands_at(regions, near, far)
            if bottom - top <= HIGH * size and top < UPPER * height and bottom <= LOWER * height + 1
        ]
        for regions in islands
    )
    marks = next((marks for marks in by_part if marks), None)
    if marks is None:
        return 0.0
    edges = list(zip(*marks, strict=True))
    cover = ink.cover[min(edges[1]) : max(edges[3]), min(edges[0]) : max(edges[2])]
    alike, straight_alike = (
        max(likeness(cover, fit.face.draw(sign, size, 0.0, phase)) for phase in PHASES)
        for sign in (_curly(text, number), straight)
    )
    return alike - straight_alike


def _dash(ink: Ink, islands: Regions, fit: Fit, text: str, number: int) -> str:
    """Return the dash that is as long as the ink of one."""
    size, pen = fit.size, _pen(ink, fit, text, number)
    near, far = pen - DASH_BESIDE * size, pen + (fit.face.advance(text[number]) + DASH_BESIDE) * size
    lengths = [
        float(ink.cover[top:bottom, left:right].sum() / ink.cover[top:bottom, left:right].sum(axis=0).max())
        for left, top, right, bottom in _islands_at(islands, near, far)
        if bottom - top <= FLAT * size and right - left >= LONG * size
    ]
    if len(lengths) != 1:
        return text[number]

    def off(sign: str) -> float:
        return abs(_length(fit.face, sign) * size - lengths[0])

    nearest = min(DASHES, key=off)
    return nearest if off(nearest) <= DASH_OFF * size else text[number]


def _length(face: Face, sign: str) -> float:
    left, _, right, _ = face.ink(sign)
    return right - left
