"""Font families and faces."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, features

from heald_pictures.elements import Family
from heald_pictures.scripts import is_leftward, wide_letter

FONT_STACKS: dict[Family, str] = {
    "sans": 'Arial, "Liberation Sans", Helvetica, sans-serif',
    "system": 'system-ui, "Noto Sans", "Segoe UI", Roboto, sans-serif',
    "wide": 'Verdana, "DejaVu Sans", Geneva, sans-serif',
    "narrow": '"Arial Narrow", "Liberation Sans Narrow", sans-serif',
    "serif": '"Times New Roman", "Liberation Serif", Times, serif',
    "book": '"Noto Serif", Georgia, Cambria, serif',
    "broad": '"DejaVu Serif", "Bitstream Vera Serif", Georgia, serif',
    "mono": '"Courier New", "Liberation Mono", Courier, monospace',
    "code": '"DejaVu Sans Mono", Menlo, Consolas, monospace',
    "cjk": '"Noto Sans CJK SC", "PingFang SC", "Hiragino Sans", "Microsoft YaHei", sans-serif',
    "hebrew": '"Noto Sans Hebrew", "DejaVu Sans", Arial, sans-serif',
    "arabic": '"Noto Sans Arabic", "DejaVu Sans", Tahoma, sans-serif',
    "naskh": '"Noto Naskh Arabic", "DejaVu Sans", "Times New Roman", serif',
}

FILES: dict[Family, tuple[str, ...]] = {
    "sans": ("LiberationSans-{}.ttf", "Arimo-{}.ttf", "arial{}.ttf"),
    "system": ("NotoSans-{}.ttf", "OpenSans-{}.ttf"),
    "wide": ("DejaVuSans{}.ttf",),
    "narrow": ("LiberationSansNarrow-{}.ttf",),
    "serif": ("LiberationSerif-{}.ttf", "Tinos-{}.ttf"),
    "book": ("NotoSerif-{}.ttf",),
    "broad": ("DejaVuSerif{}.ttf",),
    "mono": ("LiberationMono-{}.ttf", "Cousine-{}.ttf"),
    "code": ("DejaVuSansMono{}.ttf",),
    "cjk": ("NotoSansCJK-{}.ttc", "NotoSansCJKsc-{}.otf"),
    "hebrew": ("NotoSansHebrew-{}.ttf",),
    "arabic": ("NotoSansArabic-{}.ttf",),
    "naskh": ("NotoNaskhArabic-{}.ttf",),
}
SPECIAL: frozenset[Family] = frozenset({"cjk", "hebrew", "arabic", "naskh"})  # families of one script

FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "~/.fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
    "C:/Windows/Fonts",
)
LARGE = 256
LARGE_FILE = 4_000_000  # bytes of a font file
MEASURED = 96
LONG = 16  # letters from which on the edges of a text need not be exact to the pixel
FINE = 4  # text is drawn this much larger and then reduced, so that no hinting shows and sizes need not be whole


@dataclass(frozen=True, slots=True)
class Face:
    """One font file: a family at a weight and slant. Lengths are in ems."""

    family: Family
    bold: bool
    italic: bool
    path: str
    ascent: float
    descent: float

    def advance(self, text: str) -> float:
        return _advance(self.path, text)

    def ink(self, text: str) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of the ink, from the pen on the baseline."""
        return _ink(self.path, text)

    def draw(self, text: str, size: float, spacing: float = 0.0, phase: float = 0.0) -> NDArray[np.float32]:
        """Draw the ink of a text, 0 to 1, cropped; the pen starts `phase` pixels after a whole pixel."""
        return _draw(self.path, text, size, spacing, phase)

    def missing(self, letter: str) -> bool:
        return _missing(self.path, letter)


@dataclass(frozen=True, slots=True)
class Mark:
    """A text drawn `FINE` times as large, and its place from the pen on the baseline."""

    mask: Any
    left: int
    top: int
    ink: tuple[int, int]  # the first column that is dark, and the one after the last

    @property
    def width(self) -> int:
        return self.mask.size[0]

    @property
    def height(self) -> int:
        return self.mask.size[1]


@cache
def faces() -> tuple[Face, ...]:
    files = installed()
    installed_faces: list[Face] = []
    for family, patterns in FILES.items():
        for bold, italic, names in _STYLES:
            candidates = [pattern.format(name) for pattern in patterns for name in names]
            path = next((files[name] for name in candidates if name in files), None)
            if path is None:
                continue
            ascent, descent = _font(path, 1000).getmetrics()
            installed_faces.append(Face(family, bold, italic, path, ascent / 1000, descent / 1000))
    if not installed_faces:
        ascent, descent = _font("", 1000).getmetrics()
        installed_faces.append(Face("sans", False, False, "", ascent / 1000, descent / 1000))
    return tuple(installed_faces)


def face(family: Family, bold: bool = False, italic: bool = False) -> Face:
    """Find the nearest installed face."""
    return max(
        faces(),
        key=lambda candidate: (
            candidate.family == family,
            candidate.family == "sans",
            candidate.bold == bold,
            candidate.italic == italic,
        ),
    )


def face_for(text: str) -> Face:
    """Return a face that has the script of a text."""
    families = script_families(text)
    return face(families[0] if families else "sans")


def script_families(text: str) -> tuple[Family, ...]:
    """Return the families that have the script of a text; none if most families have it."""
    if needs_wide(text):
        return ("cjk",)
    if any("\u0600" <= letter <= "\u06ff" for letter in text):
        return "arabic", "naskh", "wide"
    return ("hebrew", "wide") if is_leftward(text) else ()


def needs_wide(text: str) -> bool:
    return any(wide_letter(letter) for letter in text)


def is_symbol(letter: str) -> bool:
    """Whether a character is an arrow, a star or another symbol that few fonts have."""
    return "\u2190" <= letter <= "\u2bff"


_STYLES = (
    (False, False, ("Regular", "")),
    (True, False, ("Bold", "-Bold")),
    (False, True, ("Italic", "-Oblique", "-Italic")),
    (True, True, ("BoldItalic", "-BoldOblique", "-BoldItalic")),
)


@cache
def installed() -> dict[str, str]:
    files: dict[str, str] = {}
    for folder in FOLDERS:
        for place, _, names in os.walk(Path(folder).expanduser()):
            files.update({name: str(Path(place) / name) for name in names if name.endswith((".ttf", ".ttc", ".otf"))})
    return files


def _font(path: str, size: float, *, alone: bool = False) -> ImageFont.FreeTypeFont:
    """Load a font, cached. `alone` is for single letters, which need no layout."""
    return (_open_large if _is_large(path) else _open_small)(path, size, alone)


def _open_font(path: str, size: float, alone: bool) -> ImageFont.FreeTypeFont:
    layout = ImageFont.Layout.RAQM if features.check("raqm") and not alone else ImageFont.Layout.BASIC
    if not path:
        fallback = ImageFont.load_default(size)
        assert isinstance(fallback, ImageFont.FreeTypeFont)
        return fallback
    return ImageFont.truetype(path, size, index=2 if path.endswith(".ttc") else 0, layout_engine=layout)


# Every size of a font maps its file anew: a hundred sizes of one with all Chinese letters fill a gigabyte.
_open_small, _open_large = lru_cache(maxsize=256)(_open_font), lru_cache(maxsize=12)(_open_font)


@cache
def _is_large(path: str) -> bool:
    return bool(path) and Path(path).stat().st_size > LARGE_FILE


@lru_cache(maxsize=20_000)
def _missing(path: str, letter: str) -> bool:
    return _outline(path, letter) == _missing_outline(path)


@lru_cache(maxsize=64)
def _missing_outline(path: str) -> bytes:
    """Return the outline that stands for missing letters."""
    return _outline(path, "\U0010fffd")


def _outline(path: str, letter: str) -> bytes:
    return _pixels(_font(path, 24, alone=True).getmask(letter)).tobytes()


@lru_cache(maxsize=20_000)
def _advance(path: str, text: str) -> float:
    return sum(_font(font_path, LARGE).getlength(span) for font_path, span in _spans(path, text)) / LARGE


@lru_cache(maxsize=20_000)
def _spans(path: str, text: str) -> tuple[tuple[str, str], ...]:
    """Split a text, from left to right, into spans of the font and, for letters that it lacks, of another one.

    A browser does the same: fonts of Hebrew have no figures, and many fonts no symbols. Other text is not split.
    """
    other = face("wide", "Bold" in path).path
    is_mixed = is_leftward(text) or any(map(is_symbol, text))
    lacks = [letter != " " and _missing(path, letter) for letter in text] if is_mixed else []
    if not any(lacks) or other == path:
        return ((path, text),)
    for at in range(1, len(text) - 1):
        lacks[at] = lacks[at] or (text[at] == " " and lacks[at - 1] and lacks[at + 1])
    runs = groupby(range(len(text)), key=lambda at: lacks[at])
    spans = [(other if lacking else path, "".join(text[at] for at in places)) for lacking, places in runs]
    return tuple(reversed(spans) if is_leftward(text) else spans)


@lru_cache(maxsize=20_000)
def _ink(path: str, text: str) -> tuple[float, float, float, float]:
    """Measure the ink. A long text is combined from its letters; letters that join are drawn together."""
    if len(text) < LONG or any("\u0590" <= letter <= "\u08ff" for letter in text):
        left, top, right, bottom = _edges(path, text)
        return left / MEASURED, top / MEASURED, right / MEASURED, bottom / MEASURED
    letters = [_ink(path, letter) for letter in set(text) if letter != " "]
    inked = [(top, bottom) for left, top, right, bottom in letters if right > left]
    if not inked:
        return 0.0, 0.0, 0.0, 0.0
    right = _advance(path, text) - _advance(path, text[-1]) + _ink(path, text[-1])[2]
    return _ink(path, text[0])[0], min(top for top, _ in inked), right, max(bottom for _, bottom in inked)


def _edges(path: str, text: str) -> tuple[float, float, float, float]:
    mask, across, down = _draw_spans(path, text, MEASURED)
    left, top, right, bottom = Image.fromarray(mask).getbbox() or (0, 0, 0, 0)
    return left + across, top + down, right + across, bottom + down


def _draw_spans(path: str, text: str, size: float) -> tuple[NDArray[np.uint8], int, int]:
    """Draw a text without reducing it; also return its left and top from the pen on the baseline."""
    pen, pieces = 0.0, list[tuple[NDArray[np.uint8], int, int]]()
    for font_path, span in _spans(path, text):
        mask, (across, down) = _font(font_path, size).getmask2(span, mode="L", anchor="ls")
        if mask.size[0] and mask.size[1]:
            pieces.append((_pixels(mask), int(across + pen), int(down)))
        pen += _advance(font_path, span) * size
    if len(pieces) < 2:
        return pieces[0] if pieces else (np.zeros((1, 1), np.uint8), 0, 0)
    left, top = min(piece[1] for piece in pieces), min(piece[2] for piece in pieces)
    right = max(across + drawn.shape[1] for drawn, across, _ in pieces)
    canvas = np.zeros((max(down + len(drawn) for drawn, _, down in pieces) - top, right - left), np.uint8)
    for drawn, across, down in pieces:
        part = canvas[down - top : down - top + len(drawn), across - left : across - left + drawn.shape[1]]
        np.maximum(part, drawn, out=part)
    return canvas, left, top


def _draw(path: str, text: str, size: float, spacing: float, phase: float) -> NDArray[np.float32]:
    if not spacing:
        return _place(path, text, size)(phase)
    marks = [(_letter_mark(path, letter, size), _pen(path, text, number)) for number, letter in enumerate(text)]
    placed = [(mark, (pen * size + number * spacing + phase) * FINE) for number, (mark, pen) in enumerate(marks)]
    visible = [(mark, pen) for mark, pen in placed if mark.height and mark.width]
    start = min((pen + mark.ink[0] for mark, pen in visible), default=0.0) // FINE * FINE
    width = -(-int(max((pen + mark.ink[1] for mark, pen in visible), default=0.0) - start) // FINE) * FINE
    # the baseline is on a whole pixel in a browser: the fraction above it stays as it is.
    up = -(-max((-mark.top for mark, _ in visible), default=0) // FINE) * FINE
    down = -(-max((mark.top + mark.height for mark, _ in visible), default=0) // FINE) * FINE
    image = Image.new("L", (max(width, FINE), max(up + max(down, 0), FINE)), 0)
    canvas: Any = ImageDraw.Draw(image).draw
    for mark, pen in visible:
        canvas.draw_bitmap((round(pen - start) + mark.left, up + mark.top), mark.mask, 255)
    return np.asarray(image.reduce(FINE), np.float32) / np.float32(255)


@lru_cache(maxsize=20_000)
def _pen(path: str, text: str, number: int) -> float:
    """Return where a letter of a text begins, in ems."""
    return _advance(path, text[: number + 1]) - _advance(path, text[number])


def _pixels(mask: Any) -> NDArray[np.uint8]:
    """Convert a mask to an array. Converting it to a picture first is much faster than reading points."""
    image = Image.new("L", mask.size)
    image.im.paste(mask, (0, 0, *mask.size))
    return np.asarray(image)


def _mark(path: str, text: str, size: float) -> Mark:
    mask, (across, down) = _font(path, size * FINE, alone=len(text) == 1).getmask2(text, mode="L", anchor="ls")
    left, _, right, _ = mask.getbbox() or (0, 0, FINE, 0)
    return Mark(mask, int(across), int(down), (int(across) + left, int(across) + right))


def _place(path: str, text: str, size: float) -> Callable[[float], NDArray[np.float32]]:
    """Return what draws the text when the pen starts a part of a pixel to the right."""
    fine, across, down = _draw_spans(path, text, size * FINE)
    rows, columns = np.flatnonzero(fine.any(axis=1)), np.flatnonzero(fine.any(axis=0))
    if not len(rows):
        return lambda _phase: np.zeros((1, 1), np.float32)
    fine = fine[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    left, above = across + int(columns[0]), -down - int(rows[0])

    def at(phase: float) -> NDArray[np.float32]:
        before, over = (left + round(phase * FINE)) % FINE, -above % FINE
        wide, high = -(-(before + fine.shape[1]) // FINE), -(-(over + fine.shape[0]) // FINE)
        canvas = np.zeros((high * FINE, wide * FINE), np.uint16)
        canvas[over : over + fine.shape[0], before : before + fine.shape[1]] = fine
        rows = sum(canvas[start::FINE] for start in range(1, FINE)) + canvas[::FINE]
        total = sum(rows[:, start::FINE] for start in range(1, FINE)) + rows[:, ::FINE]
        return total.astype(np.float32) / np.float32(FINE * FINE) / np.float32(255)

    return at


_letter_mark = lru_cache(maxsize=600)(_mark)
