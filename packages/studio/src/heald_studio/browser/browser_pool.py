"""One Chromium for all pages, and its tabs."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

from heald_studio.browser.chromium import NO_NETWORK, ONLY_LOOPBACK, Chromium
from heald_studio.browser.devtools import CommandFailed, connection_lost
from heald_studio.browser.page import BrowserError
from heald_studio.browser.render import RenderRequest
from heald_studio.browser.tab import AnswerUrl, Tab

MAX_MEMORY = 1_200_000_000  # bytes that one process of the browser may use

_TAB_CLOSE_SECONDS = 3.0
T = TypeVar("T")
TabWork = Callable[[Tab, RenderRequest], Awaitable[T]]
"""What is done in a tab that was opened for a request."""


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

    async def use_tab(self, ask: AnswerUrl | None, request: RenderRequest, work: TabWork[T]) -> T:
        """Open a tab as soon as a slot is free, and work in it."""
        async with self._slots:
            self._busy += 1
            self._cancel_idle_timer()
            try:
                return await self._work_with_restart(ask, request, work)
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

    async def _work_with_restart(self, ask: AnswerUrl | None, request: RenderRequest, work: TabWork[T]) -> T:
        """Work in a tab, a second time if the browser dies meanwhile."""
        for _ in range(2):
            chromium = await self._ensure_chromium()
            try:
                return await self._work_once(chromium, ask, request, work)
            except BrowserError as error:
                if error.kind != "gone":
                    raise
        raise connection_lost()

    async def _work_once(
        self, chromium: Chromium, ask: AnswerUrl | None, request: RenderRequest, work: TabWork[T]
    ) -> T:
        seconds = max(self._seconds, request.seconds)
        tab = Tab(chromium.connection, ask)
        watch = asyncio.create_task(_limit_memory(chromium))
        try:
            async with asyncio.timeout(seconds):
                await tab.open(request.viewport, mobile=request.mobile, proxy=self._proxy)
                return await work(tab, request)
        except TimeoutError:
            raise BrowserError(
                f"The page was not finished after {seconds:g} s; look for a script that never ends.", "timeout"
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
