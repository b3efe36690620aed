"""Decodes `$'…'`, the quotes of bash in which a backslash writes a character by its code."""

import re

from heald.core.lazy import lazy_pattern
from heald.tools.shell.unreadable import Unreadable

_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_CODE = lazy_pattern(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})", re.ASCII)
_LAST_ASCII = 0x7F


def decode_ansi_quotes(line: str, at: int) -> tuple[str, int]:
    """Return the text from behind `$'` to its closing quote, and the position behind it. Raises Unreadable."""
    text: list[str] = []
    while at < len(line):
        char = line[at]
        at += 1
        if char == "'":
            return "".join(text), at
        if char != "\\":
            text.append(char)
            continue
        letter = _LETTERS.get(line[at : at + 1])
        if letter is not None:
            text.append(letter)
            at += 1
            continue
        code = _CODE.match(line, at)
        if code is None:
            raise Unreadable("an unusual escape in `$'…'`")
        digits = next(group for group in code.groups() if group is not None)
        number = int(digits, 8 if code[4] is not None else 16)
        if not 0 < number < _LAST_ASCII:  # a byte of a longer character, or the end of the text
            raise Unreadable("an unusual escape in `$'…'`")
        text.append(chr(number))
        at = code.end()
    raise Unreadable("a quote without an end")
