"""Decodes a screenshot and finds out its pixel ratio."""

import io
import warnings
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from heald_local.see.pixel_units import LEVELS
from heald_local.see.rank_filters import median_of_nine
from heald_pictures.errors import PictureTooLarge, UnreadablePicture
from heald_pictures.regions import Pixels
from heald_pictures.screen_scale import pixel_ratio, reduction

MILLION = 1_000_000
MOST_PIXELS = 40 * MILLION
MOST_BYTES = 50 * MILLION
LEAST_SIDE = 8  # pixels
NOISY = 0.5  # the part of neighbours below which a picture has loss
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
LONGEST = 24_000  # the longest side of a page, in its own pixels


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A screenshot at one pixel for each CSS pixel, and at its own resolution."""

    pixels: Pixels
    fine: Pixels  # as it came: `ratio` times the width and height
    ratio: int
    lossy: bool  # JPEG or the like: flat colours are not quite flat


def load_screenshot(data: bytes, scale: int = 0) -> Screenshot:
    """Decode a picture with `scale` pixels for each CSS pixel, or as many as it shows. Raises VisionError."""
    if len(data) > MOST_BYTES:
        raise PictureTooLarge(f"The picture has {len(data):,} bytes; use one of at most {MOST_BYTES:,}.")
    fine, kind = _decode(data)
    lossy = kind == "JPEG" or (kind == "WEBP" and _is_noisy(fine))
    fine, ratio = _reduce(fine, scale)
    pixels = fine if ratio == 1 else np.asarray(Image.fromarray(fine).reduce(ratio))
    if lossy:
        pixels = median_of_nine(pixels)
    return Screenshot(pixels, fine, ratio, lossy)


def as_screenshot(pixels: Pixels) -> Screenshot:
    """Return the straightened photograph of a screen as a screenshot with loss."""
    return Screenshot(median_of_nine(pixels), pixels, 1, True)


def _reduce(fine: Pixels, scale: int) -> tuple[Pixels, int]:
    """Find the ratio if it is not known, and reduce a picture that is larger than anything on it needs."""
    ratio = scale or pixel_ratio(fine)
    if min(fine.shape[:2]) < LEAST_SIDE * ratio:
        raise UnreadablePicture(f"The picture is too small for {ratio} pixels for each CSS pixel; use a smaller scale.")
    factor = reduction(fine.shape[1] * fine.shape[0], ratio)
    if factor > 1:
        fine, ratio = np.asarray(Image.fromarray(fine).reduce(factor)), ratio // factor
    height, width = fine.shape[0] // ratio * ratio, fine.shape[1] // ratio * ratio
    return fine[:height, :width], ratio


def _decode(data: bytes) -> tuple[Pixels, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError:
        raise PictureTooLarge(
            f"The picture has far more than the {MOST_PIXELS // MILLION} million pixels allowed; use a smaller one."
        ) from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        raise UnreadablePicture(
            "The bytes are not a picture that can be read; use a whole PNG, JPEG, WebP, GIF or BMP file."
        ) from None
    width, height = image.size
    if width * height > MOST_PIXELS or max(width, height) > LONGEST:
        raise PictureTooLarge(
            f"The picture is {width} x {height} pixels; use one of at most {MOST_PIXELS // MILLION} million "
            f"and {LONGEST:,} on its longer side."
        )
    if min(width, height) < LEAST_SIDE:
        raise UnreadablePicture(
            f"The picture is {width} x {height} pixels, too small to hold a page; use a larger one."
        )
    kind = image.format or ""
    try:
        image.seek(0)
        image.load()
        turned = ImageOps.exif_transpose(image)
        return np.asarray(_on_white(turned)), kind
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError):
        raise UnreadablePicture("The picture is damaged and cannot be decoded; save it or make a new one.") from None


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        image = image.point(lambda value: value / LEVELS).convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        with_alpha = image.convert("RGBA")
        white = Image.new("RGBA", with_alpha.size, "white")
        return Image.alpha_composite(white, with_alpha).convert("RGB")
    return image.convert("RGB")


def _is_noisy(pixels: Pixels) -> bool:
    """Whether few neighbours are exactly equal, unlike in a screenshot."""
    equal = (pixels[:, 1:] == pixels[:, :-1]).all(axis=2)
    return float(equal.mean()) < NOISY
