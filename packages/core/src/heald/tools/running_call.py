"""The state of one call from plan to result."""

import asyncio

import msgspec

from heald.core.messages import ToolCall, ToolResult
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.planned_call import PlannedCall
from heald.tools.scheduling import Ticket


class RunningCall(msgspec.Struct, eq=False):
    """The state of one call from plan to result."""

    call: ToolCall
    tool: Tool | None = None
    planned: PlannedCall | None = None
    ticket: Ticket | None = None
    task: "asyncio.Task[None] | None" = None
    timed: bool = False
    """Its time limit is set."""
    context: ToolContext | None = None
    timed_out: bool = False
    started: float = 0.0
    result: ToolResult | None = None

    def stop(self) -> None:
        if self.context is not None:
            self.context.stop()
        if self.task is not None:
            self.task.cancel()
