"""The list of the studio's tools for one variant."""

from weft.studio.imaging.images import ImageMaker
from weft.studio.tools.context import FindContext
from weft.studio.tools.extract import extract_tool
from weft.studio.tools.images import background_tool, edit_tool, generate_tool
from weft.studio.tools.review import compare_tool, option_tool, screenshot_tool
from weft.studio.tools.save import save_tool
from weft.tools.definitions import Tool
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


def studio_tools(
    find: FindContext, *, images: ImageMaker | None = None, outgoing: WebFetcher | None = None
) -> list[Tool]:
    """Return the tools of one variant. Without `images`, pictures come from the providers that have a key."""
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
