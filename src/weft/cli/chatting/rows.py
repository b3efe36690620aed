"""Coloured text broken into the rows of a terminal, at spaces where there are some."""

import re

from weft.cli.paint import width_of

_ESCAPE = re.compile(r"(\x1b\[[0-9;]*m)")


def rows(text: str, columns: int) -> list[str]:
    """The text in rows of at most so many columns. Colours go on from row to row: the terminal keeps them."""
    columns = max(columns, 1)
    found: list[str] = []
    row, width, space = "", 0, None
    for piece in _ESCAPE.split(text):
        if piece.startswith("\x1b["):
            row += piece
            continue
        for character in piece:
            size = width_of(character)
            if width + size > columns and space is not None and character != " ":
                found.append(row[:space])
                row = row[space:].removeprefix(" ")
                width, space = width_of(_ESCAPE.sub("", row)), None
            if width + size > columns:
                found.append(row)
                row, width, space = "", 0, None
                if character == " ":
                    continue
            if character == " " and row:
                space = len(row)
            row += character
            width += size
    return [*found, row]
