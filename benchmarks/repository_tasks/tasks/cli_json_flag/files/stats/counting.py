from typing import NamedTuple


class TextCount(NamedTuple):
    lines: int
    words: int
    characters: int


def count(text):
    return TextCount(len(text.splitlines()), len(text.split()), len(text))
