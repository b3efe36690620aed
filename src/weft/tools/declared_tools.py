"""Tools that are declared as data: `name`, `description`, `jsonSchema` and a function `execute` of the arguments.

{
    "name": "weather",
    "description": "Weather of a city.",
    "jsonSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "execute": lambda args: {"status": "success", "result": "3 °C"},
}
"""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.core.message_forms import read_tool_definition
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool

InThread = Callable[[Callable[[], Any], str], Any]
"""Runs a plain function in a thread."""


def declared_tool(declaration: Mapping[str, Any], in_thread: InThread) -> Tool:
    """Make a tool of a declaration. Raises ConfigurationError for what it leaves out."""
    fields = dict(declaration)
    definition = read_tool_definition(fields)
    execute = fields.get("execute")
    if not callable(execute):
        raise ConfigurationError(
            f"The tool {definition.name[:64]!r} has no function 'execute'; give one that is called with the arguments."
        )

    async def run(given: JsonObject, ctx: ToolContext) -> Any:  # noqa: ARG001
        if inspect.iscoroutinefunction(execute):
            return await execute(given)
        value = await in_thread(partial(execute, given), definition.name)
        return await value if inspect.isawaitable(value) else value

    return Tool(definition=definition, run=run)
