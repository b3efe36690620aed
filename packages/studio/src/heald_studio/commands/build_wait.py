"""Waits for the variants of `heald build`, shows their progress, and cancels them at Ctrl-C."""

import asyncio
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from heald.commands.live_lines import LiveLines
from heald_studio.commands.local_studio import OWNER
from heald_studio.commands.variant_progress import VariantProgress

if TYPE_CHECKING:
    from heald_studio.projects.project import Project, Version
    from heald_studio.studio import Studio


async def wait_version(studio: "Studio", project: "Project", progress: VariantProgress, *, quiet: bool) -> "Version":
    """Wait for the end of all variants, and show them meanwhile. Ctrl-C ends them; a second one does not wait."""
    version = project.versions[-1]
    stop = _Stop(studio, project.id, version)
    async with LiveLines(progress.lines, silent=quiet and not sys.stderr.isatty()) as live:
        progress.report = live.report
        progress.update(version)
        following = asyncio.create_task(_follow(studio, project.id, progress), name="heald-build-watch")
        try:
            stop.listen()
            version = await studio.wait_version(OWNER, project.id, version.id)
        finally:
            stop.close()
            following.cancel()
            await asyncio.wait([following])
        progress.update(version)
    return version


async def _follow(studio: "Studio", project: str, progress: VariantProgress) -> None:
    async for now in studio.watch(OWNER, project):
        progress.update(now.versions[-1])


class _Stop:
    """Cancels all variants at the first signal, and stops waiting at the second."""

    def __init__(self, studio: "Studio", project: str, version: "Version") -> None:
        self._studio = studio
        self._project = project
        self._version = version
        self._task: asyncio.Task[None] | None = None
        self._main = asyncio.current_task()

    def listen(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # signals work in the main thread only
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, self._stop)

    def close(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().remove_signal_handler(number)

    def _stop(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._cancel_all())
        elif self._main is not None:
            self._main.cancel()

    async def _cancel_all(self) -> None:
        from heald_studio.projects.project import VariantRef

        for variant in self._version.variants:
            await self._studio.cancel(OWNER, self._project, VariantRef(self._version.id, variant.index))
