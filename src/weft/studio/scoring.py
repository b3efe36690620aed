"""Renders the page of a variant and scores it against the target picture."""

import asyncio
import logging
from functools import lru_cache

from weft.core.errors import WeftError
from weft.studio.browser.browser import shared_browser
from weft.studio.browser.page import Viewport
from weft.studio.input.pictures import read_picture
from weft.studio.preview import PAGE, ProjectPreview
from weft.studio.project import VariantScore
from weft.studio.score.picture import PageImage, read_text
from weft.studio.score.score import Score, score
from weft.studio.stack import Stack
from weft.studio.tools.context import Files

_WIDEST = 1920
_read_once = lru_cache(maxsize=8)(read_text)
"""Reading the text of the target is the slowest step, and the target stays the same."""
_log = logging.getLogger("weft.studio")


async def compare_page(stack: Stack, files: Files, target: bytes) -> tuple[Score, PageImage, PageImage]:
    """Score the page of a project against a picture: the score and both pictures. Raises WeftError."""
    picture = await asyncio.to_thread(read_picture, target)
    width, height = picture.width // picture.ratio, picture.height // picture.ratio
    viewport = Viewport(min(max(width, 320), _WIDEST), min(max(height, 200), 800))
    rendering = await shared_browser().render(ProjectPreview(stack, files), PAGE, viewport, mobile=width < 600)
    pictures = PageImage(target), PageImage.of(rendering)
    return await asyncio.to_thread(score, *pictures, read=_read_once), *pictures


async def score_variant(stack: Stack, files: Files, target: bytes) -> tuple[VariantScore, Score] | None:
    """Score a variant. If it cannot be rendered, log the reason and return None."""
    try:
        found, *_ = await compare_page(stack, files, target)
    except WeftError as error:
        _log.info("no score: %s", error)
        return None
    return VariantScore(found.block, found.text, found.position, found.colour, found.ssim, found.overall), found
