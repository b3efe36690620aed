"""The text nodes of a rendered page, word by word, and the box of one of its elements."""

from importlib.resources import files

import msgspec

from heald_pictures.rect import Rect, hull
from heald_studio.browser.page import BrowserError
from heald_studio.browser.tab import Tab

_SCRIPT = (files("heald_studio.causes") / "rendered_texts.js").read_text("utf-8").partition("\n(selector")[2]
MAX_WORDS = 20_000


class PageWord(msgspec.Struct, frozen=True, array_like=True):
    """A word and its place on the page, in CSS pixels."""

    text: str
    x: float
    y: float
    w: float
    h: float

    @property
    def rect(self) -> Rect:
        return Rect(self.x, self.y, self.w, self.h)


class TextNode(msgspec.Struct, frozen=True):
    """A text node that a person can see."""

    path: str
    """The selector of its element."""
    words: list[PageWord]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def rect(self) -> Rect:
        return hull(word.rect for word in self.words)


class PageElement(msgspec.Struct, frozen=True):
    path: str
    tag: str
    box: tuple[float, float, float, float]
    painted: list[tuple[float, float, float, float]]
    """The boxes of it that are painted: its own, or the outermost ones in it."""
    texts: list[int]
    """The text nodes in it, by their place in the list of the page."""
    mark: str = ""
    """Where it is written, if a script makes it and the preview says so."""

    @property
    def rect(self) -> Rect:
        return Rect(*self.box)


class RenderedTexts(msgspec.Struct, frozen=True):
    """The texts of a page, in the order of the document."""

    width: float
    height: float
    texts: list[TextNode]
    element: PageElement | None = None


async def read_texts(tab: Tab, selector: str = "") -> RenderedTexts:
    """Read the texts of the page that a tab shows."""
    try:
        return msgspec.convert(
            await tab.evaluate("(selector" + _SCRIPT, selector, MAX_WORDS), RenderedTexts, strict=False
        )
    except msgspec.ValidationError:
        raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine") from None
