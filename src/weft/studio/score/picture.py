"""A picture with the text on it: what is compared."""

from io import BytesIO

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.core.errors import WeftError
from weft.studio.browser.rendering import MAX_PIXELS, Rendering, TextBlock

Pixels = NDArray[np.uint8]
"""Height × width × red, green, blue."""


class PictureError(WeftError):
    """A picture cannot be compared; the sentence says why."""


class Picture(msgspec.Struct, frozen=True):
    """A PNG (or JPEG, WebP) and its text, in pixels of the picture; None if the text is still to be read from it."""

    image: bytes
    texts: tuple[TextBlock, ...] | None = None

    @classmethod
    def of(cls, rendering: Rendering) -> "Picture":
        """A rendered page, with the text that its document has."""
        return cls(rendering.picture, rendering.texts)


def pixels_of(image: bytes) -> Pixels:
    """The picture decoded, at most 40 megapixels; what is transparent stands on white."""
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


def resized(pixels: Pixels, width: int) -> Pixels:
    """The picture at another width, its proportions kept."""
    if pixels.shape[1] == width:
        return pixels
    height = max(1, round(pixels.shape[0] * width / pixels.shape[1]))
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BOX))


def png(pixels: Pixels) -> bytes:
    out = BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=3)
    return out.getvalue()
