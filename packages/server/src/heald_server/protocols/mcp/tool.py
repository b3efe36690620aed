"""A tool of the MCP server, and a call of it. The routes of a protocol may add tools: `ServerContext.mcp_tools`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.subscriptions import ServerEvent

from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import JsonObject
from heald.tools.json_schema import compile_schema
from heald.tools.tool_fault import ToolFault
from heald_server.http.errors import ApiError
from heald_server.protocols.mcp.client_log import ClientLog

ToolAnswer = types.CallToolResult | types.InputRequiredResult


@dataclass(frozen=True, slots=True)
class OfferedCall:
    """One call of a tool."""

    owner: str
    """The owner of the sessions that the call may use."""
    request: ServerRequestContext[Any, Any]
    params: types.CallToolRequestParams
    log: ClientLog
    publish: Callable[[ServerEvent], object]
    """Informs the clients that subscribed to such changes."""
    on_progress: Callable[[str], object] | None = None
    """Receives the progress of a call that runs as a task."""

    @property
    def arguments(self) -> JsonObject:
        return self.params.arguments or {}

    @property
    def is_task(self) -> bool:
        """Whether the call outlives the request that began it."""
        return self.on_progress is not None

    async def report_progress(self, steps: int, line: str) -> None:
        """Inform the client of what the call does now."""
        if self.on_progress is not None:
            self.on_progress(line)
            return
        await self.request.session.report_progress(steps, None, line)


@dataclass(frozen=True, slots=True)
class LastingWork:
    """Work of a tool that outlives the request, and the server: it goes on in the store."""

    begin: Callable[[OfferedCall], Awaitable[str]]
    """Begins the work. Returns the request state from which `McpTool.run` continues it; it is part of the task's id."""
    check: Callable[[str, str], Awaitable[object]]
    """Raises if the owner has no work of this state."""
    cancel: Callable[[str, str], Awaitable[object]]
    """Ends the work of a state of the owner."""


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: its definition, and the function that runs a call.

    `tasks` says whether a call becomes a task (a handle that the client polls) where the client supports that. A tool
    that `must` be one is refused to other clients. A tool with `lasting` work has tasks that survive a restart.
    """

    definition: types.Tool
    run: Callable[[OfferedCall], Awaitable[ToolAnswer]]
    tasks: Literal["never", "may", "must"] = "never"
    lasting: LastingWork | None = None
    prepare: Callable[[OfferedCall], Awaitable[types.InputRequiredResult | None]] | None = None
    """Asks the client for what is needed before a task is created."""

    async def answer(self, call: OfferedCall) -> ToolAnswer:
        """Run a call. A fault becomes a result that the caller's model reads."""
        try:
            return await self.run(call)
        except (ApiError, HealdError, ToolFault) as error:
            return failure(error)

    def check_arguments(self, arguments: JsonObject) -> None:
        """Raise if the arguments do not match the schema. The caller's model reads the sentence."""
        problems = compile_schema(self.definition.input_schema).problems(arguments, 3)
        if problems:
            text = "; ".join(f"{problem.where or 'arguments'}: {problem.message}" for problem in problems)
            raise ConfigurationError(f"The arguments of {self.definition.name} do not fit: {text}.")


def failure(error: Exception) -> types.CallToolResult:
    """The result of a call that failed."""
    return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
