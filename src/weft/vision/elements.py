"""Data types of the converter: geometry, the elements found on a screenshot, and the tree that becomes a page.

All are frozen. Lengths are CSS pixels from the top left corner of the page; colours are `#rrggbb`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeVar

from weft.core.errors import WeftError

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle in page pixels; `right` and `bottom` are the first pixel outside."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    @property
    def area(self) -> float:
        return self.w * self.h

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    def common(self, other: "Rect") -> float:
        wide = min(self.right, other.right) - max(self.x, other.x)
        high = min(self.bottom, other.bottom) - max(self.y, other.y)
        return wide * high if wide > 0 and high > 0 else 0.0

    def holds(self, other: "Rect", slack: float = 0.0) -> bool:
        across = other.x >= self.x - slack and other.right <= self.right + slack
        return across and other.y >= self.y - slack and other.bottom <= self.bottom + slack

    def grown(self, by: float) -> "Rect":
        return Rect(self.x - by, self.y - by, max(self.w + 2 * by, 0), max(self.h + 2 * by, 0))

    def within(self, width: float, height: float) -> "Rect":
        """Return the part that lies on a page of this size."""
        x, y = min(max(self.x, 0), width), min(max(self.y, 0), height)
        return Rect(x, y, max(min(self.right, width) - x, 0), max(min(self.bottom, height) - y, 0))


def spanning(edges: tuple[float, float, float, float]) -> Rect:
    left, top, right, bottom = edges
    return Rect(left, top, right - left, bottom - top)


def hull(rects: Iterable[Rect]) -> Rect:
    """Return the smallest rectangle around all; there must be at least one."""
    every = list(rects)
    left, top = min(rect.x for rect in every), min(rect.y for rect in every)
    return Rect(left, top, max(rect.right for rect in every) - left, max(rect.bottom for rect in every) - top)


def cut(items: Sequence[Item], span: Callable[[Item], tuple[float, float]], gap: float = 0.0) -> list[list[Item]]:
    """Group items along one axis: those whose spans overlap by more than a pixel, or lie nearer than `gap`."""
    ordered = sorted(items, key=lambda item: span(item)[0])
    groups: list[list[Item]] = []
    reach = float("-inf")
    for item in ordered:
        start, end = span(item)
        if not groups or start >= reach - 1 + gap:
            groups.append([])
        groups[-1].append(item)
        reach = max(reach, end) if len(groups[-1]) > 1 else end
    return groups


def is_even(values: Sequence[float], slack: float) -> bool:
    """Whether all values are within `slack` of their middle."""
    return not values or max(values) - min(values) <= 2 * slack


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
        wide, high, across, down = (f"{100 * each:.4g}%" for each in (*self.reach, *self.middle))
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
    marker: str = ""  # the bullet before it, by its name in CSS

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
    """A part of the screenshot that is kept as a picture."""

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


def wide_letter(letter: str) -> bool:
    """Whether a letter belongs to a script that is written without spaces."""
    return "\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af" or "\uf900" <= letter <= "\uffef"


def _joins_without_space(last: str, first: str) -> bool:
    return wide_letter(last) and wide_letter(first) and not ("\uac00" <= last <= "\ud7af")


Kind = Literal["stack", "row", "grid", "layers", "table", "text", "picture", "rule"]
Style = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the page before it has a style.

    A `stack` holds its children one below the other, a `row` side by side, a `grid` in equal columns, `layers` over
    each other, a `table` rows of cells. `box` is painted behind them.
    """

    kind: Kind
    rect: Rect
    children: tuple["Part", ...] = ()
    box: Box | None = None
    text: TextElement | None = None
    picture: PictureElement | None = None
    columns: int = 0
    tag: str = "div"
    name: str = ""
    attributes: Style = ()


@dataclass(frozen=True, slots=True)
class Node:
    """An element of the page. `name` is the stem of its class, `lines` its text."""

    tag: str
    name: str
    style: Style = ()
    narrow: Style = ()  # changes on a narrow screen
    attributes: Style = ()
    lines: tuple[str, ...] = ()
    children: tuple["Node", ...] = ()


LEFTWARD = frozenset({"ar", "he"})
"""Languages that are written from right to left."""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: its body, its pictures, and the style of the body."""

    title: str
    language: str
    width: int
    height: int
    style: Style
    body: tuple[Node, ...]
    assets: tuple[tuple[str, bytes], ...]
    detection: Detection  # for writers that place elements absolutely
    notes: tuple[str, ...] = ()

    @property
    def is_leftward(self) -> bool:
        """Whether it is read from right to left."""
        return self.language in LEFTWARD


def is_leftward(text: str) -> bool:
    """Whether a text has letters that are written from right to left."""
    return any("\u0590" <= letter <= "\u08ff" for letter in text)


def walk_nodes(nodes: tuple[Node, ...]) -> list[Node]:
    """Return all nodes, parents first."""
    found: list[Node] = []
    for node in nodes:
        found.append(node)
        found += walk_nodes(node.children)
    return found


class VisionError(WeftError):
    """The picture cannot be used, or the models are missing."""

    code = "invalid_request"


class PictureTooLarge(VisionError):
    """The picture has too many pixels or bytes."""


class UnreadablePicture(VisionError):
    """The bytes are no picture, or a damaged one."""


class ModelsMissing(VisionError):
    """The text models of the `local` extra are not installed."""

    code = "configuration"
