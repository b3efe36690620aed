"""A picture of a page with its text, and its pixels."""

from io import BytesIO

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald.core.errors import HealdError
from heald_studio.browser.page import MAX_PIXELS, Rendering, TextBlock

Pixels = NDArray[np.uint8]
"""Height × width × red, green, blue."""


class PictureError(HealdError):
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
