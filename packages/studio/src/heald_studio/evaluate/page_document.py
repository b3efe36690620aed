"""The document beside a target's picture: renders it, and reads everything that a copy is compared with."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import PageResponse, Serve, TextBlock, Viewport, media_type, project_path
from heald_studio.evaluate.design2code import Design2Code, score_design2code
from heald_studio.evaluate.document_blocks import TextArea, read_text_areas
from heald_studio.evaluate.document_figures import DocumentParts, read_document_parts, with_document
from heald_studio.evaluate.page_parts import PARTS_PROBE, PagePart, read_parts
from heald_studio.evaluate.seen_parts import keep_seen_elements, keep_seen_parts, keep_seen_texts
from heald_studio.score.page_image import decode_pixels

_DIFFERENT = 8  # levels by which pixels differ
_OTHER_LETTERS = 64  # levels by which pixels of other letters differ; the edges of the same letters differ by less
_ELSEWHERE = 0.06  # the part of a line's pixels that show other letters, from which on the line is not in its place


class PageDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What is really on a page: its picture, its lines, its controls, its elements and its blocks."""

    picture: bytes
    texts: tuple[TextBlock, ...]
    parts: tuple[PagePart, ...]
    elements: DocumentParts
    """All three without what the picture does not show."""
    areas: tuple[TextArea, ...]
    identity: Design2Code
    """The document's score against itself, which is below 1 where the measure cannot tell blocks apart."""
    seen: float
    """The share of its lines that lie in one of its blocks: the measure knows nothing of the others."""
    missing: tuple[str, ...] = ()
    """Fonts and pictures that the document asks for and that could not be loaded."""


async def read_document(browser: Browser, path: Path, viewport: Viewport) -> PageDocument:
    """Render the HTML file, with the files beside it and nothing else. Raises BrowserError."""
    serve = serve_folder(path.parent)
    rendering = await browser.render(serve, path.name, viewport, probe=with_document(PARTS_PROBE))
    areas = await read_text_areas(browser, serve, path.name, viewport, rendering.picture)
    pixels = await asyncio.to_thread(decode_pixels, rendering.picture)
    texts = keep_seen_texts(rendering.texts, pixels)
    return PageDocument(
        picture=rendering.picture,
        texts=texts,
        parts=keep_seen_parts(read_parts(rendering.probed), pixels),
        elements=keep_seen_elements(read_document_parts(rendering.probed), pixels),
        areas=areas,
        identity=await asyncio.to_thread(score_design2code, areas, areas),
        seen=_seen_share(texts, areas, pixels.shape[1], pixels.shape[0]),
        missing=rendering.failed,
    )


def _seen_share(texts: Sequence[TextBlock], areas: Sequence[TextArea], width: int, height: int) -> float:
    """Return the share of lines whose middle is in a block; 1 without lines."""
    middles = [((text.x + text.w / 2) / width, (text.y + text.h / 2) / height) for text in texts]
    boxes = [area.box for area in areas]
    seen = [
        any(left <= x <= left + wide and top <= y <= top + high for left, top, wide, high in boxes) for x, y in middles
    ]
    return sum(seen) / len(seen) if seen else 1.0


def serve_folder(folder: Path) -> Serve:
    """Return a `Serve` for the files of a folder."""
    root = folder.resolve()

    def serve(url: str) -> PageResponse | None:
        path = project_path(url)
        if path is None or "\0" in path:
            return None
        file = (root / path).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            return None
        return PageResponse(200, media_type(path), file.read_bytes())

    return serve


def changed_share(picture: bytes, other: bytes) -> float:
    """Return the share of pixels that differ; 1 if the sizes do."""
    pixels, others = decode_pixels(picture), decode_pixels(other)
    if pixels.shape != others.shape:
        return 1.0
    return float((np.abs(pixels.astype(np.int16) - others) > _DIFFERENT).any(axis=2).mean())


def moved_share(picture: bytes, other: bytes, texts: Sequence[TextBlock]) -> float:
    """Return the share of lines that are not in their place on the other picture, or in other letters there."""
    pixels, others = decode_pixels(picture), decode_pixels(other)
    if pixels.shape != others.shape:
        return 1.0
    unlike = np.abs(pixels.astype(np.int16) - others).max(axis=2) > _OTHER_LETTERS
    lines = [_line_share(unlike, text) for text in texts]
    return sum(share > _ELSEWHERE for share in lines) / len(lines) if lines else 0.0


def _line_share(marked: NDArray[np.bool_], text: TextBlock) -> float:
    """Return the share of a line's pixels that are marked; none of a line outside of the picture."""
    left, top, right, bottom = (max(round(edge), 0) for edge in (text.x, text.y, text.x + text.w, text.y + text.h))
    part = marked[top:bottom, left:right]
    return float(part.mean()) if part.size else 0.0
