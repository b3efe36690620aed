"""The list of the studio's tools for one variant.

The modules of the tools load numpy and Pillow. They are imported with the first tools, so that a server starts without
them; `load_tools` imports them before, in a thread.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from heald.tools.definitions import Tool
from heald_studio.tools.context import FindContext

if TYPE_CHECKING:
    from heald.tools.web.fetcher import WebFetcher
    from heald_studio.imaging.images import ImageMaker

TOOL_NAMES: tuple[str, ...] = (
    "screenshot_preview",
    "compare_with_target",
    "retrieve_option",
    "extract_assets",
    "save_assets",
    "generate_images",
    "edit_image",
    "remove_background",
    "lock_part",
    "edit_styles",
)
"""The names of the tools."""

_TEXT_BUILD = ("create_file", "edit_file", "read_file")
_EDITING = ("edit_styles", "edit_file", "read")
_NEED_PICTURES = frozenset({"compare_with_target", "extract_assets", "edit_image"})


def useful_tools(*, pictures: bool, files: bool, links: bool) -> list[str]:
    """Return the names of the tools that a request can use: of files, and of the studio.

    `pictures`: the request has pictures of the design. `files`: there are files to change. `links`: it names addresses.
    """
    unused = set[str]()
    if not pictures and not files:
        unused |= _NEED_PICTURES
    if not files and not links:
        unused.add("save_assets")
    if not files:
        unused |= {"lock_part", "edit_styles"}
    names = [name for name in TOOL_NAMES if name not in unused]
    return [*(("files",) if pictures or files else _TEXT_BUILD), *names]


def editing_tools(names: Sequence[str]) -> list[str]:
    """Return the names without the tools that write whole files, and with those that change parts of them."""
    others = [name for name in names if name not in ("files", *_TEXT_BUILD, *_EDITING)]
    return [*_EDITING, *others]


def load_tools() -> None:
    """Import the modules of the tools."""
    for name in (
        *("compare", "edit_image", "edit_styles", "extract", "generate_images", "lock_part", "option", "save_assets"),
        "screenshot",
    ):
        import_module(f"heald_studio.tools.{name}")


def studio_tools(
    find: FindContext, *, images: "ImageMaker | None" = None, outgoing: "WebFetcher | None" = None
) -> list[Tool]:
    """Return the tools of one variant. Without `images`, pictures come from the providers that have a key."""
    from heald.tools.web.fetcher import WebFetcher
    from heald_studio.imaging.images import ImageMaker
    from heald_studio.tools.compare import compare_tool
    from heald_studio.tools.edit_image import background_tool, edit_tool
    from heald_studio.tools.edit_styles import styles_tool
    from heald_studio.tools.extract import extract_tool
    from heald_studio.tools.generate_images import generate_tool
    from heald_studio.tools.lock_part import lock_tool
    from heald_studio.tools.option import option_tool
    from heald_studio.tools.save_assets import save_tool
    from heald_studio.tools.screenshot import screenshot_tool

    images = images or ImageMaker.from_environment()
    return [
        screenshot_tool(find),
        compare_tool(find),
        option_tool(find),
        extract_tool(find),
        save_tool(find, outgoing or WebFetcher(max_bytes=32_000_000, seconds=30.0)),
        generate_tool(find, images),
        edit_tool(find, images),
        background_tool(images),
        lock_tool(find),
        styles_tool(find),
    ]
