"""The cause of an element of a page: its place in the picture, the lines that make it, and who wrote those for whom."""

from typing import Literal

import msgspec

from heald_studio.causes.writings import Writing

PlaceKind = Literal["text", "shape", "position"]
LineKind = Literal["markup", "style"]


class CausePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A rectangle of a picture of the project."""

    picture: str
    """The blob of the picture."""
    width: int
    height: int
    """Of the picture, in its pixels."""
    rect: tuple[float, float, float, float]
    """Left, top, width and height, in pixels of the picture."""
    found_by: PlaceKind
    """text: its text was found there. shape: a matching box or picture. position: not found, estimated."""
    likeness: float
    """The share of its letters that were read there, from 0 to 1."""


class CauseLine(msgspec.Struct, frozen=True):
    number: int
    text: str
    writing: int
    """What wrote it: its place in the list of the cause."""


class CauseLines(msgspec.Struct, frozen=True):
    """Lines of a file that make the element."""

    file: str
    kind: LineKind
    lines: list[CauseLine]
    cut: int
    """How many more lines there are."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Where an element of a page comes from."""

    path: str
    """The selector of the element."""
    tag: str
    text: str
    """The first words that it shows."""
    place: CausePlace | None
    """None if the project began without a picture."""
    lines: list[CauseLines]
    """Empty if no file of the project has the element, because a script makes it."""
    writings: list[Writing]
    """What wrote the lines, the one with the most lines first."""
