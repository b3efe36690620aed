"""Reads, writes and scales pictures, and extracts the colours of a page."""

import colorsys
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from weft.studio.input.pictures import open_picture
from weft.studio.request import BadInput

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
"""The suffixes of the files that can be written."""
MAX_SIDE = 2_048
"""The longest side of a picture that is made locally."""


def decode_picture(data: bytes, name: str = "The picture") -> Image.Image:
    """Decode a picture, upright, as RGB or RGBA. Raises BadInput with a sentence about `name`."""
    with open_picture(data, name) as found:
        upright = ImageOps.exif_transpose(found)
        clear = upright.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in upright.info
        return upright.convert("RGBA" if clear else "RGB")


def encode_picture(picture: Image.Image, path: str, description: str = "") -> bytes:
    """Encode the picture by the suffix of `path`, PNG by default, with `description` as its description."""
    out = io.BytesIO()
    match PurePosixPath(path).suffix.lower():
        case ".jpg" | ".jpeg":
            flatten(picture).save(out, "JPEG", quality=90, comment=description.encode()[:2_000])
        case ".webp":
            picture.save(out, "WEBP", quality=90, exif=_exif(description))
        case _:
            _png(picture, out, description)
    return out.getvalue()


def encode_png(picture: Image.Image) -> bytes:
    return encode_picture(picture, "x.png")


def flatten(picture: Image.Image) -> Image.Image:
    """Put the picture on white."""
    if picture.mode != "RGBA":
        return picture.convert("RGB")
    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def resize_to_cover(picture: Image.Image, width: int, height: int) -> Image.Image:
    """Scale the picture until it covers the size, and crop the rest evenly."""
    if picture.size == (width, height):
        return picture
    return ImageOps.fit(picture, (width, height), Image.Resampling.LANCZOS)


def shrink_to_fit(picture: Image.Image, side: int) -> Image.Image:
    """Shrink the picture if one of its sides is longer than `side`."""
    if max(picture.size) <= side:
        return picture
    smaller = picture.copy()
    smaller.thumbnail((side, side), Image.Resampling.LANCZOS)
    return smaller


def _png(picture: Image.Image, out: io.BytesIO, description: str) -> None:
    info = PngInfo()
    if description:
        info.add_itxt("Description", description)
    bare = Image.new(picture.mode, picture.size)
    bare.paste(picture)
    bare.save(out, "PNG", pnginfo=info, compress_level=6)


def _exif(description: str) -> Any:
    exif = Image.Exif()
    if description:
        exif[0x010E] = description.encode("ascii", "replace").decode()  # ImageDescription, which is ASCII in Exif
    return exif


Colour = tuple[int, int, int]

_HEX = re.compile(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
_STYLED = (".css", ".html", ".htm", ".jsx", ".tsx", ".svg", ".vue")
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
    found = _choose_palette(_style_colours(files))
    return found if found.accents else Palette(found.ground)


def brightness(colour: Colour) -> float:
    """Return the perceived brightness, from 0 for black to 1 for white."""
    red, green, blue = colour
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def mix_colours(one: Colour, other: Colour, share: float) -> Colour:
    """Mix two colours; `share` is the part of the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
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
        for found in _HEX.finditer(data[:_MOST_TEXT].decode("utf-8", "replace")):
            digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
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


def _distance(one: Colour, other: Colour) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))
