"""A page in the files of a stack. The stacks are the studio's; every writer starts from the same tree."""

from collections.abc import Callable
from types import MappingProxyType

from weft.vision.errors import VisionError
from weft.vision.page import Page
from weft.vision.writing.frameworks import write_bootstrap, write_ionic, write_react, write_vue
from weft.vision.writing.html_css import write_html_css
from weft.vision.writing.svg import write_svg
from weft.vision.writing.tailwind import write_html_tailwind

Files = dict[str, str | bytes]
"""Paths in the project, with text or, for pictures, bytes."""

STACKS: MappingProxyType[str, Callable[[Page], Files]] = MappingProxyType(
    {
        "html_css": write_html_css,
        "html_tailwind": write_html_tailwind,
        "react_tailwind": write_react,
        "vue_tailwind": write_vue,
        "bootstrap": write_bootstrap,
        "ionic_tailwind": write_ionic,
        "svg": write_svg,
    }
)


def write(page: Page, stack: str = "html_css") -> Files:
    """The files of the page. A stack that is not known is a VisionError."""
    writer = STACKS.get(stack)
    if writer is None:
        raise VisionError(f"There is no stack {stack!r}; use one of {', '.join(STACKS)}.")
    return writer(page)
