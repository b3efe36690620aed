"""Lines on a terminal that are redrawn in place."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import TextIO

from heald.commands.terminal import can_redraw, terminal_size
from heald.commands.text_columns import truncate

_REDRAW_SECONDS = 0.1
Lines = Callable[[], list[str]]


class LiveLines:
    """Redraws the result of `lines` in place, ten times a second. Without a terminal, `report` prints lines instead.

    The lines are cut to the width of the terminal and must hold no escape sequences.
    """

    def __init__(self, lines: Lines, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self._lines = lines
        self._stream = stream or sys.stderr
        self._live = can_redraw(self._stream) and not silent
        self._silent = silent
        self._height = 0
        self._pauses = 0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "LiveLines":
        if self._live:
            self._task = asyncio.create_task(self._keep_drawing(), name="heald-live-lines")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._task is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._draw()

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """Erase the lines while something else is printed, such as a question."""
        self._pauses += 1
        self._erase()
        try:
            yield
        finally:
            self._pauses -= 1

    def report(self, line: str) -> None:
        """Print a line, unless the lines are redrawn on a terminal."""
        if not self._live and not self._silent:
            print(line, file=self._stream, flush=True)

    async def _keep_drawing(self) -> None:
        while True:
            if not self._pauses:
                self._draw()
            await asyncio.sleep(_REDRAW_SECONDS)

    def _erase(self) -> None:
        if self._height:
            self._stream.write(f"\x1b[{self._height}A\r\x1b[J")
            self._stream.flush()
            self._height = 0

    def _draw(self) -> None:
        columns = terminal_size().columns
        lines = [truncate(line, columns - 1) for line in self._lines()]
        up = f"\x1b[{self._height}A" if self._height else ""
        self._stream.write(up + "\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._height = len(lines)
