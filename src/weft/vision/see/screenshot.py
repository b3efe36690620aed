"""Decodes a screenshot and finds out its pixel ratio."""

import io
import warnings
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from weft.vision.elements import PictureTooLarge, UnreadablePicture
from weft.vision.see.rank_filters import median_of_nine
from weft.vision.see.regions import Pixels, label_islands

MOST_PIXELS = 40_000_000
MOST_BYTES = 50_000_000
LEAST_SIDE = 8
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
LETTER = 7.5  # the least height of most letters on a page, in CSS pixels
LEAST_LETTERS = 24
SAMPLE = 900  # rows that are looked at for letters
LONGEST = 24_000  # the longest side of a page, in its own pixels
WIDEST = 2_560  # the widest page, in CSS pixels: no screen that people use is much wider
RATIOS = (8, 6, 5, 4, 3, 2)
BAND = 4_000_000  # pixels that are looked at for edges: a band of rows of a large picture
LARGE = 12_000_000  # a picture of more pixels is reduced before anything else is done with it


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A screenshot at one pixel for each CSS pixel, and at its own resolution."""

    pixels: Pixels
    fine: Pixels  # as it came: `ratio` times the width and height
    ratio: int
    lossy: bool  # JPEG or the like: flat colours are not quite flat


def load_screenshot(data: bytes) -> Screenshot:
    """Decode a picture. Raises VisionError if it cannot be used."""
    if len(data) > MOST_BYTES:
        raise PictureTooLarge(f"The picture has {len(data):,} bytes; use one of at most {MOST_BYTES:,}.")
    fine, kind = _decode(data)
    lossy = kind == "JPEG" or (kind == "WEBP" and _is_noisy(fine))
    fine, ratio = _reduce(fine)
    pixels = fine if ratio == 1 else np.asarray(Image.fromarray(fine).reduce(ratio))
    if lossy:
        pixels = median_of_nine(pixels)
    return Screenshot(pixels, fine, ratio, lossy)


def as_screenshot(pixels: Pixels) -> Screenshot:
    """Return the straightened photograph of a screen as a screenshot with loss."""
    return Screenshot(median_of_nine(pixels), pixels, 1, True)


def _reduce(fine: Pixels) -> tuple[Pixels, int]:
    """Find the ratio, and reduce a picture that is larger than anything on it needs."""
    ratio = pixel_ratio(fine)
    factor = reduction(fine.shape[1] * fine.shape[0], ratio)
    if factor > 1:
        fine, ratio = np.asarray(Image.fromarray(fine).reduce(factor)), ratio // factor
    height, width = fine.shape[0] // ratio * ratio, fine.shape[1] // ratio * ratio
    return fine[:height, :width], ratio


def reduction(pixels: int, ratio: int) -> int:
    """Return the whole number by which both sides of a large picture can be divided without losing what it shows."""
    if ratio > 3 and ratio % 2 == 0:
        return ratio // 2
    return ratio if ratio > 3 or pixels > LARGE else 1


def _decode(data: bytes) -> tuple[Pixels, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError:
        raise PictureTooLarge(
            f"The picture has far more than the {MOST_PIXELS // 1_000_000} million pixels allowed; use a smaller one."
        ) from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        raise UnreadablePicture(
            "The bytes are not a picture that can be read; use a whole PNG, JPEG, WebP, GIF or BMP file."
        ) from None
    width, height = image.size
    if width * height > MOST_PIXELS or max(width, height) > LONGEST:
        raise PictureTooLarge(
            f"The picture is {width} x {height} pixels; use one of at most {MOST_PIXELS // 1_000_000} million "
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
        raise UnreadablePicture("The picture is damaged and cannot be decoded; save or take it again.") from None


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        image = image.point(lambda value: value / 256).convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        with_alpha = image.convert("RGBA")
        white = Image.new("RGBA", with_alpha.size, "white")
        return Image.alpha_composite(white, with_alpha).convert("RGB")
    return image.convert("RGB")


def pixel_ratio(pixels: Pixels) -> int:
    """Estimate the pixels for each CSS pixel, 1 to 8, by the edges of boxes, else by the height of letters.

    A picture on which neither is found, such as a photograph, is taken for a page of at most `WIDEST` CSS pixels.
    """
    height, width = pixels.shape[:2]
    band = _busiest_band(pixels)
    screens = {ratio: width / ratio for ratio in RATIOS}
    likely = [
        ratio
        for ratio, screen in screens.items()
        if (350 <= screen <= 480 or screen >= 1000) and width % ratio == 0 and height >= 64 * ratio
    ]
    found = next((ratio for ratio in likely if _edges_on_grid(band, ratio)), None)
    if found is None and likely:
        tall = _letter_height(band)
        found = next((ratio for ratio in likely if tall >= LETTER * ratio), None)
    return max(found or 1, -(-width // WIDEST))


def _busiest_band(pixels: Pixels) -> Pixels:
    """Return the rows with the most edges, as many as `BAND` pixels have; all rows of a small picture."""
    height, width = pixels.shape[:2]
    rows = max(BAND // width, SAMPLE)
    if rows >= height:
        return pixels
    sparse = pixels[:, ::4, 1].astype(np.int16)
    busy = np.cumsum((np.abs(np.diff(sparse, axis=1)) > 60).sum(axis=1))
    top = int((busy[rows:] - busy[:-rows]).argmax()) if len(busy) > rows else 0
    return pixels[top // 120 * 120 : top // 120 * 120 + rows]  # every ratio divides 120, so the grid begins at 0


def _letter_height(pixels: Pixels) -> float:
    """Return the median height of likely letters, 0 if there are few: measured where most edges are."""
    grey = pixels[:, :, 1].astype(np.int16)
    busy = np.cumsum((np.abs(np.diff(grey, axis=1)) > 60).sum(axis=1))
    if len(busy) > SAMPLE:
        top = int((busy[SAMPLE:] - busy[:-SAMPLE]).argmax())
        grey = grey[top : top + SAMPLE]
    paper = int(np.bincount(grey.ravel()).argmax())
    marks = label_islands(np.abs(grey - paper) > 60)
    wide, high = (marks.edges[:, 2] - marks.edges[:, 0])[1:], (marks.edges[:, 3] - marks.edges[:, 1])[1:]
    letters = high[(high >= 4) & (high <= 100) & (wide <= 1.6 * high) & (wide >= 0.15 * high)]
    return float(np.median(letters)) if len(letters) >= LEAST_LETTERS else 0.0


def _edges_on_grid(pixels: Pixels, ratio: int) -> bool:
    """Whether nearly all long straight edges lie on multiples of the ratio."""
    grey = pixels[:, :, 1].astype(np.int16)
    on, off = 0, 0
    for axis in (0, 1):
        edge = np.abs(np.diff(grey, axis=axis)) > 3
        if axis:
            edge = edge.T
        long = 40 * ratio
        filled = np.cumsum(edge, axis=1, dtype=np.int32)
        straight = (filled[:, long:] - filled[:, :-long] == long).any(axis=1)
        places = np.flatnonzero(straight)
        good = int(((places + 1) % ratio == 0).sum())
        on, off = on + good, off + len(places) - good
    return on >= 6 and on >= 8 * off


def _is_noisy(pixels: Pixels) -> bool:
    """Whether few neighbours are exactly equal, unlike in a screenshot."""
    equal = (pixels[:, 1:] == pixels[:, :-1]).all(axis=2)
    return float(equal.mean()) < 0.5
