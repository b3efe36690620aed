"""A browser for whoever needs a picture of a page.

It lives in a thread with an event loop of its own, so that one browser serves a whole process, whichever loop asks.
"""

import asyncio
import atexit
import contextlib
import threading
from inspect import isawaitable

from weft.studio.browser.chromium import find_chromium
from weft.studio.browser.keeper import Keeper
from weft.studio.browser.look import Look
from weft.studio.browser.rendering import DESKTOP, BrowserError, Rendering, Viewport
from weft.studio.browser.serving import ORIGIN, Answer, Serve
from weft.studio.browser.tab import Ask

_CLOSE_SECONDS = 10.0


class Browser:
    """Renders pages that a `Serve` answers, and can reach nothing else.

    `pages` are rendered at the same time, others wait. A page may take `seconds`. A browser that nobody has used for
    `idle` seconds is closed; the next page starts a new one. With a `proxy`, pages can be visited through it, and
    through it only.
    """

    def __init__(self, *, pages: int = 2, seconds: float = 20.0, idle: float = 60.0, proxy: str = "") -> None:
        self._pages = pages
        self._seconds = seconds
        self._idle = idle
        self._proxy = proxy
        self._lock = threading.Lock()
        self._home: _Home | None = None

    async def render(
        self,
        serve: Serve,
        path: str = "index.html",
        viewport: Viewport = DESKTOP,
        *,
        mobile: bool = False,
        full_page: bool = True,
        settle: float = 0.1,
        probe: str = "",
    ) -> Rendering:
        """A picture of a page of the project, with what it says and what went wrong. A BrowserError says why not.

        `settle` is for how many seconds nothing may change before a page counts as finished. A `probe` is a JavaScript
        function; what it returns is in `probed`.
        """
        url = ORIGIN + path.lstrip("/")
        wanted = Look(url=url, viewport=viewport, mobile=mobile, full_page=full_page, settle=settle, probe=probe)
        return await self._see(_asker(serve, asyncio.get_running_loop()), wanted)

    async def visit(
        self,
        url: str,
        viewport: Viewport = DESKTOP,
        *,
        mobile: bool = False,
        full_page: bool = True,
        settle: float = 0.5,
    ) -> Rendering:
        """A picture of the page at an address, as far as the proxy of this browser lets it through."""
        wanted = Look(url=url, viewport=viewport, mobile=mobile, full_page=full_page, settle=settle, insist=False)
        return await self._see(None, wanted)

    @property
    def pid(self) -> int | None:
        """The process of the browser while it runs."""
        home = self._home
        chromium = home.keeper.chromium if home is not None else None
        return chromium.pid if chromium is not None else None

    def close(self) -> None:
        """End the browser and its thread. Pages under way fail; it can be used again afterwards."""
        with self._lock:
            home, self._home = self._home, None
        if home is not None:
            atexit.unregister(self.close)
            home.close()

    async def _see(self, ask: Ask | None, wanted: Look) -> Rendering:
        find_chromium()
        _check(wanted.viewport)
        with self._lock:
            if self._home is None:
                keeper = Keeper(pages=self._pages, seconds=self._seconds, idle=self._idle, proxy=self._proxy)
                self._home = _Home(keeper)
                atexit.register(self.close)
            work = asyncio.run_coroutine_threadsafe(self._home.keeper.see(ask, wanted), self._home.loop)
        return await asyncio.wrap_future(work)


class _Home:
    """The thread that a browser lives in."""

    def __init__(self, keeper: Keeper) -> None:
        self.loop = asyncio.new_event_loop()
        self.keeper = keeper
        self._thread = threading.Thread(target=self._live, name="browser", daemon=True)
        self._thread.start()

    def close(self) -> None:
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._leave(), self.loop).result(_CLOSE_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_CLOSE_SECONDS)

    async def _leave(self) -> None:
        await self.keeper.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if others:
            await asyncio.wait(others, timeout=1.0)

    def _live(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            left = asyncio.all_tasks(self.loop)
            for task in left:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()


def _asker(serve: Serve, home: asyncio.AbstractEventLoop) -> Ask:
    """The callable, to be asked from the browser's thread and run in its owner's loop."""

    async def at_home(url: str) -> Answer | None:
        found = serve(url)
        return await found if isawaitable(found) else found

    async def ask(url: str) -> Answer | None:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(at_home(url.partition("#")[0]), home))

    return ask


def _check(viewport: Viewport) -> None:
    if not (16 <= viewport.width <= 8192 and 16 <= viewport.height <= 8192 and 0.25 <= viewport.scale <= 4):
        raise BrowserError("A viewport is 16 to 8192 pixels wide and tall, with a scale of 0.25 to 4.", "viewport")


_shared: Browser | None = None
_sharing = threading.Lock()


def shared_browser() -> Browser:
    """The one browser of this process."""
    global _shared
    with _sharing:
        if _shared is None:
            _shared = Browser()
        return _shared
