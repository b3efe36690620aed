"""Texts in columns of a terminal: their width, and tables."""

import unicodedata


def text_width(text: str) -> int:
    """Count the columns of a text without escape sequences on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def truncate(text: str, columns: int) -> str:
    """Cut a text to a number of columns, with an ellipsis at the end."""
    if text_width(text) <= columns:
        return text
    fitting: list[str] = []
    room = columns - 1
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        fitting.append(character)
    return "".join(fitting) + "…" if columns > 0 else ""


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
