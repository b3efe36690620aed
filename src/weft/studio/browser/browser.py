"""The browser: renders pages in one Chromium for the whole process, in a thread with an event loop of its own."""

import asyncio
import atexit
import contextlib
import os
import signal
import threading
from inspect import isawaitable

from weft.studio.browser.chromium import (
    NO_NETWORK,
    ONLY_LOOPBACK,
    Chromium,
    CommandFailed,
    connection_lost,
    find_chromium,
)
from weft.studio.browser.page import DESKTOP, ORIGIN, BrowserError, PageResponse, Rendering, Serve, Viewport
from weft.studio.browser.tab import AnswerUrl, RenderRequest, Tab, render_page

MAX_MEMORY = 1_200_000_000  # bytes that one process of the browser may use

_TAB_CLOSE_SECONDS = 3.0
_CLOSE_SECONDS = 10.0
_shared_lock = threading.Lock()


class BrowserPool:
    """Opens a tab for each page, with limits, in a Chromium that is started on first use and restarted once it dies."""

    def __init__(self, *, pages: int, seconds: float, idle: float, proxy: str) -> None:
        self.chromium: Chromium | None = None
        self._proxy = proxy
        self._seconds = seconds
        self._idle = idle
        self._slots = asyncio.Semaphore(pages)
        self._starting = asyncio.Lock()
        self._closed = False
        self._busy = 0
        self._timer: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Task[None] | None = None

    async def render(self, ask: AnswerUrl | None, wanted: RenderRequest) -> Rendering:
        """Render a page as soon as a slot is free."""
        async with self._slots:
            self._busy += 1
            self._cancel_idle_timer()
            try:
                return await self._render_with_restart(ask, wanted)
            finally:
                self._busy -= 1
                self._start_idle_timer()

    async def start(self) -> None:
        """Start the browser before it is needed. If it cannot be started, the next page reports that."""
        with contextlib.suppress(BrowserError):
            await self._ensure_chromium()
        self._start_idle_timer()

    async def close(self) -> None:
        """End the browser. Pages under way fail."""
        self._closed = True
        self._cancel_idle_timer()
        await self._stop_if_unused()

    async def _render_with_restart(self, ask: AnswerUrl | None, wanted: RenderRequest) -> Rendering:
        """Render a page, a second time if the browser dies meanwhile."""
        for _ in range(2):
            chromium = await self._ensure_chromium()
            try:
                return await self._render_once(chromium, ask, wanted)
            except BrowserError as error:
                if error.kind != "gone":
                    raise
        raise connection_lost()

    async def _render_once(self, chromium: Chromium, ask: AnswerUrl | None, wanted: RenderRequest) -> Rendering:
        tab = Tab(chromium.connection, ask)
        watch = asyncio.create_task(_limit_memory(chromium))
        try:
            async with asyncio.timeout(self._seconds):
                await tab.open(wanted.viewport, mobile=wanted.mobile, proxy=self._proxy)
                return await render_page(tab, wanted)
        except TimeoutError:
            raise BrowserError(
                f"The page was not finished after {self._seconds:g} s; look for a script that never ends.", "timeout"
            ) from None
        except CommandFailed:
            raise BrowserError("The page could not be rendered; try again.", "refused") from None
        finally:
            watch.cancel()
            await asyncio.shield(self._close_tab(chromium, tab))

    async def _close_tab(self, chromium: Chromium, tab: Tab) -> None:
        """Close a tab, or end the browser if that fails."""
        try:
            async with asyncio.timeout(_TAB_CLOSE_SECONDS):
                await tab.close()
        except (TimeoutError, CommandFailed, BrowserError):
            await self._end_chromium(chromium)

    async def _ensure_chromium(self) -> Chromium:
        async with self._starting:
            chromium = self.chromium
            if chromium is not None and chromium.alive:
                return chromium
            if chromium is not None:
                await self._end_chromium(chromium)
            if self._closed:
                raise connection_lost()
            self.chromium = await Chromium.start(ONLY_LOOPBACK if self._proxy else NO_NETWORK)
            return self.chromium

    def _cancel_idle_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_idle_timer(self) -> None:
        if not self._busy and not self._closed:
            self._cancel_idle_timer()
            self._timer = asyncio.get_running_loop().call_later(self._idle, self._start_idle_stop)

    def _start_idle_stop(self) -> None:
        self._timer = None
        if not self._busy:
            self._stopping = asyncio.get_running_loop().create_task(self._stop_if_unused())

    async def _stop_if_unused(self) -> None:
        async with self._starting:
            if self.chromium is not None and (self._closed or not self._busy):
                await self._end_chromium(self.chromium)

    async def _end_chromium(self, chromium: Chromium) -> None:
        if self.chromium is chromium:
            self.chromium = None
        await chromium.close()


async def _limit_memory(chromium: Chromium) -> None:
    """Kill the processes of pages that use too much memory; their tabs report a crash."""
    while True:
        await asyncio.sleep(0.25)
        for pid, used in (await asyncio.to_thread(chromium.memory)).items():
            if used > MAX_MEMORY:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


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
    ) -> Rendering:
        """Render a page of a project. Raises BrowserError.

        A page is finished after `quiet_seconds` without a change. A `probe` is a JavaScript function whose result is in
        `Rendering.probed`.
        """
        wanted = RenderRequest(ORIGIN + path.lstrip("/"), viewport, mobile, full_page, quiet_seconds, probe=probe)
        return await self._render(_across_loops(serve, asyncio.get_running_loop()), wanted)

    async def visit(self, url: str, viewport: Viewport = DESKTOP, *, mobile: bool = False) -> Rendering:
        """Render the page at an address through the proxy of this browser."""
        wanted = RenderRequest(url, viewport, mobile, quiet_seconds=0.5, require_load=False)
        return await self._render(None, wanted)

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

    async def _render(self, ask: AnswerUrl | None, wanted: RenderRequest) -> Rendering:
        find_chromium()
        _check_viewport(wanted.viewport)
        with self._lock:
            thread = self._ensure_thread()
            work = asyncio.run_coroutine_threadsafe(thread.pool.render(ask, wanted), thread.loop)
        return await asyncio.wrap_future(work)

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
        found = serve(url)
        return await found if isawaitable(found) else found

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
