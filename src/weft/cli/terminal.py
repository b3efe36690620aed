"""Colours, column widths and lines that are redrawn in place."""

import asyncio
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from weft.tools.sanitize import sanitize_text

BOLD, DIM, ITALIC, UNDERLINE = "1", "2", "3", "4"
RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "31", "32", "33", "34", "35", "36"


def has_colours(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours, and NO_COLOR is not set (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Colours:
    """Colours text for one stream, if the stream shows colours."""

    def __init__(self, stream: TextIO | None = None, *, on: bool | None = None) -> None:
        self.on = has_colours(stream or sys.stdout) if on is None else on

    def __call__(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.on and text and codes else text


def text_width(text: str) -> int:
    """Count the columns of a text without escape sequences on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def truncate(text: str, columns: int) -> str:
    """Cut a text to a number of columns, with an ellipsis at the end."""
    if text_width(text) <= columns:
        return text
    shown: list[str] = []
    room = columns - 1
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        shown.append(character)
    return "".join(shown) + "…" if columns > 0 else ""


def count_rows(text: str, columns: int) -> int:
    """Count the rows that a text without escape sequences fills on a terminal, from the start of a row."""
    rows, at = 1, 0
    for character in text:
        if character == "\n":
            rows, at = rows + 1, 0
            continue
        width = 8 - at % 8 if character == "\t" else _columns(character)
        at += width
        if at > columns and character != "\t":
            rows, at = rows + 1, width
    return rows


def pad(text: str, columns: int) -> str:
    return text + " " * max(columns - text_width(text), 0)


def format_seconds(duration: float) -> str:
    """Format a duration: 12 ms, 3.4 s, 2 min 05 s."""
    if duration < 1:
        return f"{duration * 1000:.0f} ms"
    if duration < 60:
        return f"{duration:.1f} s"
    return f"{int(duration // 60)} min {int(duration % 60):02} s"


def format_usd(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"


def print_note(text: str) -> None:
    """Print a line of the command itself to standard error."""
    print(f"weft: {sanitize_text(text)}", file=sys.stderr, flush=True)


def show_progress(what: str) -> None:
    """Show, on a terminal, the current attempt; an empty text removes the line."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{f'  trying {what} …' if what else ''}", end="", file=sys.stderr, flush=True)


def align_columns(table: list[list[str]], gap: str = "  ") -> list[str]:
    """Pad the cells of a table so that its columns are aligned; the last column is not padded."""
    if not table:
        return []
    widths = [max(text_width(row[at]) for row in table) for at in range(len(table[0]) - 1)]
    lines = [[pad(cell, width) for cell, width in zip(row, widths, strict=False)] + [row[-1]] for row in table]
    return [gap.join(line).rstrip() for line in lines]


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_REDRAW_SECONDS = 0.1
Lines = Callable[[], list[str]]


class LiveLines:
    """Redraws the result of `lines` in place, ten times a second. Without a terminal, `report` prints lines instead.

    The lines are cut to the width of the terminal and must hold no escape sequences.
    """

    def __init__(self, lines: Lines, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self._lines = lines
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and not silent
        self._silent = silent
        self._height = 0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "LiveLines":
        if self._live:
            self._task = asyncio.create_task(self._keep_drawing(), name="weft-live-lines")
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

    def report(self, line: str) -> None:
        """Print a line, unless the lines are redrawn on a terminal."""
        if not self._live and not self._silent:
            print(line, file=self._stream, flush=True)

    async def _keep_drawing(self) -> None:
        while True:
            self._draw()
            await asyncio.sleep(_REDRAW_SECONDS)

    def _draw(self) -> None:
        columns = shutil.get_terminal_size().columns
        lines = [truncate(line, columns - 1) for line in self._lines()]
        up = f"\x1b[{self._height}A" if self._height else ""
        self._stream.write(up + "\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._height = len(lines)
