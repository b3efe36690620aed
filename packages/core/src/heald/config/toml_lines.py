"""Finds the line of a key in the text of a TOML file, for messages."""

from collections.abc import Sequence
from typing import Any, cast


def find_line(text: str, path: Sequence[str]) -> int:
    """The line, counted from 1, in which a key or a table begins. The text must be valid TOML that holds it.

    The TOML parser itself finds it: a bisection over the beginnings of the text that parse.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    without, with_it = 0, len(lines)  # numbers of lines: a beginning that lacks the key, one that holds it
    while with_it - without > 1:
        middle = at = (without + with_it) // 2
        parsed = _try_parse(lines[:at])
        while parsed is None and at < with_it - 1:  # within a value of several lines
            at += 1
            parsed = _try_parse(lines[:at])
        if parsed is None or _contains(parsed, path):
            with_it = middle
        else:
            without = at
    return without + 1


def _try_parse(lines: Sequence[str]) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def _contains(table: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(table, dict) or key not in table:
            return False
        table = cast("dict[str, Any]", table)[key]
    return True
