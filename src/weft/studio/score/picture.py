"""The pictures that are compared, the text that is read from them, and the places that look like text but were not
read."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from threading import Lock

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.core.errors import WeftError
from weft.studio.browser.page import MAX_PIXELS, Rendering, TextBlock
from weft.vision.elements import ModelsMissing, Rect, VisionError
from weft.vision.see.detect import detect_elements
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
