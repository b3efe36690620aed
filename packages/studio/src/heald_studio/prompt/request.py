"""The input of the prompt builder."""

from typing import Literal

import msgspec

from heald.core.messages import Image
from heald_pictures.design_request import PictureKind
from heald_studio.prompt.design_system import DesignSystem

Mode = Literal["image", "text", "video"]


class Shot(msgspec.Struct, frozen=True):
    """A picture with its label: the view, or the time in a recording."""

    image: Image
    label: str = ""
    page: str = ""
    """The path of the page that it shows, if each picture becomes a page."""
    kind: PictureKind = ""
    """What it is; empty if that is to be found out."""
    scale: int = 0
    """Its pixels for each CSS pixel; 0 if that is to be found out."""


class ChosenElement(msgspec.Struct, frozen=True, kw_only=True):
    """An element that the user selected in the preview."""

    html: str
    path: str = ""
    """Its selector, from the page down."""
    index: int = 0
    """Its number among equal elements, counted from 1; 0 if it is unknown."""
    count: int = 0
    file: str = ""
    line: int = 0


class HistoryMessage(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier message. `files` are the project after an answer; None if they are unknown."""

    role: Literal["user", "assistant"]
    text: str = ""
    shots: tuple[Shot, ...] = ()
    files: dict[str, str] | None = None


class PromptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A creation, or a change of `files` if there are any or there is a history."""

    mode: Mode = "image"
    text: str = ""
    shots: tuple[Shot, ...] = ()
    history: tuple[HistoryMessage, ...] = ()
    files: dict[str, str] = {}
    """The current text files of the project."""
    assets: tuple[str, ...] = ()
    """The paths of its other files."""
    element: ChosenElement | None = None
    design_system: DesignSystem | None = None
    outline: str = ""
    """The outline of a design file: texts, fonts, colours, sizes."""

    @property
    def is_update(self) -> bool:
        return bool(self.files or any(past.role == "assistant" for past in self.history))
