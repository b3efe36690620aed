"""The typed form of a design request and of a comparison, for models that are programs and do not read prompts."""

from typing import Literal

import msgspec


class FileSpan(msgspec.Struct, frozen=True):
    """A file that the message shows: the number of its content block, and from where to where in its text."""

    path: str
    block: int
    start: int
    end: int


class SelectedElement(msgspec.Struct, frozen=True, omit_defaults=True):
    """An element that the user selected in the preview."""

    html: str
    file: str = ""
    line: int = 0
    number: int = 0
    """Which one of several that look alike, counted from 1; 0 if there is one, or it is not known."""


class DesignRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request to create or to change a design. The prompt that language models get is made from the same values."""

    kind: Literal["create", "update"] = "create"
    instruction: str = ""
    """The words of the user."""
    stack: str = "html_css"
    entry: str = "index.html"
    """The file that the preview starts from."""
    element: SelectedElement | None = None
    files: list[FileSpan] = []
    pages: list[str] = []
    """The page that each picture becomes, in their order; empty if all pictures show one page."""


DifferenceKind = Literal["missing", "extra", "unread", "text", "position", "colour", "picture", "height"]


class PageDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One difference between a page and its target. Fields that say nothing about its kind are at their defaults."""

    kind: DifferenceKind
    text: str = ""
    """The text of the block in the target."""
    page_text: str = ""
    """The text that the page shows instead."""
    colour: str = ""
    """The colour in the target, as `#rrggbb`."""
    right: int = 0
    """Pixels that the page shows it too far right; negative if it is too far left."""
    down: int = 0
    """Pixels that the page shows it too low, or is too tall; negative if it is too high, or too short."""


class PageComparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of comparing a page with its target: 1 is the same."""

    score: float
    differences: tuple[PageDifference, ...] = ()
