"""The screen: what was said scrolls away above, and below it stands what still changes: a status and the line typed.

Everything is written through here. What changes is erased before anything is said and drawn again behind it.
"""

import shutil
from typing import TextIO

from weft.cli.chatting.line import Line
from weft.cli.chatting.rows import rows
from weft.cli.paint import width_of

_ROOM = 8
"""Rows of the terminal that what still changes leaves to the rest, at least."""


class Screen:
    def __init__(self, stream: TextIO) -> None:
        self.tail = ""
        """The line of an answer that is not whole yet."""
        self.status = ""
        self.prompt = "› "
        self.line = Line()
        self._stream = stream
        self._drawn = 0  # rows between the first one that changes and the cursor
        self._shown: tuple[object, ...] | None = None

    def say(self, *lines: str) -> None:
        """Lines that stay."""
        columns = self._columns
        out = [self._erase()]
        for line in lines:
            out += [f"{row}\n" for row in rows(line, columns)]
        self._write("".join(out) + self._draw())

    def refresh(self) -> None:
        """Draw what changes, if it has."""
        if self._shown != self._state:
            self._write(self._erase() + self._draw())

    def clear(self) -> None:
        """Begin at the top."""
        self._drawn = 0
        self._write("\x1b[2J\x1b[H" + self._draw())

    def close(self) -> None:
        """Leave the terminal as a shell likes it."""
        self._write(self._erase())

    @property
    def _columns(self) -> int:
        return max(shutil.get_terminal_size().columns - 1, 20)

    @property
    def _state(self) -> tuple[object, ...]:
        return (self.tail, self.status, self.prompt, self.line.text, self.line.at, self._columns)

    def _erase(self) -> str:
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        self._drawn = 0
        self._shown = None
        return f"{up}\r\x1b[J"

    def _draw(self) -> str:
        columns = self._columns
        height = max(shutil.get_terminal_size().lines - _ROOM, 3)
        above = rows(self.tail, columns)[-height:] if self.tail else []
        above += rows(self.status, columns)[-3:] if self.status else []
        typed, row, column = self._typed(columns)
        first = max(row - height + 1, 0)  # of a long text, the part around the cursor
        typed = typed[first : first + height]
        row -= first
        text = "\n".join([*above, *typed])
        up = len(typed) - 1 - row
        self._drawn = len(above) + row
        self._shown = self._state
        back = (f"\x1b[{up}A" if up else "") + "\r" + (f"\x1b[{column}C" if column else "")
        return text + back

    def _typed(self, columns: int) -> tuple[list[str], int, int]:
        """The rows of the line that is typed, and where its cursor stands."""
        indent = " " * width_of(self.prompt)
        found: list[str] = [self.prompt]
        at_row, at_column = 0, width_of(self.prompt)
        width = width_of(self.prompt)
        for index, character in enumerate(f"{self.line.text}\n"):
            if width + width_of(character) > columns and character != "\n":
                found.append(indent)
                width = len(indent)
            if index == self.line.at:
                at_row, at_column = len(found) - 1, width
            if character == "\n":
                found.append(indent)
                width = len(indent)
            else:
                found[-1] += character
                width += width_of(character)
        return found[:-1], at_row, at_column

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
