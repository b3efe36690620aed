"""The typed form of a design request and of a comparison, for models that are programs and do not read prompts."""

from typing import Literal

import msgspec

from heald.core.json import JsonObject
from heald.core.messages import Message

PictureKind = Literal["", "page", "sketch", "photo"]
"""A screenshot of a page, a drawing by hand, or the photograph of a screen."""


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
    picture_kind: PictureKind = ""
    """What the pictures are; empty if that is to be found out."""
    scale: int = 0
    """Pixels of the pictures for each CSS pixel; 0 if that is to be found out."""


def design_of(message: Message) -> DesignRequest | None:
    """Return the design request that a message holds as data; None if it holds none."""
    if message.structured is None:
        return None
    try:
        return msgspec.convert(message.structured, DesignRequest)
    except msgspec.ValidationError:
        return None  # the request of another program


def design_data(request: DesignRequest) -> JsonObject:
    """Return a design request as the data of a message: `Message(…, structured=design_data(request))`."""
    return msgspec.to_builtins(request)
