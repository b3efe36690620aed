"""A piece of the page before it has a style."""

from dataclasses import dataclass
from typing import Literal

from heald_local.page import Style
from heald_pictures.elements import Box, PictureElement, TextElement
from heald_pictures.rect import Rect

Kind = Literal["stack", "row", "grid", "layers", "table", "text", "picture", "rule"]


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
