"""The state of one call from plan to result."""

import asyncio

from heald.core.messages import ToolCall, ToolResult
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.planned_call import PlannedCall
from heald.tools.scheduling import Ticket


class RunningCall:
    """The state of one call from plan to result."""

    __slots__ = ("call", "context", "planned", "result", "started", "task", "ticket", "timed", "timed_out", "tool")

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.tool: Tool | None = None
        self.planned: PlannedCall | None = None
        self.ticket: Ticket | None = None
        self.task: asyncio.Task[None] | None = None
        self.timed = False  # its time limit is set
        self.context: ToolContext | None = None
        self.timed_out = False
        self.started = 0.0
        self.result: ToolResult | None = None

    def stop(self) -> None:
        if self.context is not None:
            self.context.stop()
        if self.task is not None:
            self.task.cancel()
