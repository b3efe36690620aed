"""Renders the pages of projects, the same files in the same window once, and scores them against the target picture."""

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache, partial
from weakref import WeakKeyDictionary

from heald.core.errors import HealdError
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import Rendering, Viewport
from heald_studio.input.pictures import measure_picture
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.projects.project import VariantScore
from heald_studio.score.page_image import PageImage
from heald_studio.score.score import Score, score
from heald_studio.score.text_reader import read_text
from heald_studio.stacks.stack import Stack
from heald_studio.tools.context import Files

_WIDEST = 1920
_measure_once = lru_cache(maxsize=8)(measure_picture)
_read_once = lru_cache(maxsize=8)(read_text)
"""Reading the text of the target is the slowest step, and the target stays the same."""
_score_once = lru_cache(maxsize=4)(partial(score, read=_read_once))
"""A page is scored while it is built and when it is done: often nothing has changed in between."""
_log = logging.getLogger("heald_studio")
_MAX_RENDERINGS = 6  # renderings that are kept
_Renderings = OrderedDict[tuple[str, str, Viewport, bool], asyncio.Task[Rendering]]
_by_loop: "WeakKeyDictionary[asyncio.AbstractEventLoop, _Renderings]" = WeakKeyDictionary()


async def compare_page(stack: Stack, files: Files, target: bytes) -> tuple[Score, PageImage, PageImage]:
    """Score the page of a project against a picture: the score and both pictures. Raises HealdError."""
    width, height = await asyncio.to_thread(_measure_once, target)
    viewport = Viewport(min(max(width, 320), _WIDEST), min(max(height, 200), 800))
    rendering = await render_project(stack, files, viewport, mobile=width < 600)
    pictures = PageImage(target), PageImage.of(rendering)
    return await asyncio.to_thread(_score_once, *pictures), *pictures


async def score_variant(stack: Stack, files: Files, target: bytes) -> tuple[VariantScore, Score] | None:
    """Score a variant. If it cannot be rendered, log the reason and return None."""
    try:
        score, *_ = await compare_page(stack, files, target)
    except HealdError as error:
        _log.info("no score: %s", error)
        return None
    return variant_score(score), score


def variant_score(score: Score) -> VariantScore:
    """Return the figures of a score that a project stores."""
    return VariantScore(
        block=score.block,
        text=score.text,
        position=score.position,
        colour=score.colour,
        ssim=score.ssim,
        overall=score.overall,
        style=score.style,
        shapes=score.shapes,
        changed=score.changed,
    )


async def render_project(
    stack: Stack, files: Mapping[str, bytes], viewport: Viewport, *, page: str = PAGE, mobile: bool = False
) -> Rendering:
    """Render a page of a project; join a rendering that is under way. Raises BrowserError, and keeps no failure."""
    renderings = _by_loop.setdefault(asyncio.get_running_loop(), OrderedDict())
    key = (await asyncio.to_thread(digest_files, stack, files), page, viewport, mobile)
    task = renderings.get(key)
    if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
        work = shared_browser().render(ProjectPreview(stack, files), page, viewport, mobile=mobile)
        task = renderings[key] = asyncio.ensure_future(work)
        task.add_done_callback(_note_failure)
    renderings.move_to_end(key)
    while len(renderings) > _MAX_RENDERINGS:
        renderings.popitem(last=False)
    return await asyncio.shield(task)


def _note_failure(task: "asyncio.Task[Rendering]") -> None:
    """Mark the failure as seen: its callers may all have been cancelled."""
    if not task.cancelled():
        task.exception()


def digest_files(stack: Stack, files: Mapping[str, bytes]) -> str:
    """Return a text that is the same for the same files of the same stack."""
    digest = hashlib.sha256(repr(stack).encode())
    for path, data in sorted(files.items()):
        digest.update(f"\0{path}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()
