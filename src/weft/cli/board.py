"""A few lines that change in place on a terminal; elsewhere each piece of news is a line of its own."""

import asyncio
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from weft.cli.paint import cut

_EVERY = 0.1
Lines = Callable[[], list[str]]


class Board:
    """Draws what `lines` gives, ten times a second, as long as its block lasts. `news` is for those without a terminal.

    Lines may hold no escapes: they are cut to the width of the terminal.
    """

    def __init__(self, lines: Lines, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self._lines = lines
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and not silent
        self._silent = silent
        self._height = 0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Board":
        if self._live:
            self._task = asyncio.create_task(self._keep_drawing(), name="weft-board")
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

    def news(self, line: str) -> None:
        """Something happened that the lines show by themselves where they are drawn."""
        if not self._live and not self._silent:
            print(line, file=self._stream, flush=True)

    async def _keep_drawing(self) -> None:
        while True:
            self._draw()
            await asyncio.sleep(_EVERY)

    def _draw(self) -> None:
        columns = shutil.get_terminal_size().columns
        lines = [cut(line, columns - 1) for line in self._lines()]
        up = f"\x1b[{self._height}A" if self._height else ""
        self._stream.write(up + "\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._height = len(lines)
