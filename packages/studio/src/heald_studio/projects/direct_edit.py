"""Changes one element in the source of a page: its text, its style, its attributes. No model is called.

The element is named by its selector from the page down, as the preview reports it. Where the source does not have the
element, because a script makes it, a text that occurs once in the project is replaced instead.
"""

from collections.abc import Mapping

import msgspec

from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.edit_elements import VisualChange, describe_changes, edit_elements
from heald_studio.visual.locate import RenderedElement

__all__ = ["CannotEdit", "ElementChange", "edit_element"]


class ElementChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one element. None leaves a part as it is."""

    path: str
    """The selector of the element, from the page down."""
    text: str | None = None
    before: str = ""
    """The text that the element showed, for elements that are not in the source."""
    page: str = ""
    """The file of the page that shows it; empty for the first page."""
    style: dict[str, str] = {}
    """CSS properties; an empty value removes one."""
    attributes: dict[str, str] = {}

    @property
    def visual(self) -> VisualChange:
        """The same as a change of an element that has no mark."""
        element = RenderedElement(path=self.path)
        return VisualChange(
            element=element, text=self.text, before=self.before, style=self.style, attributes=self.attributes
        )

    @property
    def description(self) -> str:
        """What it changes, for the list of what can be undone."""
        return describe_changes([self.visual])


def edit_element(files: Mapping[str, bytes], entry: str, change: ElementChange) -> dict[str, bytes]:
    """Return the files that change. Raises CannotEdit whose message names the alternative."""
    return edit_elements(files, entry, [change.visual])
