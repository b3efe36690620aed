"""What was seen on a screenshot, as plain frozen data: boxes, texts, pictures, and notes about what stays unknown.

All lengths are CSS pixels from the page's top left corner; colours are `#rrggbb`.
"""

from dataclasses import dataclass
from typing import Literal

from weft.vision.geometry import Rect

Family = Literal[
    "sans", "system", "wide", "narrow", "serif", "book", "broad", "mono", "code", "cjk", "hebrew", "arabic", "naskh"
]
Align = Literal["left", "center", "right"]
PictureKind = Literal["photo", "icon", "unread", "ground"]
"""A ground is a photograph that a box shows behind its text."""


@dataclass(frozen=True, slots=True)
class Border:
    """Widths of top, right, bottom and left; 0 where there is none."""

    widths: tuple[float, float, float, float]
    colour: str


@dataclass(frozen=True, slots=True)
class Shadow:
    x: float
    y: float
    blur: float
    alpha: float


@dataclass(frozen=True, slots=True)
class Gradient:
    """From one colour to another; the angle is CSS's: 180 goes down, 90 to the right."""

    angle: float
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Box:
    """A filled or bordered rectangle: a card, a band, a button, a line between two things."""

    rect: Rect
    fill: str
    radius: float = 0.0
    border: Border | None = None
    shadow: Shadow | None = None
    gradient: Gradient | None = None
    image: str = ""
    """The name of the picture that fills it."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    family: Family
    size: float
    weight: int
    italic: bool
    colour: str
    spacing: float = 0.0
    underline: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text. `ink` is what is dark, `rect` the line as laid out: from its origin, one line height tall."""

    text: str
    ink: Rect
    rect: Rect
    style: TextStyle
    baseline: float
    sure: float
    likeness: float = 1.0
    """How well the same text, drawn in this style, matches the picture: 1 is the same."""


@dataclass(frozen=True, slots=True)
class Text:
    """Lines that belong together: a heading, a label, a paragraph."""

    lines: tuple[Line, ...]
    rect: Rect
    style: TextStyle
    align: Align
    line_height: float

    @property
    def text(self) -> str:
        joined = ""
        for line in self.lines:
            joined += (" " if joined and not _tight(joined[-1], line.text[:1]) else "") + line.text
        return joined


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of the screenshot that is kept as it is."""

    rect: Rect
    kind: PictureKind
    name: str
    data: bytes
    """A PNG file."""
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A whole screenshot. `rough` if the text has not been read yet."""

    width: int
    height: int
    ratio: int
    lossy: bool
    background: str
    boxes: tuple[Box, ...]
    texts: tuple[Text, ...]
    pictures: tuple[Picture, ...]
    notes: tuple[str, ...]
    rough: bool = False


def wide_letter(letter: str) -> bool:
    """Whether this letter belongs to a script that is written without spaces."""
    return "\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af" or "\uf900" <= letter <= "\uffef"


def _tight(last: str, first: str) -> bool:
    return wide_letter(last) and wide_letter(first) and not ("\uac00" <= last <= "\ud7af")
