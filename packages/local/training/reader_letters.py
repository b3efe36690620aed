"""Defines the letters that the reader of scripts knows, and the order in which a line shows them.

A line is written from left to right as the eye meets it: Hebrew and Arabic in visual order, a Hangul syllable as its two
or three jamo (its NFD), Arabic and Persian letters that look alike as one.
"""

import unicodedata

LATIN = "".join(chr(code) for code in range(0x21, 0x7F)) + "éèüöäßçñáíóúÉÜÖÄ"
MARKS = "«»„“”‘’–—…•·№§©®™°±×÷€£¥₽₴₪₩←→✓★"
CYRILLIC = "".join(chr(code) for code in range(0x410, 0x450)) + "ЁёЇїІіЄєҐґЂђЈјЉљЊњЋћЏџЃѓЌќЅѕЎўӘәҒғҚқҢңӨөҰұҮүҺһ"
GREEK = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰΆΈΉΊΌΎΏΪΫ"
HEBREW = "".join(chr(code) for code in range(0x5D0, 0x5EB)) + "״׳"
ARABIC = "".join(chr(code) for code in (*range(0x621, 0x63B), *range(0x641, 0x64B))) + "پچژگکٹڈڑںہھے"
ARABIC_MARKS = "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹،؛؟٪"
JAMO = "".join(chr(code) for code in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A8, 0x11C3)))
LETTERS = ["", " ", *dict.fromkeys(LATIN + MARKS + CYRILLIC + GREEK + HEBREW + ARABIC + ARABIC_MARKS + JAMO)]
"""The letter of each class; class 0 is none."""
NUMBERS = {letter: number for number, letter in enumerate(LETTERS) if letter}
MIRRORED = str.maketrans("()[]<>«»{}", ")(][><»«}{")
JOINS_NEXT = frozenset(ARABIC) - frozenset("ءآأؤإاةدذرزوىژڈڑے")


def is_leftward(text: str) -> bool:
    return any("\u0590" <= letter <= "\u06ff" and letter not in ARABIC_MARKS[:20] for letter in text)


def to_label(text: str) -> str:
    """Return one run of a line as it is seen: NFD for Hangul, reversed if it runs to the left."""
    if is_leftward(text):
        return _alike(text)[::-1].translate(MIRRORED)
    return "".join(unicodedata.normalize("NFD", each) if "\uac00" <= each <= "\ud7a3" else each for each in text)


def _alike(text: str) -> str:
    """Write Persian letters as the Arabic ones that they look like at their place."""
    out: list[str] = []
    for letter, after in zip(text, text[1:] + " ", strict=True):
        joined = after in ARABIC
        out.append({"ی": "ي" if joined else "ى", "ک": "ك" if joined else "ک"}.get(letter, letter))
    return "".join(out)
