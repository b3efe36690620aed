"""Text of a bare picture, read from it: for targets that are screenshots and have no document."""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol, cast

import numpy as np

from weft.studio.browser.rendering import TextBlock
from weft.studio.score.picture import PictureError, Pixels, pixels_of

NO_READER = "Reading text from a picture needs the extra local; install it with: pip install 'weft[local]'."

_SURE = 0.6
_STRIP = 1_600
_SHARED = 160

_one_at_a_time = Lock()


class Reader(Protocol):
    """Reads lines of text with their boxes, in pixels of what it is given, and how sure it is."""

    def __call__(self, pixels: Pixels) -> Sequence[tuple[str, tuple[float, float, float, float], float]]: ...


def read_text(image: bytes) -> tuple[TextBlock, ...]:
    """The lines of text in a picture. Colours are left to whoever looks at the picture."""
    pixels = pixels_of(image)
    reader = _reader()
    found: dict[tuple[int, int], TextBlock] = {}
    height = pixels.shape[0]
    for top in range(0, max(1, height - _SHARED), _STRIP):
        strip = pixels[top : top + _STRIP + _SHARED]
        with _one_at_a_time:
            lines = reader(strip)
        for text, (x, y, w, h), sure in lines:
            cut = (y <= 1 and top > 0) or (y + h >= strip.shape[0] - 1 and top + strip.shape[0] < height)
            if text.strip() and sure >= _SURE and not cut:
                found.setdefault((round(x / 8), round((top + y) / 8)), TextBlock(text, x, top + y, w, h))
    return tuple(sorted(found.values(), key=lambda line: (line.y, line.x)))


@lru_cache(maxsize=1)
def _reader() -> Reader:
    try:
        from rapidocr import RapidOCR  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise PictureError(NO_READER) from None
    engine = cast(Any, RapidOCR(params={"Global.log_level": "error"}))

    def read(pixels: Pixels) -> list[tuple[str, tuple[float, float, float, float], float]]:
        answer = engine(np.ascontiguousarray(pixels[..., ::-1]))
        if answer.txts is None:
            return []
        return [
            (str(text), _box(corners), float(sure))
            for text, corners, sure in zip(answer.txts, answer.boxes, answer.scores, strict=True)
        ]

    return read


def _box(corners: Any) -> tuple[float, float, float, float]:
    points = np.asarray(corners, float)
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    return float(left), float(top), float(right - left), float(bottom - top)
