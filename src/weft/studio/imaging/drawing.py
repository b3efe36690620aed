"""A stand-in for a picture, drawn here: the right size, the page's colours, the subject as a motif and in words.

It says of itself that it is a placeholder. The same words, size and palette always give the same drawing.
"""

import re
from hashlib import sha256
from random import Random

from PIL import Image, ImageDraw

from weft.studio.imaging.lettering import font_for, words_in
from weft.studio.imaging.motifs import MOTIFS, Motif, abstract
from weft.studio.imaging.painter import Wanted
from weft.studio.imaging.palette import Palette, light_of, mixed

LABEL = "placeholder"

_FINE = 2
_WORDS = re.compile(r"[a-z]+")
_FEW = 90
"""Pixels: smaller ones have no room for words."""


def drawing_of(wanted: Wanted, palette: Palette) -> Image.Image:
    """The placeholder. Takes some ten milliseconds."""
    width, height = wanted.width * _FINE, wanted.height * _FINE
    random = Random(sha256(wanted.prompt.encode()).digest())
    main, second = _pair(palette, random)
    motif, seated = motif_for(wanted.prompt)
    if wanted.transparent:
        picture = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    else:
        top, bottom = mixed(main, palette.ground, 0.55), mixed(second, palette.ground, 0.35)
        picture = _graded(width, height, top, bottom)
    room = has_words(wanted)
    motif(ImageDraw.Draw(picture), _place(width, height, seated, room), main, second, random)
    small = picture.resize((wanted.width, wanted.height), Image.Resampling.LANCZOS)
    if room:
        _caption(small, wanted.prompt, main)
    return small


def has_words(wanted: Wanted) -> bool:
    """Whether there is room for the subject in words."""
    return not wanted.transparent and wanted.width >= _FEW and wanted.height >= _FEW * 2 // 3


def motif_for(prompt: str) -> tuple[Motif, bool]:
    """The motif that the words call for, and whether it stands alone in the middle; an abstract one for any others."""
    words = _WORDS.findall(prompt.lower())
    for word in words:
        for names, motif, seated in MOTIFS:
            if word in names or word.rstrip("s") in names:
                return motif, seated
    return abstract, False


def _pair(palette: Palette, random: Random) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    accents = list(palette.accents) or list(Palette().accents)
    main = accents[random.randrange(min(2, len(accents)))]
    others = [accent for accent in accents if accent != main]
    return main, others[random.randrange(len(others))] if others else mixed(main, (255, 255, 255), 0.45)


def _place(width: int, height: int, seated: bool, room: bool) -> tuple[float, float, float, float]:
    """Where the motif is drawn: all over, or as a square in the middle, above the words if there are any."""
    if not seated:
        return 0, 0, width, height
    free = height * (0.8 if room else 1.0)
    side = min(width, free) * (0.78 if room else 0.86)
    left, top = (width - side) / 2, (free - side) / 2
    return left, top, left + side, top + side


def _graded(width: int, height: int, top: tuple[int, int, int], bottom: tuple[int, int, int]) -> Image.Image:
    column = Image.new("RGB", (1, 256))
    column.putdata([mixed(top, bottom, step / 255) for step in range(256)])
    return column.resize((width, height), Image.Resampling.BILINEAR)


def _caption(picture: Image.Image, prompt: str, main: tuple[int, int, int]) -> None:
    width, height = picture.size
    size = max(10, min(26, round(min(width / 18, height / 9))))
    font = font_for(prompt, size)
    said = words_in(prompt, font, width - 2 * size)
    small = font_for(LABEL, max(8, round(size * 0.62)))
    band = round(size * 2.5) if said else round(size * 1.5)
    dark = mixed(main, (0, 0, 0), 0.62)
    shade = Image.new("RGBA", (width, band), (*dark, 205))
    picture.paste(shade, (0, height - band), shade)
    ink = (255, 255, 255) if light_of(dark) < 0.6 else (20, 20, 20)
    pen = ImageDraw.Draw(picture)
    middle = width / 2
    if said:
        pen.text((middle, height - band + size * 0.95), said, font=font, fill=ink, anchor="mm")
    pen.text((middle, height - size * 0.62), LABEL, font=small, fill=mixed(ink, dark, 0.3), anchor="mm")
