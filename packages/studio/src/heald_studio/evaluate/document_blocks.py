"""Blocks of text of a page by the definition of Design2Code: every element's text is painted in a colour of its own.

The page is rendered twice with other colours. Pixels that change by the same amount as the colours are text, and those
of one colour are one block.
"""

from importlib.resources import files as resources
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Serve, Viewport
from heald_studio.score.page_image import decode_pixels

_PAINT = (resources("heald_studio.evaluate") / "paint_text.js").read_text("utf-8").partition("\n")[2].rstrip()
_SHIFT = 50  # levels between the colours of both renderings
_MOVED_NEAR = 8  # levels by which a pixel's change may miss the shift
_COLOUR_NEAR = 4  # levels by which a pixel may miss the colour of its text


class TextArea(msgspec.Struct, frozen=True):
    """A text, the area of its ink in parts of the picture's width and height, and its mean colour."""

    text: str
    box: tuple[float, float, float, float]
    colour: tuple[float, float, float]

    @property
    def area(self) -> float:
        return self.box[2] * self.box[3]


class _Painted(msgspec.Struct):
    texts: list[tuple[str, int]]
    colours: list[tuple[int, int, int]]


async def read_text_areas(
    browser: Browser, serve: Serve, path: str, viewport: Viewport, picture: bytes, *, mobile: bool = False
) -> tuple[TextArea, ...]:
    """Return the blocks of a page in document order. `picture` is the page as it is. Raises BrowserError."""
    first = await browser.render(serve, path, viewport, mobile=mobile, prepare=f"() => ({_PAINT})(0)")
    second = await browser.render(serve, path, viewport, mobile=mobile, prepare=f"() => ({_PAINT})({_SHIFT})")
    pixels = decode_pixels(first.picture)
    shifted = decode_pixels(second.picture)
    plain = decode_pixels(picture)
    if pixels.shape != shifted.shape or pixels.shape != plain.shape:
        return ()
    return _find_areas(_read_painted(first.probed), pixels, shifted, plain)


def _read_painted(probed: Any) -> _Painted:
    return msgspec.convert(probed, _Painted)


def _find_areas(
    painted: _Painted, pixels: NDArray[np.uint8], shifted: NDArray[np.uint8], plain: NDArray[np.uint8]
) -> tuple[TextArea, ...]:
    height, width = pixels.shape[:2]
    expected = (pixels.astype(np.int16) + _SHIFT) % 256
    moved = (np.abs(shifted.astype(np.int16) - expected) <= _MOVED_NEAR).all(axis=2)
    rows, columns = np.nonzero(moved)
    inks = pixels[rows, columns].astype(np.int16)
    areas: list[TextArea] = []
    by_number: dict[int, TextArea | None] = {}
    for text, number in painted.texts:
        if number not in by_number:
            near = (np.abs(inks - np.array(painted.colours[number], np.int16)) <= _COLOUR_NEAR).all(axis=1)
            by_number[number] = _enclose(rows[near], columns[near], width, height, plain)
        area = by_number[number]
        if area is not None:
            areas.append(TextArea(text.lower(), area.box, area.colour))
    return tuple(areas)


def _enclose(
    rows: NDArray[np.intp], columns: NDArray[np.intp], width: int, height: int, plain: NDArray[np.uint8]
) -> TextArea | None:
    if not rows.size:
        return None
    left, top = int(columns.min()), int(rows.min())
    wide, high = int(columns.max()) - left + 1, int(rows.max()) - top + 1
    red, green, blue = (float(int(part)) for part in plain[rows, columns].mean(axis=0))
    return TextArea("", (left / width, top / height, wide / width, high / height), (red, green, blue))
