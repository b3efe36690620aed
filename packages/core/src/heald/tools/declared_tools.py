"""Tools that are declared as data."""

import inspect
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.message_forms import read_tool_definition
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.function_tools import Function
from heald.tools.tool_threads import run_plain


def declared_tool(declaration: Mapping[str, Any]) -> Tool:
    """Make a tool that is declared as data, with a function `execute` of the arguments. Raises ConfigurationError.

    {
        "name": "weather",
        "description": "Weather of a city.",
        "jsonSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "execute": lambda args: {"status": "success", "result": "3 °C"},
    }
    """
    fields = dict(declaration)
    definition = read_tool_definition(fields)
    execute: Any = fields.get("execute")
    if not callable(execute):
        raise ConfigurationError(
            f"The tool {definition.name[:64]!r} has no function 'execute'; give one that is called with the arguments."
        )
    function: Function = execute
    is_async = inspect.iscoroutinefunction(function)

    def run(arguments: JsonObject, ctx: ToolContext) -> Awaitable[Any]:  # noqa: ARG001
        return function(arguments) if is_async else run_plain(partial(function, arguments), definition.name)

    return Tool(definition=definition, run=run)
