"""The subjects of a call: what the patterns of permission rules and hooks are matched against."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Protocol


class Subject(Protocol):
    """One thing that a call is about, such as a path or a command."""

    @property
    def is_known(self) -> bool:
        """Whether nothing about it is decided only when the call runs."""
        ...

    def may_match(self, pattern: str) -> bool:
        """Whether the call could do what the pattern describes: for rules that deny or ask, and for hooks."""
        ...

    def must_match(self, pattern: str) -> bool:
        """Whether the call does nothing but what the pattern describes: for rules that allow."""
        ...


class TextSubject:
    """A subject that is known to the last character."""

    is_known = True

    def __init__(self, text: str) -> None:
        self._text = text

    def may_match(self, pattern: str) -> bool:
        return fnmatchcase(self._text, pattern)

    must_match = may_match


class Subjects(tuple[str, ...]):
    """The subjects of a call as texts, and as what rules are held against.

    A tool may return plain strings instead. The texts say which files a call names; the `items` are judged.
    """

    items: tuple[Subject, ...]
    unreadable: str
    """Why the call cannot be judged: it may do anything. Empty: it can."""
    unallowable: str
    """Why no pattern of a rule allows the call, although it can be judged. Empty: one may."""

    def __new__(
        cls, texts: Iterable[str], items: Iterable[Subject] | None = None, unreadable: str = "", unallowable: str = ""
    ) -> "Subjects":
        subjects = super().__new__(cls, texts)
        subjects.items = tuple(TextSubject(text) for text in subjects) if items is None else tuple(items)
        subjects.unreadable = unreadable
        subjects.unallowable = unallowable
        return subjects
