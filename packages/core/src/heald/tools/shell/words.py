"""Words of a shell line: what is written, and what the shell puts there when the line runs."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.rule_pattern import may_match

_PLAIN = lazy_pattern(r"[^\s'\"\\;&|<>()#]+\Z")

Kind = Literal["text", "words", "names", "path", "number"]
"""What an expansion becomes: any text, any number of words, names of files, a path that begins with `/`, digits."""


class Expansion(msgspec.Struct, frozen=True):
    """A part of a word that the shell replaces."""

    source: str
    """The text in the line."""
    kind: Kind


Piece = str | Expansion


class Word(msgspec.Struct, frozen=True):
    """A word without its quotes."""

    pieces: tuple[Piece, ...]
    is_quoted: bool = False
    """Whether a part of it was quoted: then it is not a reserved word."""

    @classmethod
    def of(cls, text: str) -> "Word":
        """Return a word that is written out."""
        return cls((text,) if text else (), is_quoted=True)

    @property
    def text(self) -> str:
        return "".join(piece if isinstance(piece, str) else piece.source for piece in self.pieces)

    @property
    def literal(self) -> str | None:
        """The text of a word that is written out. None: the shell replaces something in it."""
        return self.text if all(isinstance(piece, str) for piece in self.pieces) else None

    @property
    def is_single(self) -> bool:
        """Whether it becomes exactly one word."""
        return all(isinstance(piece, str) or piece.kind not in ("words", "names") for piece in self.pieces)

    @property
    def is_number(self) -> bool:
        """Whether it becomes a whole number."""
        return bool(self.pieces) and all(
            piece.lstrip("+-").isdecimal() if isinstance(piece, str) else piece.kind == "number"
            for piece in self.pieces
        )

    @property
    def may_be_option(self) -> bool:
        """Whether it can become an option, or several words of which one is."""
        if any(isinstance(piece, Expansion) and piece.kind == "words" for piece in self.pieces):
            return True
        if not self.pieces:
            return False
        first = self.pieces[0]
        return first.startswith("-") if isinstance(first, str) else first.kind not in ("path", "number")

    def may_be(self, patterns: Sequence[str]) -> bool:
        """Whether it can become a word that matches one of the patterns, or several words of which one does."""
        if not patterns:
            return False
        if any(isinstance(piece, Expansion) and piece.kind == "words" for piece in self.pieces):
            return True
        outline = [piece if isinstance(piece, str) else None for piece in self.pieces]
        return any(may_match(pattern, outline) for pattern in patterns)

    def spell(self) -> tuple[Piece, ...]:
        """Return the word as a rule names it: quoted if it has characters that mean something to the shell."""
        text = self.text
        if text and _PLAIN.match(text):
            return self.pieces
        escaped = (piece.replace("'", "'\\''") if isinstance(piece, str) else piece for piece in self.pieces)
        return ("'", *escaped, "'")


def spell_words(words: Iterable[Word]) -> tuple[Piece, ...]:
    """Return words with single spaces between them, as a rule names them."""
    pieces: list[Piece] = []
    for word in words:
        if pieces:
            pieces.append(" ")
        pieces += word.spell()
    return tuple(pieces)


def source_text(pieces: Iterable[Piece]) -> str:
    """Return pieces as one text, expansions as they are written."""
    return "".join(piece if isinstance(piece, str) else piece.source for piece in pieces)


ANYTHING = Word((Expansion("…", "words"),))
"""Words that a program adds to a command by itself, as `xargs` does."""
