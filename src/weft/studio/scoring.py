"""Renders the page of a variant and scores it against the target picture."""

import asyncio
import logging
from functools import lru_cache, partial

from weft.core.errors import WeftError
from weft.studio.browser.page import Viewport
from weft.studio.input.pictures import read_picture
from weft.studio.project import VariantScore
from weft.studio.renderings import render_project
from weft.studio.score.picture import PageImage, read_text
from weft.studio.score.score import Score, score
from weft.studio.stack import Stack
from weft.studio.tools.context import Files

_WIDEST = 1920
_read_once = lru_cache(maxsize=8)(read_text)
"""Reading the text of the target is the slowest step, and the target stays the same."""
_score_once = lru_cache(maxsize=4)(partial(score, read=_read_once))
"""A page is scored while it is built and when it is done: often nothing has changed in between."""
_log = logging.getLogger("weft.studio")


async def compare_page(stack: Stack, files: Files, target: bytes) -> tuple[Score, PageImage, PageImage]:
    """Score the page of a project against a picture: the score and both pictures. Raises WeftError."""
    width, height = await asyncio.to_thread(_css_size, target)
    viewport = Viewport(min(max(width, 320), _WIDEST), min(max(height, 200), 800))
    rendering = await render_project(stack, files, viewport, mobile=width < 600)
    pictures = PageImage(target), PageImage.of(rendering)
    return await asyncio.to_thread(_score_once, *pictures), *pictures


@lru_cache(maxsize=8)
def _css_size(target: bytes) -> tuple[int, int]:
    picture = read_picture(target)
    return picture.width // picture.ratio, picture.height // picture.ratio


async def score_variant(stack: Stack, files: Files, target: bytes) -> tuple[VariantScore, Score] | None:
    """Score a variant. If it cannot be rendered, log the reason and return None."""
    try:
        found, *_ = await compare_page(stack, files, target)
    except WeftError as error:
        _log.info("no score: %s", error)
        return None
    return VariantScore(found.block, found.text, found.position, found.colour, found.ssim, found.overall), found
