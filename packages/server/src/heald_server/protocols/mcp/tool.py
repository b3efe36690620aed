"""A tool of the MCP server, and a call of it. The routes of a protocol may add tools: `ServerContext.mcp_tools`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.tools.json_schema import compile_schema


@dataclass(frozen=True, slots=True)
class OfferedCall:
    """One call of a tool."""

    owner: str
    """The owner of the sessions that the call may use."""
    request: ServerRequestContext[Any, Any]
    params: types.CallToolRequestParams

    @property
    def arguments(self) -> JsonObject:
        return self.params.arguments or {}


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: its definition, and the function that runs a call."""

    definition: types.Tool
    run: Callable[[OfferedCall], Awaitable[types.CallToolResult | types.InputRequiredResult]]

    def check_arguments(self, arguments: JsonObject) -> None:
        """Raise if the arguments do not match the schema. The caller's model reads the sentence."""
        problems = compile_schema(self.definition.input_schema).problems(arguments, 3)
        if problems:
            text = "; ".join(f"{problem.where or 'arguments'}: {problem.message}" for problem in problems)
            raise ConfigurationError(f"The arguments of {self.definition.name} do not fit: {text}.")
