"""Finds characters that look like others: a Cyrillic letter in a Latin word, a dash that is not `-`, a wide letter."""

from collections.abc import Iterator

from heald.core.lazy import lazy_pattern

_MAX_NAMED = 6
_LETTERS = (
    "a 0430 03b1 0251,c 0441 217d,d 0501 217e,e 0435,g 0261 0581,h 04bb 0570,i 0456 03b9 0131 0269 2170,j 0458,"
    "k 043a 03ba,l 04cf 217c 2113,m 217f,n 0578,o 043e 03bf 0585,p 0440 03c1,q 051b 0566,s 0455,t 03c4,"
    "u 03c5 057d,v 03bd 2174,w 051d,x 0445 03c7 2179,y 0443 03b3,"
    "A 0410 0391 13aa,B 0412 0392 13f4,C 0421 13df,E 0415 0395 13ac,H 041d 0397 13bb,I 0406 0399,J 0408 13ab,"
    "K 041a 039a 13e6,L 13de,M 041c 039c 13b7,N 039d,O 041e 039f,P 0420 03a1 13e2,R 13a1,S 0405 13da,T 0422 03a4 13a2,"
    "V 13d9,W 13b3,X 0425 03a7,Y 0423 03a5,Z 0396 13c3"
)
"""Latin letters, each with the code points that look like it."""
_SIGNS = (
    "/ 2044 2215 29f8,. 2024 3002 ff61,: 2236 02d0 a789,; 037e,| 01c0 2223 2758,! 01c3,\\ 2216 29f5,~ 223c,* 2217 204e,"
    "` 2035,> 203a 276f,< 2039 276e,& fe60,$ fe69"
)
_CYRILLIC = "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f"
_WORD = lazy_pattern(r"[\w.\-]+")
_LABEL = lazy_pattern(r"[^.\-_]+")
_LATIN = lazy_pattern("[A-Za-z]")
_NOT_LATIN = lazy_pattern(rf"[{_CYRILLIC}]")
_DASH = lazy_pattern(r"(?<![^ \t\n])[\u2010-\u2015\u2212\ufe58\ufe63](?=[^ \t\n])")


def _read_table(table: str) -> dict[str, str]:
    rows = [entry.split(" ") for entry in table.split(",")]
    return {chr(int(code, 16)): row[0] for row in rows for code in row[1:]}


_LETTER_OF = _read_table(_LETTERS)
_SIGN_OF = _read_table(_SIGNS)
_SIGN_CLASS = f"[\uff01-\uff5e{''.join(_SIGN_OF)}]"
_SIGN = lazy_pattern(rf"(?<=[A-Za-z0-9/._~$-]){_SIGN_CLASS}|{_SIGN_CLASS}(?=[A-Za-z0-9/._~$-])")


def describe_look_alikes(text: str, *, is_command: bool = False) -> str:
    """Return a note about letters that look like Latin ones in a word, and in a command about signs; else nothing."""
    if text.isascii():
        return ""
    characters = dict.fromkeys([*_find_alphabetic(text, is_command), *(_find_signs(text) if is_command else ())])
    if not characters:
        return ""
    named = [_describe(character) for character in list(characters)[:_MAX_NAMED]]
    more = f", and {len(characters) - _MAX_NAMED} more" if len(characters) > _MAX_NAMED else ""
    return f"contains look-alike characters: {', '.join(named)}{more}"


def _find_alphabetic(text: str, is_command: bool) -> Iterator[str]:
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        has_latin = _LATIN.search(word) is not None
        for label in _LABEL.findall(word):
            foreign = [character for character in label if not character.isascii() and character.isalpha()]
            alike = [character for character in label if _ascii_of(character) or _NOT_LATIN.match(character)]
            imitates = all(_ascii_of(character) for character in foreign) and (has_latin or is_command)
            if _LATIN.search(label) is not None or imitates:
                yield from alike


def _find_signs(text: str) -> Iterator[str]:
    """The signs beside ASCII: between other letters they are the punctuation of another language."""
    yield from (sign[0] for sign in _SIGN.finditer(text))
    yield from _DASH.findall(text)


def _ascii_of(character: str) -> str:
    """The ASCII letter or digit that a character looks like; empty if it is ASCII, or looks like none."""
    code = ord(character)
    if "\uff10" <= character <= "\uff5a" and chr(code - 0xFEE0).isalnum():
        return chr(code - 0xFEE0)
    if 0x1D400 <= code <= 0x1D6A3:
        return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(code - 0x1D400) % 52]
    if 0x1D7CE <= code <= 0x1D7FF:
        return str((code - 0x1D7CE) % 10)
    return _LETTER_OF.get(character, "")


def _describe(character: str) -> str:
    code = ord(character)
    name = f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    wide = chr(code - 0xFEE0) if "\uff01" <= character <= "\uff5e" else ""
    ascii_character = wide or _ascii_of(character) or _SIGN_OF.get(character, "")
    if ascii_character:
        return f"{character} ({name}) looks like {ascii_character}"
    return f"{character} ({name}) is Cyrillic" if _NOT_LATIN.match(character) else f"{character} ({name}) is not -"
