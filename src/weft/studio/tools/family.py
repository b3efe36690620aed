"""The studio's tools, for one variant."""

from weft.studio.assignment import FindAssignment
from weft.studio.imaging.images import Images
from weft.studio.tools.comparing import compare_tool
from weft.studio.tools.extracting import extract_tool
from weft.studio.tools.generating import generate_tool
from weft.studio.tools.options import option_tool
from weft.studio.tools.retouching import background_tool, edit_tool
from weft.studio.tools.saving import save_tool
from weft.studio.tools.screenshot import screenshot_tool
from weft.tools.tool import Tool
from weft.tools.web.outgoing import Outgoing

NAMES: tuple[str, ...] = (
    "screenshot_preview",
    "compare_with_target",
    "retrieve_option",
    "extract_assets",
    "save_assets",
    "generate_images",
    "edit_image",
    "remove_background",
)
"""What the tools are called."""


def studio_tools(find: FindAssignment, *, images: Images | None = None, outgoing: Outgoing | None = None) -> list[Tool]:
    """The tools of one variant. What it works on is looked up when one of them is called.

    Pictures come from the providers that the environment has keys for, unless other `images` are given.
    """
    images = images or Images.from_environment()
    return [
        screenshot_tool(find),
        compare_tool(find),
        option_tool(find),
        extract_tool(find),
        save_tool(find, outgoing or Outgoing(max_bytes=32_000_000, seconds=30.0)),
        generate_tool(find, images),
        edit_tool(find, images),
        background_tool(images),
    ]
