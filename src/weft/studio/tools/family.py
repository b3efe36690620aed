"""The list of the studio's tools for one variant.

The modules of the tools load numpy and Pillow. They are imported with the first tools, so that a server starts without
them; `load_tools` imports them before, in a thread.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from weft.studio.tools.context import FindContext
from weft.tools.definitions import Tool

if TYPE_CHECKING:
    from weft.studio.imaging.images import ImageMaker
    from weft.tools.web.fetcher import WebFetcher

TOOL_NAMES: tuple[str, ...] = (
    "screenshot_preview",
    "compare_with_target",
    "retrieve_option",
    "extract_assets",
    "save_assets",
    "generate_images",
    "edit_image",
    "remove_background",
)
"""The names of the tools."""


_TEXT_BUILD = ("create_file", "edit_file", "read_file")
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
    own = [name for name in TOOL_NAMES if name not in unused]
    return [*(("files",) if pictures or files else _TEXT_BUILD), *own]


def load_tools() -> None:
    """Import the modules of the tools."""
    for name in ("assets", "extract", "images", "review"):
        import_module(f"weft.studio.tools.{name}")


def studio_tools(
    find: FindContext, *, images: "ImageMaker | None" = None, outgoing: "WebFetcher | None" = None
) -> list[Tool]:
    """Return the tools of one variant. Without `images`, pictures come from the providers that have a key."""
    from weft.studio.imaging.images import ImageMaker
    from weft.studio.tools.assets import save_tool
    from weft.studio.tools.extract import extract_tool
    from weft.studio.tools.images import background_tool, edit_tool, generate_tool
    from weft.studio.tools.review import compare_tool, option_tool, screenshot_tool
    from weft.tools.web.fetcher import WebFetcher

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
    ]
