"""Colours and notes on a terminal."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal, TextIO

from heald.tools.sanitize import sanitize_text

BOLD, DIM, ITALIC, UNDERLINE, REVERSE = "1", "2", "3", "4", "7"
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
        adapted = [_ON_LIGHT.get(code, code) for code in codes] if self.theme == "light" else codes
        return f"\x1b[{';'.join(adapted)}m{text}\x1b[0m"


def terminal_size() -> os.terminal_size:
    import shutil  # loads the compressions, which only archives need

    return shutil.get_terminal_size()


def print_note(text: str) -> None:
    """Print a line of the command itself to standard error."""
    print(f"heald: {sanitize_text(text)}", file=sys.stderr, flush=True)


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
    except (termios.error, OSError, ValueError):  # it is not a terminal
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
