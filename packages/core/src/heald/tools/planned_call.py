"""A valid call of a tool that the agent has."""

from collections.abc import Sequence

import msgspec

from heald.core.json import JsonObject
from heald.core.messages import ToolCall
from heald.tools.definitions import Access, Tool


class PlannedCall(msgspec.Struct):
    """A valid call of a known tool."""

    call: ToolCall
    tool: Tool
    arguments: JsonObject
    values: JsonObject
    """The arguments as the function accepts them."""
    access: Sequence[Access]
    changed: bool = False
    """Whether the approver changed the arguments."""
    is_checked: bool = False
    """Whether hooks have accepted these arguments, before a person was asked about the call."""
