"""Requests to the studio and the input of the prompt builder."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from weft.core.errors import WeftError
from weft.core.messages import Image

if TYPE_CHECKING:
    from weft.studio.input.pictures import InputPicture

Mode = Literal["image", "text", "video"]
CREATE_VARIANTS = 4
UPDATE_VARIANTS = 2
MAX_VARIANTS = 12
MAX_DESIGN_SYSTEM = 60_000


class Shot(msgspec.Struct, frozen=True):
    """A picture with its label: the view, or the time in a recording."""

    image: Image
    label: str = ""
    page: str = ""
    """The path of the page that it shows, if each picture becomes a page."""


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


class DesignSystem(msgspec.Struct, frozen=True):
    """A named text with the rules of a design: colours, fonts, components."""

    name: str
    text: str


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
    """What the file of a design says of its parts: texts, fonts, colours, sizes."""

    @property
    def is_update(self) -> bool:
        return bool(self.files or any(past.role == "assistant" for past in self.history))


class View(msgspec.Struct, frozen=True):
    """A picture of the design to build, and the label of the view that it shows."""

    picture: "InputPicture"
    label: str = ""
    page: str = ""
    """The path of the page that it shows, if each picture becomes a page."""

    def shot(self) -> Shot:
        return Shot(self.picture.image(), self.label, self.page)


class BuildRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the studio."""

    text: str = ""
    mode: Mode = "text"
    views: tuple[View, ...] = ()
    files: dict[str, bytes] = {}
    """Existing files to change."""
    outline: str = ""
    """What the file of a design says of its parts: texts, fonts, colours, sizes."""
    stack: str = "html_tailwind"
    design_system: DesignSystem | None = None
    element: ChosenElement | None = None
    history: tuple[HistoryMessage, ...] = ()
    """Earlier requests and answers, from a client that keeps them itself."""
    options: tuple[str, ...] = ()
    """The code of variants that the client kept."""
    excluded_tools: frozenset[str] = frozenset()
    """Names of tools that the variants do not get."""
    models: tuple[str, ...] = ()
    """The models of the variants, repeated if there are fewer; empty for the host's choice."""
    variants: int | None = None
    title: str = ""

    @property
    def variant_count(self) -> int:
        """The number of variants."""
        is_update = self.files or self.element is not None or self.history
        usual = UPDATE_VARIANTS if is_update else CREATE_VARIANTS
        wanted = self.variants if self.variants is not None else (len(self.models) or usual)
        return max(1, min(wanted, MAX_VARIANTS))


class BadInput(WeftError):
    """An input that cannot be used. `kind` is a word for programs:

    `not_an_image`, `image_too_large`, `image_damaged`, `too_large`, `bad_data_url`, `unreachable`, `no_decoder`,
    `not_a_video`, `bad_archive`, `not_found`, `not_text`, `too_many`.
    """

    code = "invalid_request"

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def parse_design_system(text: str, name: str = "") -> DesignSystem:
    """Make a design system from its text, named after its first heading by default. Raises BadInput."""
    if len(text) > MAX_DESIGN_SYSTEM:
        message = f"The design system has {len(text):,} characters; at most {MAX_DESIGN_SYSTEM:,} go into a prompt."
        raise BadInput(message, "too_large")
    lines = [line.strip(" #*\t") for line in text.splitlines()]
    first = next((line for line in lines if line), "")
    return DesignSystem(" ".join((name or first or "Design system").split())[:80], text.strip())


def read_design_system(path: Path) -> DesignSystem:
    """Read a design system from a file. Raises BadInput."""
    try:
        if path.stat().st_size > 4 * MAX_DESIGN_SYSTEM:
            raise BadInput(f"The design system {path.name} is too long for a prompt; shorten it.", "too_large")
        return parse_design_system(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"The design system {path.name} cannot be read: {error.strerror}.", "not_found") from None
    except UnicodeDecodeError:
        raise BadInput(f"The design system {path.name} is not UTF-8 text.", "not_text") from None
