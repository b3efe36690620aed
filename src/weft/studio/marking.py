"""How good a variant is: its page, rendered and compared with the picture it was to match."""

import asyncio
import logging
from functools import lru_cache

from weft.core.errors import WeftError
from weft.studio.assignment import Files
from weft.studio.browser.browser import shared_browser
from weft.studio.browser.rendering import Viewport
from weft.studio.input.pictures import read_picture
from weft.studio.projects.project import Marks
from weft.studio.score.picture import Picture
from weft.studio.score.reading import read_text
from weft.studio.score.score import Score, score
from weft.studio.stacks.preview import PAGE, Preview
from weft.studio.stacks.stack import Stack

_WIDEST = 1920
_read_once = lru_cache(maxsize=8)(read_text)
"""The target is the same at every look, and reading it takes longer than all the rest."""
_log = logging.getLogger("weft.studio")


async def compare(stack: Stack, files: Files, target: bytes) -> Score:
    """The page of a project against a picture. Raises WeftError where one of them cannot be seen."""
    return (await compared(stack, files, target))[0]


async def compared(stack: Stack, files: Files, target: bytes) -> tuple[Score, Picture, Picture]:
    """The same, with both pictures."""
    seen = await asyncio.to_thread(read_picture, target)
    width = seen.width
    viewport = Viewport(min(max(width, 320), _WIDEST), min(max(seen.height, 200), 800))
    rendering = await shared_browser().render(Preview(stack, files), PAGE, viewport, mobile=width < 600)
    pictures = Picture(target), Picture.of(rendering)
    return await asyncio.to_thread(score, *pictures, read=_read_once), *pictures


async def marks_of(stack: Stack, files: Files, target: bytes) -> tuple[Marks, Score] | None:
    """The score of a variant; None where it cannot be had, which the log explains."""
    try:
        found = await compare(stack, files, target)
    except WeftError as error:
        _log.info("no score: %s", error)
        return None
    return Marks(found.block, found.text, found.position, found.colour, found.ssim, found.overall), found
