"""Keeps a Chromium for the pages of one event loop: started on first use, limited, restarted when it dies."""

import asyncio
import contextlib
import os
import signal

from weft.studio.browser.chromium import NO_NETWORK, ONLY_LOOPBACK
from weft.studio.browser.connection import Refused, gone
from weft.studio.browser.look import Look, look
from weft.studio.browser.process import Chromium
from weft.studio.browser.rendering import BrowserError, Rendering
from weft.studio.browser.tab import Ask, Tab

MAX_MEMORY = 1_200_000_000
"""Bytes that one process of the browser may use."""

_CLOSE_SECONDS = 3.0


class Keeper:
    """Gives each page a tab, and each tab its limits. Once closed it serves nobody."""

    def __init__(self, *, pages: int, seconds: float, idle: float, proxy: str) -> None:
        self.chromium: Chromium | None = None
        self._proxy = proxy
        self._seconds = seconds
        self._idle = idle
        self._places = asyncio.Semaphore(pages)
        self._starting = asyncio.Lock()
        self._closed = False
        self._busy = 0
        self._timer: asyncio.TimerHandle | None = None
        self._resting: asyncio.Task[None] | None = None

    async def see(self, ask: Ask | None, wanted: Look) -> Rendering:
        """A look at a page, when there is a place for it."""
        async with self._places:
            self._busy += 1
            self._stay()
            try:
                return await self._attempts(ask, wanted)
            finally:
                self._busy -= 1
                if not self._busy and not self._closed:
                    self._timer = asyncio.get_running_loop().call_later(self._idle, self._rest)

    async def close(self) -> None:
        """End the browser. Pages under way fail."""
        self._closed = True
        self._stay()
        await self._stop()

    async def _attempts(self, ask: Ask | None, wanted: Look) -> Rendering:
        """A browser that dies under a page is started again, once."""
        for _ in range(2):
            chromium = await self._awake()
            try:
                return await self._once(chromium, ask, wanted)
            except BrowserError as error:
                if error.kind != "gone":
                    raise
        raise gone()

    async def _once(self, chromium: Chromium, ask: Ask | None, wanted: Look) -> Rendering:
        tab = Tab(chromium.connection, ask)
        watch = asyncio.create_task(_watch(chromium))
        try:
            async with asyncio.timeout(self._seconds):
                await tab.open(wanted.viewport, mobile=wanted.mobile, proxy=self._proxy)
                return await look(tab, wanted)
        except TimeoutError:
            raise BrowserError(
                f"The page was not finished after {self._seconds:g} s; look for a script that never ends.", "timeout"
            ) from None
        except Refused:
            raise BrowserError("The page could not be rendered; try again.", "refused") from None
        finally:
            watch.cancel()
            await asyncio.shield(self._shut(chromium, tab))

    async def _shut(self, chromium: Chromium, tab: Tab) -> None:
        """Close a tab; a browser that cannot even do that is ended."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await tab.close()
        except (TimeoutError, Refused, BrowserError):
            await self._end(chromium)

    async def _awake(self) -> Chromium:
        async with self._starting:
            chromium = self.chromium
            if chromium is not None and chromium.alive:
                return chromium
            if chromium is not None:
                await self._end(chromium)
            if self._closed:
                raise gone()
            self.chromium = await Chromium.start(ONLY_LOOPBACK if self._proxy else NO_NETWORK)
            return self.chromium

    def _stay(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rest(self) -> None:
        self._timer = None
        if not self._busy:
            self._resting = asyncio.get_running_loop().create_task(self._stop())

    async def _stop(self) -> None:
        async with self._starting:
            if self.chromium is not None and (self._closed or not self._busy):
                await self._end(self.chromium)

    async def _end(self, chromium: Chromium) -> None:
        if self.chromium is chromium:
            self.chromium = None
        await chromium.close()


async def _watch(chromium: Chromium) -> None:
    """End the processes of pages that take too much memory; their tabs crash and say so."""
    while True:
        await asyncio.sleep(0.25)
        for pid, used in (await asyncio.to_thread(chromium.memory)).items():
            if used > MAX_MEMORY:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
