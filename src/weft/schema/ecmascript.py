r"""Regular expressions of ECMAScript in the words of RE2.

The two agree on most. They differ in `.`, `\s`, `\u`, `\c`, `\/`, in empty classes, in hyphens and brackets within
classes, and in the names of Unicode properties. Patterns are read as with the flag `u`, but for its strictness.
"""

import re

_SPACES = r"\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
_NO_SPACES = (
    r"\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}"
    r"\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}"
)
_DOT = r"[^\n\r\x{2028}\x{2029}]"
_ANY = r"\x{0}-\x{10ffff}"
_AROUND = re.compile(r"\(\?<?[=!]")
_HEX = re.compile(r"[0-9A-Fa-f]+\Z")
_CATEGORIES = {
    "Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me", "Combining_Mark": "M", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd",
    "Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp", "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Surrogate": "Cs",
    "Private_Use": "Co",
}  # fmt: skip


class BadPattern(ValueError):
    """No engine would take it."""


class Unsupported(ValueError):
    """RE2 cannot do it, or nobody can tell what it means."""


def translate(source: str) -> str:
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def read(self) -> str:
        written: list[str] = []
        while self._at < len(self._source):
            match self._source[self._at]:
                case "\\":
                    written.append(self._escape(within=False)[0])
                case "[":
                    written.append(self._class())
                case ".":
                    self._at += 1
                    written.append(_DOT)
                case "(" if _AROUND.match(self._source, self._at):
                    raise Unsupported("looks around")
                case other:
                    self._at += 1
                    written.append(other)
        return "".join(written)

    def _class(self) -> str:
        self._at += 1
        negated = self._take("^")
        if self._take("]"):
            return f"[{_ANY}]" if negated else f"[^{_ANY}]"
        written = ["[^" if negated else "["]
        single = False  # the last thing was one character, from which a range may go on
        while not self._take("]"):
            if self._at >= len(self._source):
                raise BadPattern("missing ]")
            if single and self._range_follows():
                self._at += 1
                character, _ = self._member()
                written.append(f"-{character}")
                single = False
                continue
            character, single = self._member()
            written.append(character)
        return "".join([*written, "]"])

    def _range_follows(self) -> bool:
        ahead = self._source[self._at : self._at + 3]
        return ahead[:1] == "-" and ahead[1:2] not in ("", "]") and not re.match(r"-\\[dDwWsSpP]", ahead)

    def _member(self) -> tuple[str, bool]:
        """A member of a class, and whether it is one character."""
        character = self._source[self._at]
        if character == "\\":
            return self._escape(within=True)
        self._at += 1
        return (f"\\{character}" if character in "[-^&~" else character), True

    def _escape(self, *, within: bool) -> tuple[str, bool]:
        """What an escape means, and whether it is one character."""
        letter = self._source[self._at + 1 : self._at + 2]
        self._at += 2
        match letter:
            case "":
                raise BadPattern("trailing \\")
            case "d" | "D" | "w" | "W":
                return f"\\{letter}", False
            case "s" | "S":
                spaces = _SPACES if letter == "s" else _NO_SPACES
                return (spaces if within else f"[{spaces}]"), False
            case "p" | "P":
                return self._property(letter, within), False
            case "b" if within:
                return r"\x{8}", True
            case "b" | "B" | "A" | "z" if not within:
                return f"\\{letter}", False
            case "t" | "n" | "r" | "f" | "v":
                return f"\\{letter}", True
            case "0" if not self._source[self._at : self._at + 1].isdigit():
                return r"\x{0}", True
            case "c" if re.match(r"[A-Za-z]", self._source[self._at : self._at + 1]):
                self._at += 1
                return rf"\x{{{ord(self._source[self._at - 1]) % 32:x}}}", True
            case "x":
                return rf"\x{{{self._digits(2):x}}}", True
            case "u":
                return rf"\x{{{self._code_point():x}}}", True
            case _ if letter.isalnum() and letter.isascii():
                raise Unsupported(f"the escape \\{letter}")
            case _:
                return (letter if letter == "_" or not letter.isascii() else f"\\{letter}"), True

    def _property(self, letter: str, within: bool) -> str:
        if not self._take("{"):
            raise Unsupported("a property without a name")
        name, closed, _ = self._source[self._at :].partition("}")
        if not closed:
            raise BadPattern("missing }")
        self._at += len(name) + 1
        keyword, equals, value = name.partition("=")
        if equals and keyword not in ("General_Category", "gc", "Script", "sc", "Script_Extensions", "scx"):
            raise Unsupported(f"the property {name[:80]}")
        name = value if equals else name
        if name in ("ASCII", "Any"):
            inside = (name == "ASCII") == (letter == "p")
            ranges = (r"\x{0}-\x{7f}" if inside else r"\x{80}-\x{10ffff}") if name == "ASCII" else _ANY
            if name == "Any" and letter == "P":
                raise Unsupported("no character at all")
            return ranges if within else f"[{ranges}]"
        return f"\\{letter}{{{_CATEGORIES.get(name, name)}}}"

    def _code_point(self) -> int:
        if self._take("{"):
            digits, closed, _ = self._source[self._at :].partition("}")
            if not closed or not _HEX.match(digits) or int(digits, 16) > 0x10FFFF:
                raise BadPattern("an escape \\u that names no character")
            self._at += len(digits) + 1
            return int(digits, 16)
        code = self._digits(4)
        if not 0xD800 <= code < 0xE000:
            return code
        if code < 0xDC00 and self._source.startswith("\\u", self._at):
            self._at += 2
            low = self._digits(4)
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        raise Unsupported("half a surrogate pair")

    def _digits(self, count: int) -> int:
        digits = self._source[self._at : self._at + count]
        if len(digits) < count or not _HEX.match(digits):
            raise BadPattern("an escape that names no character")
        self._at += count
        return int(digits, 16)

    def _take(self, character: str) -> bool:
        if not self._source.startswith(character, self._at):
            return False
        self._at += len(character)
        return True
