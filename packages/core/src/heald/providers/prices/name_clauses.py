"""Clauses that match the names of models in the price list."""

import re
from typing import TypeAlias, assert_never

import msgspec


class Equals(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="equals"):
    text: str


class StartsWith(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="starts_with"):
    text: str


class EndsWith(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="ends_with"):
    text: str


class Contains(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="contains"):
    text: str


class Regex(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="regex"):
    """A pattern that matches anywhere in the name."""

    pattern: str


class AnyOf(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="any"):
    clauses: "tuple[Clause, ...]"


class AllOf(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="all"):
    clauses: "tuple[Clause, ...]"


Clause: TypeAlias = Equals | StartsWith | EndsWith | Contains | Regex | AnyOf | AllOf


def matches(clause: Clause, name: str) -> bool:
    match clause:
        case Equals(text):
            return name == text
        case StartsWith(text):
            return name.startswith(text)
        case EndsWith(text):
            return name.endswith(text)
        case Contains(text):
            return text in name
        case Regex(pattern):
            return re.search(pattern, name) is not None
        case AnyOf(clauses):
            return any(matches(inner, name) for inner in clauses)
        case AllOf(clauses):
            return all(matches(inner, name) for inner in clauses)
        case _:
            assert_never(clause)
