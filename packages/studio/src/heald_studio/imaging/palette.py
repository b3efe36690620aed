"""The palette of a page: the colours of its target pictures and of its styles."""

import colorsys
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from PIL import Image

from heald_studio.bad_input import BadInput
from heald_studio.imaging.raster import decode_picture, flatten, shrink_to_fit

Colour = tuple[int, int, int]

_HEX = re.compile(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
_STYLED = (".css", ".html", ".htm", ".jsx", ".tsx", ".svg", ".vue", ".svelte", ".astro")
_SIDE = 160
_TONES = 24
_DIFFERENT = 60
_VIVID = 0.25
_MOST_TEXT = 200_000


class Palette(msgspec.Struct, frozen=True):
    """The background colour of a page, and the colours that stand out from it, the most used first."""

    ground: Colour = (245, 246, 248)
    accents: tuple[Colour, ...] = ((79, 110, 170), (224, 154, 92), (98, 152, 130))


def extract_palette(pictures: Sequence[bytes], files: Mapping[str, bytes]) -> Palette:
    """Extract a palette from a picture of the page, else from its styles, else use the default."""
    for data in pictures:
        try:
            return _choose_palette(_picture_colours(decode_picture(data)))
        except BadInput:
            continue
    palette = _choose_palette(_style_colours(files))
    return palette if palette.accents else Palette(palette.ground)


def brightness(colour: Colour) -> float:
    """Return the perceived brightness, from 0 for black to 1 for white."""
    red, green, blue = colour
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def mix_colours(colour: Colour, other: Colour, share: float) -> Colour:
    """Mix two colours; `share` is the part of the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return red, green, blue


def _picture_colours(picture: Image.Image) -> Iterable[tuple[Colour, float]]:
    small = flatten(shrink_to_fit(picture, _SIDE))
    tones = small.quantize(_TONES, method=Image.Quantize.MEDIANCUT)
    table = tones.getpalette() or []
    counts = tones.histogram()
    whole = small.width * small.height
    for number in range(min(_TONES, len(table) // 3)):
        red, green, blue = table[3 * number : 3 * number + 3]
        if counts[number]:
            yield (red, green, blue), counts[number] / whole


def _style_colours(files: Mapping[str, bytes]) -> Iterable[tuple[Colour, float]]:
    counted: Counter[Colour] = Counter()
    for path, data in files.items():
        if not path.lower().endswith(_STYLED):
            continue
        for match in _HEX.finditer(data[:_MOST_TEXT].decode("utf-8", "replace")):
            digits = match[1] if len(match[1]) == 6 else "".join(digit * 2 for digit in match[1])
            counted[(int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16))] += 1
    total = sum(counted.values())
    return [(colour, count / total) for colour, count in counted.items()]


def _choose_palette(weights: Iterable[tuple[Colour, float]]) -> Palette:
    ordered = sorted(weights, key=lambda entry: (-entry[1], entry[0]))
    if not ordered:
        return Palette(accents=())
    ground = ordered[0][0]
    vivid = sorted(ordered, key=lambda entry: (-_vividness(entry[0]) * (entry[1] + 0.02), entry[0]))
    accents: list[Colour] = []
    for colour, _ in vivid:
        if _vividness(colour) < _VIVID or len(accents) == 4:
            break
        if all(_distance(colour, other) > _DIFFERENT for other in (ground, *accents)):
            accents.append(colour)
    if not accents:
        accents = [colour for colour, _ in ordered[1:4] if _distance(colour, ground) > _DIFFERENT]
    return Palette(ground, tuple(accents))


def _vividness(colour: Colour) -> float:
    _, light, saturation = colorsys.rgb_to_hls(*(channel / 255 for channel in colour))
    return saturation * (1 - abs(2 * light - 1))


def _distance(colour: Colour, other: Colour) -> int:
    return sum(abs(a - b) for a, b in zip(colour, other, strict=True))
