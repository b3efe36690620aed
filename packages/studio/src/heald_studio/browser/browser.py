"""The browser: renders pages in one Chromium for the whole process, in a thread with an event loop of its own."""

import asyncio
import atexit
import contextlib
import threading
from inspect import isawaitable
from typing import TypeVar

from heald_studio.browser.browser_pool import BrowserPool, TabWork
from heald_studio.browser.find_chromium import find_chromium
from heald_studio.browser.page import DESKTOP, ORIGIN, BrowserError, PageResponse, Rendering, Serve, Viewport
from heald_studio.browser.render import RenderRequest, render_page
from heald_studio.browser.tab import AnswerUrl

_CLOSE_SECONDS = 10.0
T = TypeVar("T")
_shared_lock = threading.Lock()


class Browser:
    """Renders pages that a `Serve` answers, and can reach nothing else.

    `pages` are rendered at the same time, others wait. A page may take `seconds`. A browser that is unused for `idle`
    seconds is closed; the next page starts a new one. With a `proxy`, pages can be visited through it, and
    through it only.
    """

    def __init__(self, *, pages: int = 2, seconds: float = 20.0, idle: float = 60.0, proxy: str = "") -> None:
        self._pages = pages
        self._seconds = seconds
        self._idle = idle
        self._proxy = proxy
        self._lock = threading.Lock()
        self._thread: _BrowserThread | None = None

    async def render(
        self,
        serve: Serve,
        path: str = "index.html",
        viewport: Viewport = DESKTOP,
        *,
        mobile: bool = False,
        full_page: bool = True,
        quiet_seconds: float = 0.1,
        probe: str = "",
        prepare: str = "",
    ) -> Rendering:
        """Render a page of a project. Raises BrowserError.

        A page is finished after `quiet_seconds` without a change. A `probe` is a JavaScript function whose result is in
        `Rendering.probed`. `prepare` is one that runs before the picture is taken, such as to change colours.
        """
        request = RenderRequest(
            ORIGIN + path.lstrip("/"), viewport, mobile, full_page, quiet_seconds, probe=probe, prepare=prepare
        )
        return await self._render(_across_loops(serve, asyncio.get_running_loop()), request)

    async def visit(self, url: str, viewport: Viewport = DESKTOP, *, mobile: bool = False) -> Rendering:
        """Render the page at an address through the proxy of this browser."""
        request = RenderRequest(url, viewport, mobile, quiet_seconds=0.5, require_load=False)
        return await self._render(None, request)

    async def examine(self, serve: Serve, request: RenderRequest, work: TabWork[T]) -> T:
        """Open a tab for a page of a project, and run `work` in it, in the loop of the browser. Raises BrowserError."""
        return await self._use_tab(_across_loops(serve, asyncio.get_running_loop()), request, work)

    def start_ahead(self) -> None:
        """Start the browser in the background, for pages that will be rendered soon."""
        with contextlib.suppress(BrowserError):
            find_chromium()
            with self._lock:
                thread = self._ensure_thread()
                asyncio.run_coroutine_threadsafe(thread.pool.start(), thread.loop)

    @property
    def pid(self) -> int | None:
        """The process of the browser while it runs."""
        thread = self._thread
        chromium = thread.pool.chromium if thread is not None else None
        return chromium.pid if chromium is not None else None

    def close(self) -> None:
        """End the browser and its thread. Pages under way fail; it can be used again afterwards."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            atexit.unregister(self.close)
            thread.close()

    async def _render(self, ask: AnswerUrl | None, request: RenderRequest) -> Rendering:
        return await self._use_tab(ask, request, render_page)

    async def _use_tab(self, ask: AnswerUrl | None, request: RenderRequest, work: TabWork[T]) -> T:
        find_chromium()
        _check_viewport(request.viewport)
        with self._lock:
            thread = self._ensure_thread()
            future = asyncio.run_coroutine_threadsafe(thread.pool.use_tab(ask, request, work), thread.loop)
        return await asyncio.wrap_future(future)

    def _ensure_thread(self) -> "_BrowserThread":
        """Return the thread of the browser. The caller holds the lock."""
        if self._thread is None:
            pool = BrowserPool(pages=self._pages, seconds=self._seconds, idle=self._idle, proxy=self._proxy)
            self._thread = _BrowserThread(pool)
            atexit.register(self.close)
        return self._thread


class _BrowserThread:
    """The thread and the event loop of a browser."""

    def __init__(self, pool: BrowserPool) -> None:
        self.loop = asyncio.new_event_loop()
        self.pool = pool
        self._thread = threading.Thread(target=self._run, name="browser", daemon=True)
        self._thread.start()

    def close(self) -> None:
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._shut_down(), self.loop).result(_CLOSE_SECONDS)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_CLOSE_SECONDS)

    async def _shut_down(self) -> None:
        await self.pool.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if others:
            await asyncio.wait(others, timeout=1.0)

    def _run(self) -> None:
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


def _across_loops(serve: Serve, caller: asyncio.AbstractEventLoop) -> AnswerUrl:
    """Return a function for the browser's loop that runs `serve` in the caller's loop."""

    async def in_caller(url: str) -> PageResponse | None:
        response = serve(url)
        return await response if isawaitable(response) else response

    async def ask(url: str) -> PageResponse | None:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(in_caller(url.partition("#")[0]), caller))

    return ask


def _check_viewport(viewport: Viewport) -> None:
    if not (16 <= viewport.width <= 8192 and 16 <= viewport.height <= 8192 and 0.25 <= viewport.scale <= 4):
        raise BrowserError("A viewport is 16 to 8192 pixels wide and tall, with a scale of 0.25 to 4.", "viewport")


_shared: Browser | None = None


def shared_browser() -> Browser:
    """Return the one browser of this process."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Browser()
        return _shared
