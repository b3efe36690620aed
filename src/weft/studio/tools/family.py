"""The studio's tools, for one variant."""

from weft.studio.assignment import FindAssignment
from weft.tools.tool import Tool

NAMES: tuple[str, ...] = ()
"""What the tools are called."""


def studio_tools(find: FindAssignment) -> list[Tool]:
    """The tools of one variant. What it works on is looked up when one of them is called."""
    return []
