"""Colours, column widths and lines that are redrawn in place."""

import asyncio
import os
import sys
import unicodedata
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from types import TracebackType
from typing import Literal, TextIO

from weft.tools.sanitize import sanitize_text

BOLD, DIM, ITALIC, UNDERLINE = "1", "2", "3", "4"
RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "31", "32", "33", "34", "35", "36"


def can_redraw(stream: TextIO) -> bool:
    """Whether the stream is a terminal whose cursor can be moved: not that of some editors and logs."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours, and NO_COLOR is not set (https://no-color.org)."""
    return can_redraw(stream) and not os.environ.get("NO_COLOR")


ThemeName = Literal["dark", "light"]
_ON_LIGHT = {YELLOW: MAGENTA, CYAN: BLUE}
"""Colours that cannot be read on a light background, and their replacements."""


def choose_theme(name: str) -> ThemeName:
    """Return the theme of this name; for another one, that of the background which the terminal reports."""
    if name in ("dark", "light"):
        return "light" if name == "light" else "dark"
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]  # such as "0;15" for black on white
    return "light" if background in ("7", "15") else "dark"


class Colours:
    """Colours text for one stream, if the stream shows colours."""

    def __init__(self, stream: TextIO | None = None, *, on: bool | None = None, theme: ThemeName | None = None) -> None:
        self.on = has_colours(stream or sys.stdout) if on is None else on
        self.theme: ThemeName = theme or choose_theme("auto")

    def __call__(self, text: str, *codes: str) -> str:
        if not (self.on and text and codes):
            return text
        shown = [_ON_LIGHT.get(code, code) for code in codes] if self.theme == "light" else codes
        return f"\x1b[{';'.join(shown)}m{text}\x1b[0m"


def terminal_size() -> os.terminal_size:
    import shutil  # loads the compressions, which only archives need

    return shutil.get_terminal_size()


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


def show_progress(what: str, verb: str = "trying") -> None:
    """Show, on a terminal, what is being tried or, with another verb, done; an empty text removes the line."""
    if can_redraw(sys.stderr):
        print(f"\r\x1b[K{f'  {verb} {what} …' if what else ''}", end="", file=sys.stderr, flush=True)


@contextmanager
def hold_typing(stream: TextIO) -> Generator[None]:
    """Keep what is typed before a screen reads keys: it is not echoed, and Enter stays Enter."""
    import termios

    try:
        before = termios.tcgetattr(stream)
    except (termios.error, OSError, ValueError):  # it is no terminal
        yield
        return
    held = list(before)
    held[0] &= ~termios.ICRNL
    held[3] &= ~termios.ECHO
    termios.tcsetattr(stream, termios.TCSANOW, held)
    try:
        yield
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)


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
        self._live = can_redraw(self._stream) and not silent
        self._silent = silent
        self._height = 0
        self._pauses = 0
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
