"""Writes untrusted text so that a person who decides on it sees all of it.

Nothing is deleted. A character that a screen hides, moves or merges with others is written as an escape between `⟦` and
`⟧`, such as `⟦\\x1b⟧` or `⟦\\u202e⟧`; a run of four or more is written once, with its length: `⟦\\u200b×500⟧`. These
brackets are escaped themselves, so no text can imitate an escape, and a backslash outside of brackets is a backslash.
`web/src/parts/visible_text.ts` does the same in the page; both pass the cases of `visible_text_cases.json`.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.look_alikes import describe_look_alikes

CHARACTERS, LINES = 4_000, 24
"""The longest excerpt: characters as they are displayed, and lines."""
_C0 = "\x00-\x08\x0b-\x1f"
_HIDDEN = (
    "\x7f-\xa0\xad"  # DEL, C1, no-break space, soft hyphen
    "\u034f\u061c\u070f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"  # joiners, fillers, Mongolian selectors
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"  # spaces, zero width, bidirectional, Braille blank
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U00013430-\U00013455\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff"  # tags, variation selectors, private use
)
_MARKS = (
    "\u0300-\u034e\u0350-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0951-\u0954\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302d"
    "\u3099\u309a\ufe20-\ufe2f\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001e8d0-\U0001e8d6"
)
"""Marks that are drawn at the character before them, in any number."""
_MAX_MARKS = 3
"""Marks at one letter that are not escaped: no language writes more."""
_OTHERS = rf"[⟦⟧]| {{64,}}|[{_MARKS}]+"
_SPECIAL = lazy_pattern(rf"(?P<hidden>[{_C0}{_HIDDEN}])(?P=hidden)*|\t{{16,}}|{_OTHERS}")
_SPECIAL_IN_LINE = lazy_pattern(rf"(?P<hidden>[\t\n{_C0}{_HIDDEN}])(?P=hidden)*|{_OTHERS}")
_SPECIAL_IN_EXCERPT = lazy_pattern(
    r"(?P<blank>\n(?:[ \t]*\n){4,}|\A(?:[ \t]*\n){4,})"
    rf"|(?P<hidden>[{_C0}{_HIDDEN}])(?P=hidden)*|\t{{16,}}|{_OTHERS}"
)
_OVERLAY = lazy_pattern("[\u0334-\u0338\u0488\u0489\u1abe\u20d0-\u20ff]")
"""Marks that are drawn over the character before them or around it."""
_SAME = lazy_pattern(r"(.)\1*", re.S)
_RIGHT_TO_LEFT = lazy_pattern(
    "[\u05be-\u05ff\u061b\u061d-\u064a\u0671-\u06d5\u06ee-\u070e\u0710-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_IN_JSON = lazy_pattern(rf"[{_HIDDEN}{_MARKS}]")
_BYTE = lazy_pattern(r"⟦\\udc([89a-f][0-9a-f])(×\d+)?⟧")
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


class Excerpt(msgspec.Struct, frozen=True):
    """Rows to display, and the number of characters that they leave out."""

    rows: list[str]
    left_out: int


def escape_hidden(text: str) -> str:
    """Return the text with hidden characters escaped. Line breaks and tabs stay."""
    if _SPECIAL.search(text) is None:
        return text
    return "".join(piece.escaped for piece in _split(text, _SPECIAL))


def escape_line(text: str) -> str:
    """Return the text on one line, with line breaks and tabs escaped too."""
    return "".join(piece.escaped for piece in _split(text, _SPECIAL_IN_LINE))


def name_bytes(escaped: str) -> str:
    """Return an escaped text that was decoded with `surrogateescape` with what is not UTF-8 as `⟦byte ff⟧`."""
    return _BYTE.sub(r"⟦byte \1\2⟧", escaped)


def escape_json(text: str) -> str:
    """Return the same JSON with the hidden characters of its strings written as JSON escapes."""
    return _IN_JSON.sub(lambda hidden: _json_escape(hidden[0]), text)


def cut_line(text: str, characters: int = CHARACTERS) -> str:
    """Return the text on one line. The middle of a long one is left out."""
    return "".join(_excerpt(text, _SPECIAL_IN_LINE, characters, 1).rows)


def excerpt(text: str, *, characters: int = CHARACTERS, lines: int = LINES) -> Excerpt:
    """Return the rows of a text. The middle of a long one is left out, and blank lines in a row are counted."""
    return _excerpt(text, _SPECIAL_IN_EXCERPT, characters, lines)


def _excerpt(text: str, special: "re.Pattern[str]", characters: int, lines: int) -> Excerpt:
    edge = 4 * characters
    is_long = len(text) > 2 * edge
    first = list(_split(text[:edge] if is_long else text, special))
    if not is_long and _length(first) <= characters and sum(piece.breaks for piece in first) < lines:
        return Excerpt(_rows(first), 0)
    last = list(_split(text[-edge:], special)) if is_long else first
    head = _fitting_pieces(first, characters * 2 // 3, max(lines * 2 // 3, 1))
    tail = _fitting_pieces(last[::-1], characters - characters * 2 // 3, max(lines - lines * 2 // 3, 1), from_end=True)[
        ::-1
    ]
    start, end = sum(piece.length for piece in head), len(text) - sum(piece.length for piece in tail)
    middle = text[start:end]
    return Excerpt([*_rows(head), _left_out(middle), *_rows(tail)], len(middle))


def whole_rows(text: str) -> list[str]:
    """Return the rows of all of a text."""
    return escape_hidden(text).split("\n")


def count_hidden(text: str) -> int:
    """Count the characters that a screen does not show, or shows at another place."""
    return sum(piece.hidden for piece in _split(text, _SPECIAL)) if _SPECIAL.search(text) else 0


def describe_hidden(text: str, *, is_command: bool = False) -> list[str]:
    """Return notes about characters that deceive a reader. In a command, they are about punctuation as well."""
    notes: list[str] = []
    if count := count_hidden(text):
        notes.append(f"contains {count:,} hidden character{'s' * (count != 1)}, written as ⟦…⟧")
    if text.isascii():
        return notes
    if _RIGHT_TO_LEFT.search(text):
        notes.append("contains right-to-left letters, which a screen may show in another order")
    if look_alikes := describe_look_alikes(text, is_command=is_command):
        notes.append(look_alikes)
    return notes


class _Piece(msgspec.Struct, frozen=True):
    """A part of a text as it is displayed, and its length in the text. Only a plain one may be cut."""

    escaped: str
    length: int
    hidden: int = 0
    is_plain: bool = False

    @property
    def breaks(self) -> int:
        return self.escaped.count("\n")


def _split(text: str, special: "re.Pattern[str]") -> Iterator[_Piece]:
    end = 0
    for match in special.finditer(text):
        if match.start() > end:
            yield _plain(text[end : match.start()])
        end = match.end()
        run = match[0]
        if match["hidden"] is not None:
            yield from _escape_run(run, is_hidden=True)
        elif run[-1] == "\n":  # only an excerpt counts blank lines
            yield _blank_lines(run)
        elif run[0] in "⟦⟧ \t":
            yield from _escape_run(run, is_hidden=False)
        else:
            yield from _escape_marks(run, text[match.start() - 1 : match.start()])
    if end < len(text):
        yield _plain(text[end:])


def _plain(text: str) -> _Piece:
    return _Piece(text, len(text), is_plain=True)


def _escape_run(run: str, *, is_hidden: bool) -> Iterator[_Piece]:
    name = escape_name(run[0])
    if len(run) >= 4:
        yield _Piece(f"⟦{name}×{len(run)}⟧", len(run), len(run) * is_hidden)
        return
    for _ in run:
        yield _Piece(f"⟦{name}⟧", 1, int(is_hidden))


def _escape_marks(marks: str, base: str) -> Iterator[_Piece]:
    overlay = _OVERLAY.search(marks)
    count = min(_MAX_MARKS, overlay.start() if overlay is not None else len(marks)) if base.isalpha() else 0
    if count:
        yield _plain(marks[:count])
    for same in _SAME.finditer(marks, count):
        yield from _escape_run(same[0], is_hidden=True)


def _blank_lines(run: str) -> _Piece:
    start = "\n" if run[0] == "\n" and run.count("\n") > 4 else ""
    count = run.count("\n") - len(start)
    return _Piece(f"{start}⟦{count:,} blank lines⟧\n", len(run))


def _fitting_pieces(pieces: Sequence[_Piece], characters: int, lines: int, *, from_end: bool = False) -> list[_Piece]:
    """Return the pieces at the beginning that fit. Of pieces in reverse order, a plain one is cut at its start."""
    fitting: list[_Piece] = []
    for piece in pieces:
        if len(piece.escaped) <= characters and piece.breaks < lines:
            fitting.append(piece)
            characters, lines = characters - len(piece.escaped), lines - piece.breaks
            continue
        if piece.is_plain and characters:
            part = piece.escaped[-characters:] if from_end else piece.escaped[:characters]
            rows = part.split("\n")
            fitting.append(_plain("\n".join(rows[-lines:] if from_end else rows[:lines])))
        break
    return fitting


def _rows(pieces: Sequence[_Piece]) -> list[str]:
    return "".join(piece.escaped for piece in pieces).split("\n")


def _length(pieces: Sequence[_Piece]) -> int:
    return sum(len(piece.escaped) for piece in pieces)


def _left_out(text: str) -> str:
    count, breaks = len(text), text.count("\n")
    lines = f", {breaks:,} line break{'s' * (breaks != 1)}" if breaks else ""
    return f"⟦… {count:,} character{'s' * (count != 1)}{lines} left out⟧"


def escape_name(character: str) -> str:
    r"""Return the escape of a character, such as `\u202e`."""
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
