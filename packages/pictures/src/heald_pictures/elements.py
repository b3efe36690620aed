"""The elements of a screenshot: boxes, texts and pictures with their styles.

All are frozen. Lengths are CSS pixels from the top left corner of the page; colours are `#rrggbb`.
"""

from dataclasses import dataclass
from html import escape
from typing import Literal

from heald_pictures.picture_source import PictureSource
from heald_pictures.rect import Rect
from heald_pictures.scripts import wide_letter

Family = Literal[
    "sans", "system", "wide", "narrow", "serif", "book", "broad", "mono", "code", "cjk", "hebrew", "arabic", "naskh"
]
Align = Literal["left", "center", "right"]
PictureKind = Literal["photo", "icon", "unread", "ground", "chart"]  # a ground is a photograph behind the text of a box


@dataclass(frozen=True, slots=True)
class Border:
    """Widths of top, right, bottom and left; 0 where there is none."""

    widths: tuple[float, float, float, float]
    colour: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Shadow:
    x: float
    y: float
    blur: float
    alpha: float


@dataclass(frozen=True, slots=True)
class Gradient:
    """From one colour to another, by way of stops; the angle is CSS's: 180 goes down, 90 to the right.

    With a `middle` it goes outward from there, up to `reach`; all these are parts of the box's width and height.
    """

    angle: float
    start: str
    end: str
    stops: tuple[tuple[float, str], ...] = ()  # places from 0 to 1, and colours
    middle: tuple[float, float] | None = None
    reach: tuple[float, float] = (1.0, 1.0)

    @property
    def steps(self) -> tuple[tuple[float, str], ...]:
        """All places and colours, with the first and the last."""
        return ((0.0, self.start), *self.stops, (1.0, self.end))

    @property
    def css(self) -> str:
        inner = [f"{colour} {100 * place:.3g}%" for place, colour in self.stops]
        colours = ", ".join((self.start, *inner, self.end))
        if self.middle is None:
            return f"linear-gradient({self.angle:g}deg, {colours})"
        wide, high, across, down = (f"{100 * part:.4g}%" for part in (*self.reach, *self.middle))
        return f"radial-gradient({wide} {high} at {across} {down}, {colours})"


ControlKind = Literal["checkbox", "radio", "switch", "slider"]


@dataclass(frozen=True, slots=True)
class Control:
    """The state of a control: on or off, or the place of a slider's thumb from 0 to 1; its colour and its knob's."""

    kind: ControlKind
    on: bool
    value: float
    colour: str
    knob: str


@dataclass(frozen=True, slots=True)
class Box:
    """A filled or bordered rectangle: a card, a band, a button, a line between two things."""

    rect: Rect
    fill: str
    radius: float = 0.0
    border: Border | None = None
    shadow: Shadow | None = None
    gradient: Gradient | None = None
    image: str = ""  # the name of the picture that fills it
    control: Control | None = None  # what it is and shows, if it is a control with a state


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
class TextLine:
    """A line of text. `ink` is the area of its ink, `rect` that of the line box."""

    text: str
    ink: Rect
    rect: Rect
    style: TextStyle
    baseline: float
    sure: float
    likeness: float = 1.0  # how well the same text, drawn in this style, matches the picture: 1 is the same


@dataclass(frozen=True, slots=True)
class TextElement:
    """Lines that belong together: a heading, a label, a paragraph."""

    lines: tuple[TextLine, ...]
    rect: Rect
    style: TextStyle
    align: Align
    line_height: float
    runs: tuple["TextElement", ...] = ()  # its pieces in reading order, if they have several styles
    marker: str = ""  # the bullet before it, by its name in CSS, or its number in a list

    @property
    def text(self) -> str:
        joined = ""
        for line in self.lines:
            joined += (" " if joined and not _joins_without_space(joined[-1], line.text[:1]) else "") + line.text
        return joined


@dataclass(frozen=True, slots=True)
class Shape:
    """An element of SVG, such as a path; its text if it is one, its children if it is a group."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    text: str = ""
    children: tuple["Shape", ...] = ()


ICON_NAME = "data-icon"
"""The attribute of a drawing that names the icon in it."""


@dataclass(frozen=True, slots=True)
class PictureElement:
    """A part of the screenshot that becomes a picture of the page."""

    rect: Rect
    kind: PictureKind
    name: str
    data: bytes  # a PNG file
    radius: float = 0.0
    shapes: tuple[Shape, ...] = ()  # the same as vector graphics, if it could be traced
    colour: str = ""  # the current colour of the shapes
    label: str = ""  # a description of the shapes; empty if they are decoration
    icon: str = ""  # the name of the icon that was recognised in it
    view: str = ""  # the part of the drawing that is shown, if it is not as large as the picture: a viewBox
    paint: tuple[tuple[str, str], ...] = ()  # attributes that all shapes inherit

    @property
    def view_box(self) -> str:
        """The part of the drawing that is shown, as SVG writes it."""
        return self.view or f"0 0 {self.rect.w:g} {self.rect.h:g}"

    @property
    def vector(self) -> str:
        """The shapes as an SVG file; empty if there are none."""
        place = f'xmlns="http://www.w3.org/2000/svg" width="{self.rect.w:g}" height="{self.rect.h:g}"'
        return f"{self.draw(place)}\n" if self.shapes else ""

    def draw(self, place: str) -> str:
        """Write the shapes as an element of SVG with these attributes."""
        colour = f' color="{self.colour}"' if self.colour else ""
        colour += "".join(f' {name}="{value}"' for name, value in self.paint)
        inside = "".join(_write_shape(shape) for shape in self.shapes)
        return f'<svg {place} viewBox="{self.view_box}"{colour}>{inside}</svg>'

    @property
    def path(self) -> str:
        """Where it lies in the files of the page."""
        return f"assets/{self.name}.{'svg' if self.vector else 'png'}"

    @property
    def content(self) -> bytes:
        """The bytes of its file."""
        return self.vector.encode() if self.vector else self.data


def _write_shape(shape: Shape) -> str:
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in shape.attributes)
    inside = escape(shape.text, quote=False) + "".join(_write_shape(child) for child in shape.children)
    return f"<{shape.tag}{attributes}>{inside}</{shape.tag}>" if inside else f"<{shape.tag}{attributes}/>"


@dataclass(frozen=True, slots=True)
class Detection:
    """All elements of a screenshot. `rough` if the text has not been read yet."""

    width: int
    height: int
    ratio: int
    lossy: bool
    background: str
    boxes: tuple[Box, ...]
    texts: tuple[TextElement, ...]
    pictures: tuple[PictureElement, ...]
    notes: tuple[str, ...]
    rough: bool = False
    text_places: tuple[Rect, ...] = ()  # all that looks like text, whether or not it was read
    drawn: bool = False  # whether it is a sketch: places are those of the tidy page, not of the picture
    photographed: bool = False  # whether it is the photograph of a screen

    @property
    def source(self) -> PictureSource:
        return "sketch" if self.drawn else "photo" if self.photographed else "page"


def _joins_without_space(last: str, first: str) -> bool:
    return wide_letter(last) and wide_letter(first) and not ("\uac00" <= last <= "\ud7af")
