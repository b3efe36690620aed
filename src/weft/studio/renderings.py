"""Renders the pages of projects: the same files in the same window once, for all that look at them."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from weft.studio.browser.browser import shared_browser
from weft.studio.browser.page import Rendering, Viewport
from weft.studio.preview import PAGE, ProjectPreview
from weft.studio.stack import Stack

_MOST = 6  # renderings that are kept

_Known = OrderedDict[tuple[str, str, Viewport, bool], "asyncio.Task[Rendering]"]
_by_loop: "WeakKeyDictionary[asyncio.AbstractEventLoop, _Known]" = WeakKeyDictionary()


async def render_project(
    stack: Stack, files: Mapping[str, bytes], viewport: Viewport, *, page: str = PAGE, mobile: bool = False
) -> Rendering:
    """Render a page of a project; join a rendering that is under way. Raises BrowserError, and keeps no failure."""
    known = _by_loop.setdefault(asyncio.get_running_loop(), OrderedDict())
    key = (await asyncio.to_thread(digest_files, stack, files), page, viewport, mobile)
    task = known.get(key)
    if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
        work = shared_browser().render(ProjectPreview(stack, files), page, viewport, mobile=mobile)
        task = known[key] = asyncio.ensure_future(work)
        task.add_done_callback(_note_failure)
    known.move_to_end(key)
    while len(known) > _MOST:
        known.popitem(last=False)
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
