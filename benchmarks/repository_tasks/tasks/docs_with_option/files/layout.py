"""Lays out paragraphs for terminals."""

import textwrap


def wrap(text, width=72, justify=False):
    """The lines of a paragraph."""
    lines = textwrap.wrap(text, width)
    if justify:
        lines = [_justify(line, width) for line in lines[:-1]] + lines[-1:]
    return lines


def _justify(line, width):
    words = line.split()
    if len(words) == 1:
        return line
    spaces, wide = divmod(width - sum(map(len, words)), len(words) - 1)
    return "".join(word + " " * (spaces + (number < wide)) for number, word in enumerate(words[:-1])) + words[-1]
