"""The pictures that are compared, and their text: read, joined from lines to blocks with their colours, and the places
that look like text but were not read."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from io import BytesIO
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt
from threading import Lock

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.core.errors import WeftError
from weft.studio.browser.page import MAX_PIXELS, Rendering, TextBlock
from weft.vision.elements import ModelsMissing, Rect, VisionError
from weft.vision.see.regions import rgb_parts

Pixels = NDArray[np.uint8]
"""Height × width × red, green, blue."""
LEAST_HEIGHT, MOST_HEIGHT = 8.0, 96.0
LEAST_WIDTH = 1.7  # of a place, in heights: a narrower one may be an icon
LEAST_REST = 1.6  # of what is left beside the lines on it, in heights: less is the margin of a line


class PictureError(WeftError):
    """A picture cannot be compared; the message is the reason."""


class PageImage(msgspec.Struct, frozen=True):
    """A PNG, JPEG or WebP and its text in pixels of the picture; None if the text has not been read yet.

    A text without letters is a place that looks like text and could not be read.
    """

    image: bytes
    texts: tuple[TextBlock, ...] | None = None

    @classmethod
    def of(cls, rendering: Rendering) -> "PageImage":
        """Create it from a rendered page, with the text of the document."""
        return cls(rendering.picture, rendering.texts)


def decode_pixels(image: bytes) -> Pixels:
    """Decode a picture of at most 40 megapixels; transparent parts become white."""
    try:
        with Image.open(BytesIO(image), formats=("PNG", "JPEG", "WEBP", "GIF")) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise PictureError(
                    f"The picture has {opened.width} × {opened.height} pixels; "
                    f"at most {MAX_PIXELS // 1_000_000} megapixels can be compared."
                )
            if opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info:
                solid = opened.convert("RGBA")
                white = Image.new("RGBA", solid.size, "white")
                return np.asarray(Image.alpha_composite(white, solid).convert("RGB"))
            return np.asarray(opened.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise PictureError("The picture could not be read; give a PNG, JPEG, WebP or GIF.") from None


def resize_to_width(pixels: Pixels, width: int) -> Pixels:
    """Scale the picture to a width and keep its proportions."""
    if pixels.shape[1] == width:
        return pixels
    height = max(1, round(pixels.shape[0] * width / pixels.shape[1]))
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BOX))


def encode_png(pixels: Pixels) -> bytes:
    out = BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=3)
    return out.getvalue()


NO_READER = "Reading text from a picture needs the extra local; install it with: pip install 'weft[local]'."
SKETCHED = "The picture is a sketch, which a page does not look like; look at the page instead."

_one_at_a_time = Lock()


def read_text(image: bytes) -> tuple[TextBlock, ...]:
    """Read the lines of text in a picture, in its own pixels. The first call takes some seconds.

    The local converter uses the same reader and cache. A place that looks like text and that no line explains is a
    block with an empty text, so that the reader does not hide what it cannot read.
    """
    from weft.vision.see.detect import detect_elements  # a server starts without the detection

    try:
        with _one_at_a_time:
            detection = detect_elements(image)
    except ModelsMissing:
        raise PictureError(NO_READER) from None
    except VisionError as error:
        raise PictureError(str(error)) from None
    if detection.drawn:
        raise PictureError(SKETCHED)
    lines = [line for text in detection.texts for line in text.lines]
    unread = find_unread(detection.text_places, [line.rect for line in lines])
    found = [_block(line.text, line.rect, detection.ratio, rgb_parts(line.style.colour)) for line in lines]
    found += [_block("", place, detection.ratio) for place in unread]
    return tuple(sorted(found, key=lambda line: (line.y, line.x)))


def _block(text: str, rect: Rect, scale: int, colour: tuple[int, int, int] | None = None) -> TextBlock:
    return TextBlock(text, rect.x * scale, rect.y * scale, rect.w * scale, rect.h * scale, colour)


def find_unread(places: Sequence[Rect], lines: Sequence[Rect]) -> list[Rect]:
    """Return the parts of places that no line covers. Places may overlap each other; the parts do not."""
    found: list[Rect] = []
    for place in sorted(places, key=lambda each: -each.area):
        if not LEAST_HEIGHT <= place.h <= MOST_HEIGHT or place.w < LEAST_WIDTH * place.h:
            continue
        level = [line for line in (*lines, *found) if _are_level(place, line)]
        found += _parts_beside(place, level)
    return sorted(found, key=lambda each: (each.y, each.x))


def _are_level(place: Rect, line: Rect) -> bool:
    common = min(place.bottom, line.bottom) - max(place.y, line.y)
    return common > 0.4 * min(place.h, line.h) and line.x < place.right and line.right > place.x


def _parts_beside(place: Rect, lines: Sequence[Rect]) -> Iterator[Rect]:
    end = place.x
    for left, right in (*sorted((line.x, line.right) for line in lines), (place.right, place.right)):
        if left - end > max(LEAST_REST * place.h, 0.2 * place.w if lines else 0.0):
            yield Rect(end, place.y, left - end, place.h)
        end = max(end, right)


# --- blocks ----------------------------------------------------------------------------------------------------------


Colour = tuple[int, int, int]

_WHITE = (0.95047, 1.0, 1.08883)
_25_7 = 25.0**7


def lab(colour: Colour) -> tuple[float, float, float]:
    """Convert an sRGB colour to CIELAB (D65)."""
    red, green, blue = (_linear(part / 255) for part in colour)
    xyz = (
        0.4124564 * red + 0.3575761 * green + 0.1804375 * blue,
        0.2126729 * red + 0.7151522 * green + 0.0721750 * blue,
        0.0193339 * red + 0.1191920 * green + 0.9503041 * blue,
    )
    x, y, z = (_cube_root(part / white) for part, white in zip(xyz, _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def colour_distance(one: Colour, other: Colour) -> float:
    """Return the CIEDE2000 distance: 0 for equal colours, about 2 for a visible difference, 100 from black to white."""
    return 0.0 if one == other else delta_e(lab(one), lab(other))


def delta_e(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return CIEDE2000 of two colours in CIELAB, after Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (hypot(a1, b1) + hypot(a2, b2)) / 2
    g = 0.5 * (1 - sqrt(chroma**7 / (chroma**7 + _25_7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    dl, dc = l2 - l1, c2 - c1
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    if c1 * c2 and turn == -180 and h2 > h1:
        turn = 180.0
    dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    mean_h = _mean_hue(h1, h2) if c1 * c2 else h1 + h2
    t = (
        1
        - 0.17 * cos(radians(mean_h - 30))
        + 0.24 * cos(radians(2 * mean_h))
        + 0.32 * cos(radians(3 * mean_h + 6))
        - 0.20 * cos(radians(4 * mean_h - 63))
    )
    sl = 1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)
    sc, sh = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    spread = 30 * exp(-(((mean_h - 275) / 25) ** 2))
    rotation = -2 * sqrt(mean_c**7 / (mean_c**7 + _25_7)) * sin(radians(2 * spread))
    return sqrt(max(0.0, (dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rotation * (dc / sc) * (dh / sh)))


def css_colour(colour: Colour) -> str:
    """Format a colour for CSS."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _cube_root(part: float) -> float:
    return part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116


def _mean_hue(one: float, other: float) -> float:
    if abs(one - other) <= 180:
        return (one + other) / 2
    return (one + other + 360) / 2 if one + other < 360 else (one + other - 360) / 2


LIKENESS = 0.5
"""Texts with a lower similarity count as unrelated."""

_MAX_LENGTH = 2_000
_SPACE = re.compile(r"\s+")


def normalise_text(text: str) -> str:
    """Normalise a text for comparison: fold compatibility forms, collapse spaces."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()[:_MAX_LENGTH]


@lru_cache(maxsize=200_000)
def text_similarity(one: str, other: str) -> float:
    """Return the Ratcliff-Obershelp similarity, from 0 to 1; 0 for any pair below LIKENESS. The order does not matter.

    Cheaper bounds (lengths, characters, longest common subsequence) reject most pairs first.
    """
    if one == other:
        return 1.0
    total = len(one) + len(other)
    least = LIKENESS * total / 2
    if min(len(one), len(other)) < least or _common_char_count(one, other) < least:
        return 0.0
    if _common_subsequence(one, other) < least:
        return 0.0
    first, second = sorted((one, other))
    found = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return found if found >= LIKENESS else 0.0


@lru_cache(maxsize=10_000)
def _char_counts(text: str) -> Counter[str]:
    return Counter(text)


def _common_char_count(one: str, other: str) -> int:
    mine, yours = _char_counts(one), _char_counts(other)
    return sum(min(count, yours.get(char, 0)) for char, count in mine.items())


def _common_subsequence(one: str, other: str) -> int:
    """Return the length of the longest common subsequence, with a row of the table in the bits of a number."""
    places: dict[str, int] = {}
    for index, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << index
    every = (1 << len(one)) - 1
    row = every
    for char in other:
        hits = row & places.get(char, 0)
        row = ((row + hits) | (row - hits)) & every
    return len(one) - row.bit_count()


_RING = 3
"""Pixels around a text that show its background."""


class Block(msgspec.Struct, frozen=True):
    """A text and its place in the picture, in pixels."""

    text: str
    x: float
    y: float
    w: float
    h: float
    colour: Colour
    lines: int = 1

    @property
    def area(self) -> float:
        return self.w * self.h

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    @property
    def box(self) -> tuple[int, int, int, int]:
        return round(self.x), round(self.y), round(self.w), round(self.h)


def find_blocks(texts: Sequence[TextBlock], pixels: Pixels) -> list[Block]:
    """Return the blocks of a picture in reading order, without invisible text."""
    lines: list[Block] = []
    for text in texts:
        words = normalise_text(text.text)
        area = _covered_pixels(text, pixels)
        if words and area is not None and (colour := _visible_colour(text, area)) is not None:
            lines.append(Block(words, text.x, text.y, text.w, text.h, colour))
    return _join_paragraphs(sorted(lines, key=lambda line: (line.y, line.x)))


def join_blocks(first: Block, second: Block) -> Block:
    """Join two blocks: the texts in order, the box around both, the colour of the longer text."""
    x, y = min(first.x, second.x), min(first.y, second.y)
    right, bottom = max(first.x + first.w, second.x + second.w), max(first.y + first.h, second.y + second.h)
    colour = first.colour if len(first.text) >= len(second.text) else second.colour
    return Block(f"{first.text} {second.text}", x, y, right - x, bottom - y, colour, lines=first.lines + second.lines)


def background_colour(pixels: Pixels, x: int, y: int, w: int, h: int) -> Colour:
    """Return the background colour of a box: the median of the pixels around it."""
    top, left = max(0, y - _RING), max(0, x - _RING)
    around = pixels[top : y + h + _RING, left : x + w + _RING]
    inner = (slice(y - top, y - top + h), slice(x - left, x - left + w))
    ring = np.ones(around.shape[:2], bool)
    ring[inner] = False
    found = around[ring] if ring.any() else around.reshape(-1, 3)
    red, green, blue = np.median(found, axis=0)
    return int(red), int(green), int(blue)


def _covered_pixels(text: TextBlock, pixels: Pixels) -> Pixels | None:
    """Return the pixels that a text covers, None if it lies outside."""
    height, width = pixels.shape[:2]
    left, top = max(0, int(text.x)), max(0, int(text.y))
    right, bottom = min(width, round(text.x + text.w)), min(height, round(text.y + text.h))
    return pixels[top:bottom, left:right] if right > left and bottom > top else None


def _visible_colour(text: TextBlock, area: Pixels) -> Colour | None:
    """Return the colour of a text, measured in the picture if it is unknown. None if the text is invisible."""
    flat = area.reshape(-1, 3).astype(np.int16)
    low, high = flat.min(axis=0), flat.max(axis=0)
    if int((high - low).max()) < 8:
        return None
    if text.colour is not None:
        return text.colour
    ground = np.median(flat, axis=0)
    away = np.abs(flat - ground).sum(axis=1)
    ink = flat[away >= 0.95 * np.quantile(away, 0.995)]
    red, green, blue = np.median(ink, axis=0)
    return int(red), int(green), int(blue)


def _join_paragraphs(lines: list[Block]) -> list[Block]:
    open_ones: list[list[Block]] = []
    for line in lines:
        for paragraph in reversed(open_ones):
            if _continues_paragraph(paragraph, line):
                paragraph.append(line)
                break
        else:
            open_ones.append([line])
    found: list[Block] = []
    for paragraph in open_ones:
        whole = paragraph[0]
        for line in paragraph[1:]:
            whole = join_blocks(whole, line)
        found.append(whole)
    return sorted(found, key=lambda block: (block.y, block.x))


def _continues_paragraph(paragraph: list[Block], line: Block) -> bool:
    """Whether the line continues a paragraph: same style, right below, and too wide for the line before."""
    last = paragraph[-1]
    size = last.h
    if abs(line.h - size) > 0.2 * size or colour_distance(line.colour, last.colour) > 12:
        return False
    gap = line.y - (last.y + last.h)
    if not -0.5 * size < gap < 0.6 * size or line.y - last.y < 0.5 * size:
        return False
    lefts, middles, rights = (
        line.x - last.x,
        line.x + line.w / 2 - last.x - last.w / 2,
        line.x + line.w - last.x - last.w,
    )
    if min(abs(lefts), abs(middles), abs(rights)) > 0.35 * size:
        return False
    widest = max(one.w for one in (*paragraph, line))
    return widest - last.w < _first_word_width(line) + 0.1 * size


def _first_word_width(line: Block) -> float:
    """Return the width of the first word and the space before it."""
    word = line.text.partition(" ")[0]
    count = 1 if word and ord(word[0]) >= 0x2E80 else len(word) + 1  # scripts from 0x2E80 break anywhere
    return count * line.w / len(line.text)
