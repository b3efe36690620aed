"""A page as it was seen: the picture, its text, and what went wrong on the way."""

from typing import Any

import msgspec

from weft.core.errors import WeftError

MAX_PIXELS = 40_000_000


class BrowserError(WeftError):
    """A page could not be rendered. The sentence says why and what to do; `kind` is a word programs can test."""

    def __init__(self, message: str, kind: str = "browser", *, url: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.url = url
        """What could not be loaded, where it is known."""


class Viewport(msgspec.Struct, frozen=True):
    """The window, in CSS pixels; `scale` device pixels make one of them."""

    width: int = 1280
    height: int = 800
    scale: float = 1.0


DESKTOP = Viewport(1280, 800)
MOBILE = Viewport(375, 812)


class TextBlock(msgspec.Struct, frozen=True):
    """One line of text on a picture: where it stands, in pixels of that picture, and its colour."""

    text: str
    x: float
    y: float
    w: float
    h: float
    colour: tuple[int, int, int] | None = None
    """Red, green, blue; None if it is not known and must be taken from the picture."""


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    picture: bytes
    """PNG."""
    size: tuple[int, int]
    """Width and height of the picture."""
    console: tuple[str, ...] = ()
    """Errors and warnings, as `error: …` and `warning: …`."""
    failed: tuple[str, ...] = ()
    """Requests that brought nothing: paths in the project, and addresses of other hosts without their query."""
    overflow: int = 0
    """CSS pixels by which the page is wider than the viewport."""
    texts: tuple[TextBlock, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()
    """What was left out, in sentences: a page that was cut, text that was not read."""
    duration_ms: int = 0
    probed: Any = None
    """What the probe answered, if one was sent."""
