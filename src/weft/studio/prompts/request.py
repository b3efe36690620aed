"""What a person asks for, and what was asked and built before: the input of the prompt builder."""

from typing import Literal

import msgspec

from weft.core.content import Image

Mode = Literal["image", "text", "video"]


class Shot(msgspec.Struct, frozen=True):
    """A picture with the words that go before it: which view it is, or at what time of a recording."""

    image: Image
    label: str = ""


class Element(msgspec.Struct, frozen=True, kw_only=True):
    """An element that a person chose in the preview."""

    html: str
    path: str = ""
    """From the page down to it, as a selector."""
    index: int = 0
    """Which one it is of several that look alike, counted from 1; 0 if that is not known."""
    count: int = 0
    file: str = ""
    line: int = 0


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """One message of before. `files` are the project as it was after an answer; None if that is not known."""

    role: Literal["user", "assistant"]
    text: str = ""
    shots: tuple[Shot, ...] = ()
    files: dict[str, str] | None = None


class DesignSystem(msgspec.Struct, frozen=True):
    """A named text with the rules of a design: colours, fonts, components."""

    name: str
    text: str


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A creation, or a change of `files` if there are any or there is a history."""

    mode: Mode = "image"
    text: str = ""
    shots: tuple[Shot, ...] = ()
    history: tuple[Past, ...] = ()
    files: dict[str, str] = {}
    """The text files of the project as they are now."""
    assets: tuple[str, ...] = ()
    """The paths of its other files."""
    element: Element | None = None
    design_system: DesignSystem | None = None

    @property
    def is_update(self) -> bool:
        return bool(self.files or any(past.role == "assistant" for past in self.history))
