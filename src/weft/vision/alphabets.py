"""Alphabets of scripts that the reader does not know, and the order in which their letters are seen and spoken."""

import re
import unicodedata
from dataclasses import dataclass

from weft.vision.seen import Family

COMMON = "0123456789.,:;!?()-–—«»\"'/%+&№₽₪©·•"
"""What stands between letters in every script."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    name: str
    letters: str
    families: tuple[Family, ...]
    joined: bool = False
    """Letters change with their neighbours, as in Arabic."""
    leftward: bool = False


CYRILLIC = Alphabet(
    "Cyrillic",
    "".join(chr(code) for code in range(0x410, 0x450)) + "ЁёЇїІіЄєҐґ",
    ("sans", "system", "serif", "wide", "book", "broad"),
)
HEBREW = Alphabet("Hebrew", "".join(chr(code) for code in range(0x5D0, 0x5EB)), ("hebrew", "wide"), leftward=True)
ARABIC = Alphabet(
    "Arabic",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىءأإآؤئ",
    ("arabic", "naskh", "wide"),
    joined=True,
    leftward=True,
)
ALPHABETS = (CYRILLIC, HEBREW, ARABIC)
_ALIKE = dict(zip("ABCEHKMOPTXaceopxy", "АВСЕНКМОРТХасеорху", strict=True))
_INNER = re.compile("ן(?=[א-ת])")
"""A final nun stands at the end of a word only; elsewhere it is a vav, which looks much like it."""
ARABIC_DIGITS = "٠١٢٣٤٥٦٧٨٩،؛؟"


def joined_shapes(letters: str) -> dict[str, str]:
    """Each letter alone, at the beginning, in the middle and at the end of a word, and the joined lam-alef."""
    join = "\u200d"
    shapes: dict[str, str] = {}
    for letter in (*letters, "لا", "لأ", "لإ"):
        for shape in (letter, letter + join, join + letter + join, join + letter):
            shapes[shape] = letter
    return shapes


def logical(text: str, alphabet: Alphabet) -> str:
    """From the order of sight to the order of speech, and without letters of another script that only look alike."""
    if not alphabet.leftward:
        words = ["".join(_ALIKE.get(letter, letter) for letter in word) for word in text.split(" ")]
        return unicodedata.normalize("NFC", " ".join(word for word in words if word))
    turned = [*reversed(pieces_of(text))]
    return " ".join(_INNER.sub("ו", word) for word in "".join(turned).split())


def pieces_of(text: str) -> list[str]:
    """Letters one by one, numbers whole: those run to the right even here."""
    pieces: list[str] = []
    for letter in text:
        number = letter.isdigit() or (letter in ".,:/%" and bool(pieces) and pieces[-1][-1:].isdigit())
        if number and pieces and pieces[-1][-1:].isdigit():
            pieces[-1] += letter
        else:
            pieces.append(letter)
    mirrored = str.maketrans("()«»", ")(»«")
    return [piece.translate(mirrored) for piece in pieces]
