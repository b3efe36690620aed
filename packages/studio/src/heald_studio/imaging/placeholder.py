"""Draws a placeholder for a picture: the requested size, the colours of the page, a motif and the subject in words."""

import re
from hashlib import sha256
from random import Random

from PIL import Image, ImageDraw

from heald_studio.imaging.caption_font import find_font, fit_text
from heald_studio.imaging.motifs import MOTIFS, Motif, abstract
from heald_studio.imaging.palette import Palette, brightness, mix_colours
from heald_studio.imaging.provider import ImageRequest

LABEL = "placeholder"

_FINE = 2
_WORDS = re.compile(r"[a-z]+")
_FEW = 90
"""Pictures with a smaller side have no room for a caption."""


def draw_placeholder(request: ImageRequest, palette: Palette) -> Image.Image:
    """Draw the placeholder. The same request and palette always give the same picture."""
    width, height = request.width * _FINE, request.height * _FINE
    random = Random(sha256(request.prompt.encode()).digest())
    main, second = _choose_colours(palette, random)
    motif, seated = choose_motif(request.prompt)
    if request.transparent:
        picture = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    else:
        top, bottom = mix_colours(main, palette.ground, 0.55), mix_colours(second, palette.ground, 0.35)
        picture = _gradient(width, height, top, bottom)
    room = has_caption(request)
    motif(ImageDraw.Draw(picture), _motif_box(width, height, seated, room), main, second, random)
    small = picture.resize((request.width, request.height), Image.Resampling.LANCZOS)
    if room:
        _draw_caption(small, request.prompt, main)
    return small


def has_caption(request: ImageRequest) -> bool:
    """Whether there is room for a caption."""
    return not request.transparent and request.width >= _FEW and request.height >= _FEW * 2 // 3


def choose_motif(prompt: str) -> tuple[Motif, bool]:
    """Return the motif for a prompt, an abstract one by default, and whether it is drawn alone in the middle."""
    words = _WORDS.findall(prompt.lower())
    for word in words:
        for names, motif, seated in MOTIFS:
            if word in names or word.rstrip("s") in names:
                return motif, seated
    return abstract, False


def _choose_colours(palette: Palette, random: Random) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    accents = list(palette.accents) or list(Palette().accents)
    main = accents[random.randrange(min(2, len(accents)))]
    others = [accent for accent in accents if accent != main]
    return main, others[random.randrange(len(others))] if others else mix_colours(main, (255, 255, 255), 0.45)


def _motif_box(width: int, height: int, seated: bool, room: bool) -> tuple[float, float, float, float]:
    """Return the box of the motif: the whole picture, or a square in the middle, above the caption."""
    if not seated:
        return 0, 0, width, height
    free = height * (0.8 if room else 1.0)
    side = min(width, free) * (0.78 if room else 0.86)
    left, top = (width - side) / 2, (free - side) / 2
    return left, top, left + side, top + side


def _gradient(width: int, height: int, top: tuple[int, int, int], bottom: tuple[int, int, int]) -> Image.Image:
    column = Image.new("RGB", (1, 256))
    column.putdata([mix_colours(top, bottom, step / 255) for step in range(256)])
    return column.resize((width, height), Image.Resampling.BILINEAR)


def _draw_caption(picture: Image.Image, prompt: str, main: tuple[int, int, int]) -> None:
    width, height = picture.size
    size = max(10, min(26, round(min(width / 18, height / 9))))
    font = find_font(prompt, size)
    caption = fit_text(prompt, font, width - 2 * size)
    small = find_font(LABEL, max(8, round(size * 0.62)))
    band = round(size * 2.5) if caption else round(size * 1.5)
    dark = mix_colours(main, (0, 0, 0), 0.62)
    shade = Image.new("RGBA", (width, band), (*dark, 205))
    picture.paste(shade, (0, height - band), shade)
    ink = (255, 255, 255) if brightness(dark) < 0.6 else (20, 20, 20)
    pen = ImageDraw.Draw(picture)
    middle = width / 2
    if caption:
        pen.text((middle, height - band + size * 0.95), caption, font=font, fill=ink, anchor="mm")
    pen.text((middle, height - size * 0.62), LABEL, font=small, fill=mix_colours(ink, dark, 0.3), anchor="mm")
