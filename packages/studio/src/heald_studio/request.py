"""A request to the studio."""

from typing import TYPE_CHECKING, Any

import msgspec

from heald.core.messages import File
from heald_pictures.design_request import PictureKind
from heald_studio.prompt.design_system import DesignSystem
from heald_studio.prompt.request import ChosenElement, HistoryMessage, Mode, Shot

if TYPE_CHECKING:
    from heald_studio.input.pictures import InputPicture
else:
    InputPicture = Any  # `help` looks the name up

CREATE_VARIANTS = 4
UPDATE_VARIANTS = 2
MAX_VARIANTS = 12


class View(msgspec.Struct, frozen=True):
    """A picture of the design to build, and the label of the view that it shows."""

    picture: "InputPicture"
    label: str = ""
    page: str = ""
    """The path of the page that it shows, if each picture becomes a page."""

    kind: PictureKind = ""
    """A screenshot of a `page`, a `sketch`, or the `photo` of a screen; empty to find it out."""
    scaled: bool = False
    """Whether the pixels for each CSS pixel were named, not found out."""

    def shot(self) -> Shot:
        scale = self.picture.ratio if self.scaled else 0
        return Shot(self.picture.image(), self.label, self.page, self.kind, scale)


class BuildRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the studio."""

    text: str = ""
    mode: Mode = "text"
    views: tuple[View, ...] = ()
    files: dict[str, bytes] = {}
    """Existing files to change."""
    outline: str = ""
    """The outline of a design file: texts, fonts, colours, sizes."""
    stack: str = "html_tailwind"
    design_system: DesignSystem | None = None
    element: ChosenElement | None = None
    documents: tuple[File, ...] = ()
    """PDF and text files that the models read with the request."""
    history: tuple[HistoryMessage, ...] = ()
    """Earlier requests and answers, from a client that keeps them itself."""
    options: tuple[str, ...] = ()
    """The code of variants that the client has."""
    excluded_tools: frozenset[str] = frozenset()
    """Names of tools that the variants do not get."""
    models: tuple[str, ...] = ()
    """The models of the variants, repeated if there are fewer; empty for the host's choice."""
    variants: int | None = None
    draft: bool = False
    """Whether the local converter builds the page first, and the models only change what differs from the picture."""
    title: str = ""

    @property
    def is_update(self) -> bool:
        """Whether it changes files that the client has."""
        return bool(self.files or self.element is not None or self.history)

    @property
    def variant_count(self) -> int:
        """The number of variants."""
        usual = UPDATE_VARIANTS if self.is_update else CREATE_VARIANTS
        count = self.variants if self.variants is not None else (len(self.models) or usual)
        return max(1, min(count, MAX_VARIANTS))
