"""An element as it is written in a source, with the positions of its parts."""

from collections.abc import Iterator
from typing import Literal

import msgspec

Syntax = Literal["html", "jsx", "vue", "braces"]


class MarkupAttribute(msgspec.Struct, frozen=True):
    """An attribute of a start tag. Positions count from the start of the file."""

    name: str
    start: int
    end: int
    value_start: int = -1
    """Where the value begins, behind its quote or brace; -1 if it has none."""
    value_end: int = -1
    quote: str = ""
    """A quote, `{` for an expression of JSX, empty for a value without quotes."""

    @property
    def is_expression(self) -> bool:
        return self.quote == "{"


class MarkupElement(msgspec.Struct, eq=False):
    """An element in a source. The root of a file has no name."""

    name: str
    syntax: Syntax
    start: int
    open_end: int
    """Behind the start tag."""
    name_end: int = 0
    content_end: int = -1
    """Where its end tag begins; -1 if it has none."""
    end: int = -1
    """Behind its end tag, or behind the start tag if it has none."""
    attributes: dict[str, MarkupAttribute] = {}
    children: list["MarkupElement"] = []
    """The elements that are written directly between its tags."""
    inner: list["MarkupElement"] = []
    """Elements inside expressions: of an attribute, or between its tags."""
    parent: "MarkupElement | None" = None
    expressions: list[tuple[int, int]] = []
    """Where the expressions between its tags stand."""

    def walk(self) -> Iterator["MarkupElement"]:
        """Yield the element and all below it."""
        pending: list[MarkupElement] = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed([*element.children, *element.inner]))
