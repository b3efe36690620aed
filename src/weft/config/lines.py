"""In which line of a TOML file a key stands, found by the TOML parser itself: it says what each beginning holds."""

import tomllib
from collections.abc import Sequence
from typing import Any, cast


def line_of(text: str, path: Sequence[str]) -> int:
    """The line, counted from 1, in which a key or a table begins. The text must be TOML and hold it."""
    lines = text.replace("\r\n", "\n").split("\n")
    without, with_it = 0, len(lines)  # a beginning of so many lines that parses and lacks it; one that has it
    while with_it - without > 1:
        middle = at = (without + with_it) // 2
        found = _parsed(lines[:at])
        while found is None and at < with_it - 1:  # within a value of several lines
            at += 1
            found = _parsed(lines[:at])
        if found is None or _holds(found, path):
            with_it = middle
        else:
            without = at
    return without + 1


def _parsed(lines: Sequence[str]) -> dict[str, Any] | None:
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def _holds(table: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(table, dict) or key not in table:
            return False
        table = cast("dict[str, Any]", table)[key]
    return True
