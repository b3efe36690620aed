"""The typefaces that text is compared with: what CSS calls them, which files draw them here, and how wide they are.

Widths are those of a browser without hinting: measured once at a large size and scaled. Where no font file of a family
is installed the family is left out; where none is at all, Pillow's own face stands in.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, features

from weft.vision.seen import Family, wide_letter

STACKS: dict[Family, str] = {
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
SPECIAL: frozenset[Family] = frozenset({"cjk", "hebrew", "arabic", "naskh"})
"""Families of one script, which are never tried on others."""

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
MEASURED = 96
LONG = 16
"""Letters from which on the edges of a text need not be exact to the pixel."""
FINE = 4
"""Text is drawn this much larger and then reduced, so that no hinting shows and sizes need not be whole."""


@dataclass(frozen=True, slots=True)
class Face:
    """One file: a family at a weight and slant. Lengths are in ems."""

    family: Family
    bold: bool
    italic: bool
    path: str
    ascent: float
    descent: float

    def advance(self, text: str) -> float:
        """How far the text moves the pen."""
        return _advance(self.path, text)

    def ink(self, text: str) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of what is dark, from the pen's start on the baseline."""
        return _ink(self.path, text)

    def draw(self, text: str, size: float, spacing: float = 0.0, phase: float = 0.0) -> NDArray[np.float32]:
        """The text's ink, 0 to 1, cut to its edges at whole pixels; the pen starts `phase` pixels after one."""
        return _draw(self.path, text, size, spacing, phase)

    def place(self, text: str, size: float, phase: float, stretch: float) -> tuple[NDArray[np.float32], int, int]:
        """As `draw`, with how many columns its first lies right of the pen and rows its top above the baseline.

        `stretch` makes it taller, as hinting does.
        """
        return _place(self.path, text, size, stretch)(phase)

    def letter(self, text: str, size: float, phase: float, stretch: float) -> tuple[NDArray[np.float32], int, int]:
        """The same of one letter, drawn once."""
        return _letter(self.path, text, size, stretch)(phase)

    def mark(self, text: str, size: float) -> "Mark":
        """The text drawn `FINE` times as large."""
        return _mark(self.path, text, size)

    def missing(self, letter: str) -> bool:
        """Whether the file has no picture of this letter."""
        return _missing(self.path, letter)


@dataclass(frozen=True, slots=True)
class Mark:
    """A text drawn `FINE` times as large: its picture, and where that lies from the pen on the baseline."""

    mask: Any
    left: int
    top: int
    ink: tuple[int, int]
    """The first column that is dark, and the one after the last."""

    @property
    def width(self) -> int:
        return self.mask.size[0]

    def onto(self, image: Image.Image, pen: int, baseline: int) -> None:
        """Lay it onto a picture."""
        width, height = self.mask.size
        left, top = pen + self.left, baseline + self.top
        if width and height:
            image.im.paste(self.mask, (left, top, left + width, top + height))


@cache
def faces() -> tuple[Face, ...]:
    """Every face that is installed here."""
    files = installed()
    found: list[Face] = []
    for family, patterns in FILES.items():
        for bold, italic, names in _STYLES:
            path = next((files[name] for name in _names(patterns, names) if name in files), None)
            if path is None:
                continue
            ascent, descent = _font(path, 1000).getmetrics()
            found.append(Face(family, bold, italic, path, ascent / 1000, descent / 1000))
    if not found:
        ascent, descent = _font("", 1000).getmetrics()
        found.append(Face("sans", False, False, "", ascent / 1000, descent / 1000))
    return tuple(found)


def face(family: Family, bold: bool = False, italic: bool = False) -> Face:
    """The nearest installed face."""
    return max(
        faces(),
        key=lambda each: (each.family == family, each.family == "sans", each.bold == bold, each.italic == italic),
    )


def needs_wide(text: str) -> bool:
    return any(wide_letter(letter) for letter in text)


_STYLES = (
    (False, False, ("Regular", "")),
    (True, False, ("Bold", "-Bold")),
    (False, True, ("Italic", "-Oblique", "-Italic")),
    (True, True, ("BoldItalic", "-BoldOblique", "-BoldItalic")),
)


def _names(patterns: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    return [pattern.format(name) for pattern in patterns for name in names]


@cache
def installed() -> dict[str, str]:
    """Every font file on this machine, by its name."""
    files: dict[str, str] = {}
    for folder in FOLDERS:
        for place, _, names in os.walk(Path(folder).expanduser()):
            files.update({name: str(Path(place) / name) for name in names if name.endswith((".ttf", ".ttc", ".otf"))})
    return files


@lru_cache(maxsize=256)
def _font(path: str, size: float, *, alone: bool = False) -> ImageFont.FreeTypeFont:
    """`alone` for single letters, whose picture needs nothing laid out."""
    layout = ImageFont.Layout.RAQM if features.check("raqm") and not alone else ImageFont.Layout.BASIC
    if not path:
        fallback = ImageFont.load_default(size)
        assert isinstance(fallback, ImageFont.FreeTypeFont)
        return fallback
    return ImageFont.truetype(path, size, index=2 if path.endswith(".ttc") else 0, layout_engine=layout)


@lru_cache(maxsize=20_000)
def _missing(path: str, letter: str) -> bool:
    return _outline(path, letter) == _nothing(path)


@lru_cache(maxsize=64)
def _nothing(path: str) -> bytes:
    """What the file draws for letters that it has not."""
    return _outline(path, "\U0010fffd")


def _outline(path: str, letter: str) -> bytes:
    return _pixels(_font(path, 24, alone=True).getmask(letter)).tobytes()


@lru_cache(maxsize=20_000)
def _advance(path: str, text: str) -> float:
    return _font(path, LARGE).getlength(text) / LARGE


@lru_cache(maxsize=20_000)
def _ink(path: str, text: str) -> tuple[float, float, float, float]:
    """Of a long text from its letters, each drawn once; those that change with their neighbours are drawn together."""
    if len(text) < LONG or any("\u0590" <= letter <= "\u08ff" for letter in text):
        left, top, right, bottom = _edges(_font(path, MEASURED), text)
        return left / MEASURED, top / MEASURED, right / MEASURED, bottom / MEASURED
    letters = [_ink(path, letter) for letter in set(text) if letter != " "]
    inked = [(top, bottom) for left, top, right, bottom in letters if right > left]
    if not inked:
        return 0.0, 0.0, 0.0, 0.0
    right = _advance(path, text) - _advance(path, text[-1]) + _ink(path, text[-1])[2]
    return _ink(path, text[0])[0], min(top for top, _ in inked), right, max(bottom for _, bottom in inked)


def _edges(font: ImageFont.FreeTypeFont, text: str) -> tuple[float, float, float, float]:
    mask, (across, down) = font.getmask2(text, mode="L", anchor="ls")
    left, top, right, bottom = mask.getbbox() or (0, 0, 0, 0)
    return left + across, top + down, right + across, bottom + down


def _draw(path: str, text: str, size: float, spacing: float, phase: float) -> NDArray[np.float32]:
    if not spacing:
        return _place(path, text, size, 1.0)(phase)[0]
    font = _font(path, size * FINE)
    left, top, right, bottom = _edges(font, text)
    left, right = left + phase * FINE, right + phase * FINE + spacing * FINE * max(len(text) - 1, 0)
    start = left // FINE * FINE
    width = -(-int(right - start) // FINE) * FINE
    # The baseline is on a whole pixel in a browser: the fraction above it stays as it is.
    up = -(-int(-top) // FINE) * FINE
    height = up + -(-int(max(bottom, 0)) // FINE) * FINE
    image = Image.new("L", (max(width, FINE), max(height, FINE)), 0)
    pen = ImageDraw.Draw(image)
    for number, letter in enumerate(text):
        place = font.getlength(text[: number + 1]) - font.getlength(letter) + number * spacing * FINE
        pen.text((place + phase * FINE - start, up), letter, fill=255, font=font, anchor="ls")
    return np.asarray(image.reduce(FINE), np.float32) / np.float32(255)


def _pixels(mask: Any) -> NDArray[np.uint8]:
    """A drawn mask as numbers: by way of a picture, since reading it point by point takes far longer."""
    image = Image.new("L", mask.size)
    image.im.paste(mask, (0, 0, *mask.size))
    return np.asarray(image)


def _mark(path: str, text: str, size: float) -> Mark:
    mask, (across, down) = _font(path, size * FINE, alone=len(text) == 1).getmask2(text, mode="L", anchor="ls")
    left, _, right, _ = mask.getbbox() or (0, 0, FINE, 0)
    return Mark(mask, int(across), int(down), (int(across) + left, int(across) + right))


def _place(
    path: str, text: str, size: float, stretch: float
) -> Callable[[float], tuple[NDArray[np.float32], int, int]]:
    mask, (across, down) = _font(path, size * FINE).getmask2(text, mode="L", anchor="ls")
    width, height = mask.size
    fine = _pixels(mask) if width and height else np.zeros((1, 1), np.uint8)
    if stretch != 1 and height:
        image = Image.fromarray(fine).resize(
            (max(width, 1), max(round(height * stretch), 1)), Image.Resampling.BILINEAR
        )
        fine, down = np.asarray(image), round(down * stretch)
    rows, columns = np.flatnonzero(fine.any(axis=1)), np.flatnonzero(fine.any(axis=0))
    if not len(rows):
        return lambda _phase: (np.zeros((1, 1), np.float32), 0, 1)
    fine = fine[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    left, top = int(across) + int(columns[0]), int(down) + int(rows[0])

    def at(phase: float) -> tuple[NDArray[np.float32], int, int]:
        start, above = left + round(phase * FINE), -top
        column, row = start // FINE, -(-above // FINE)
        before, over = start - column * FINE, row * FINE - above
        wide, high = -(-(before + fine.shape[1]) // FINE), -(-(over + fine.shape[0]) // FINE)
        canvas = np.zeros((high * FINE, wide * FINE), np.float32)
        canvas[over : over + fine.shape[0], before : before + fine.shape[1]] = fine
        return canvas.reshape(high, FINE, wide, FINE).mean(axis=(1, 3)) / 255, column, row

    return at


_letter = lru_cache(maxsize=600)(_place)
