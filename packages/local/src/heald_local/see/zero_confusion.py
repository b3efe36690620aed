"""Zeros that may be letters: the network confuses them, and drawing both tells them apart."""

import re

LEAST_ZEROS = 2  # of a word of zeros alone that may be letters: a single zero is a number
_WORD = re.compile(r"\S+")
_OTHER_DIGIT = re.compile(r"[1-9]")


def replace_zeros(text: str) -> str:
    """Return a text with O for zeros beside letters: those of their own word, or of a line without other digits."""
    beside_letters = any(letter.isalpha() for letter in text) and not _OTHER_DIGIT.search(text)
    return _WORD.sub(lambda word: _replace_in_word(word[0], beside_letters), text)


def _replace_in_word(word: str, beside_letters: bool) -> str:
    letters = [letter for letter in word if letter.isalpha()]
    if not letters:
        are_letters = beside_letters and set(word) == {"0"} and len(word) >= LEAST_ZEROS
        return "O" * len(word) if are_letters else word
    if _OTHER_DIGIT.search(word):
        return word
    if all(letter.isupper() for letter in letters):
        return word.replace("0", "O")
    return word[0].replace("0", "O") + word[1:].replace("0", "o")
