"""What a person wants of the studio, checked and ready for the prompt."""

import msgspec

from weft.studio.input.pictures import Picture
from weft.studio.prompts.request import DesignSystem, Element, Mode, Past, Shot

CREATIONS = 4
UPDATES = 2
MOST_VARIANTS = 12


class View(msgspec.Struct, frozen=True):
    """A picture of what shall be built, and which view it is."""

    picture: Picture
    label: str = ""

    def shot(self) -> Shot:
        return Shot(self.picture.image(), self.label)


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the studio."""

    text: str = ""
    mode: Mode = "text"
    views: tuple[View, ...] = ()
    files: dict[str, bytes] = {}
    """What is there already and shall be changed."""
    stack: str = "html_tailwind"
    design_system: DesignSystem | None = None
    element: Element | None = None
    history: tuple[Past, ...] = ()
    """What was asked and built before, where the client kept it and not we."""
    options: tuple[str, ...] = ()
    """The code of variants that the client kept."""
    without: frozenset[str] = frozenset()
    """Tools that shall not be used."""
    models: tuple[str, ...] = ()
    """One for each variant, over again if there are fewer; none leaves the choice to the studio."""
    variants: int | None = None
    title: str = ""

    @property
    def count(self) -> int:
        """How many agents shall work on it."""
        is_update = self.files or self.element is not None or self.history
        usual = UPDATES if is_update else CREATIONS
        wanted = self.variants if self.variants is not None else (len(self.models) or usual)
        return max(1, min(wanted, MOST_VARIANTS))
