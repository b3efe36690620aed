"""Leaves out the parts of a document that its picture does not show: outside the page, or one plain colour."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from heald_studio.browser.page import TextBlock
from heald_studio.evaluate.document_figures import DocumentParts, PlaceBox
from heald_studio.evaluate.page_parts import PagePart

_PLAIN = 8  # levels by which the pixels of one colour differ

Pixels = NDArray[np.uint8]


def keep_seen_parts(parts: tuple[PagePart, ...], pixels: Pixels) -> tuple[PagePart, ...]:
    """Return the links and controls that the picture shows."""
    return tuple(part for part in parts if is_seen(part.box, pixels))


def keep_seen_elements(elements: DocumentParts, pixels: Pixels) -> DocumentParts:
    """Return the elements with the links, headings, lists and tables that the picture shows."""
    return replace(
        elements,
        links=_keep(elements.links, pixels),
        headings=_keep(elements.headings, pixels),
        lists=_keep(elements.lists, pixels),
        tables=_keep(elements.tables, pixels),
    )


def keep_seen_texts(texts: Sequence[TextBlock], pixels: Pixels) -> tuple[TextBlock, ...]:
    """Return the lines that the picture shows: none in the colour of their ground."""
    return tuple(text for text in texts if is_seen((text.x, text.y, text.w, text.h), pixels))


def is_seen(box: PlaceBox, pixels: Pixels) -> bool:
    """Whether a picture has more than one colour in a box; a box outside the picture is not seen."""
    x, y, wide, high = box
    rows, columns = (slice(max(round(start), 0), max(round(start + side), 0)) for start, side in ((y, high), (x, wide)))
    area = pixels[rows, columns].reshape(-1, pixels.shape[-1])
    return area.size > 0 and int((area.max(axis=0) - area.min(axis=0)).max()) > _PLAIN


def _keep(boxes: tuple[PlaceBox, ...], pixels: Pixels) -> tuple[PlaceBox, ...]:
    return tuple(box for box in boxes if is_seen(box, pixels))
