"""The colours of a page, so that what is drawn for it looks as if it belonged there."""

import colorsys
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from PIL import Image

from weft.studio.imaging.raster import flat, pixels_of, within
from weft.studio.input.faults import BadInput

Colour = tuple[int, int, int]

_HEX = re.compile(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
_STYLED = (".css", ".html", ".htm", ".jsx", ".tsx", ".svg", ".vue")
_SIDE = 160
_TONES = 24
_DIFFERENT = 60
_LIVELY = 0.25
_MOST_TEXT = 200_000


class Palette(msgspec.Struct, frozen=True):
    """The page's ground, and colours that stand out from it, the most used first."""

    ground: Colour = (245, 246, 248)
    accents: tuple[Colour, ...] = ((79, 110, 170), (224, 154, 92), (98, 152, 130))

    @property
    def is_dark(self) -> bool:
        return light_of(self.ground) < 0.4


def palette_of(pictures: Sequence[bytes], files: Mapping[str, bytes]) -> Palette:
    """From the picture of the page, else from its styles, else one of our own."""
    for data in pictures:
        try:
            return _of_weights(_in_picture(pixels_of(data)))
        except BadInput:
            continue
    found = _of_weights(_in_styles(files))
    return found if found.accents else Palette(found.ground)


def light_of(colour: Colour) -> float:
    """From 0 for black to 1 for white, as bright as it looks."""
    red, green, blue = colour
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """So much of the other colour in the one."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _in_picture(picture: Image.Image) -> Iterable[tuple[Colour, float]]:
    small = flat(within(picture, _SIDE))
    tones = small.quantize(_TONES, method=Image.Quantize.MEDIANCUT)
    table = tones.getpalette() or []
    counts = tones.histogram()
    whole = small.width * small.height
    for number in range(min(_TONES, len(table) // 3)):
        red, green, blue = table[3 * number : 3 * number + 3]
        if counts[number]:
            yield (red, green, blue), counts[number] / whole


def _in_styles(files: Mapping[str, bytes]) -> Iterable[tuple[Colour, float]]:
    counted: Counter[Colour] = Counter()
    for path, data in files.items():
        if not path.lower().endswith(_STYLED):
            continue
        for found in _HEX.finditer(data[:_MOST_TEXT].decode("utf-8", "replace")):
            digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
            counted[(int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16))] += 1
    total = sum(counted.values())
    return [(colour, count / total) for colour, count in counted.items()]


def _of_weights(weights: Iterable[tuple[Colour, float]]) -> Palette:
    ordered = sorted(weights, key=lambda entry: (-entry[1], entry[0]))
    if not ordered:
        return Palette(accents=())
    ground = ordered[0][0]
    lively = sorted(ordered, key=lambda entry: (-_liveliness(entry[0]) * (entry[1] + 0.02), entry[0]))
    accents: list[Colour] = []
    for colour, _ in lively:
        if _liveliness(colour) < _LIVELY or len(accents) == 4:
            break
        if all(_distance(colour, other) > _DIFFERENT for other in (ground, *accents)):
            accents.append(colour)
    if not accents:
        accents = [colour for colour, _ in ordered[1:4] if _distance(colour, ground) > _DIFFERENT]
    return Palette(ground, tuple(accents))


def _liveliness(colour: Colour) -> float:
    _, light, saturation = colorsys.rgb_to_hls(*(channel / 255 for channel in colour))
    return saturation * (1 - abs(2 * light - 1))


def _distance(one: Colour, other: Colour) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))
