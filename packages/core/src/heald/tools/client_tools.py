"""The definitions of tools that a client runs.

A client sends definitions (name, description, JSON Schema). The model is offered them beside the agent's own tools.
Definitions come from outside and are checked here.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, cast

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_object, encode
from heald.core.messages import ToolDefinition
from heald.tools.context import ToolContext
from heald.tools.definitions import TOOL_NAME, Tool
from heald.tools.json_schema import find_schema_problem
from heald.tools.result_text import plain_text
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput

MAX_TOOLS = 128
"""Maximum number of client tools of a session."""
MAX_TOTAL = 256 * 1024
"""Maximum bytes of all definitions as JSON."""
MAX_DESCRIPTION = 8_000
CLIENT_TOOL_TIMEOUT = 600.0
"""Seconds that a call waits for its result by default."""
_MARGIN = 60.0  # seconds; a call that waits for a client ends by its own time limit, not by the runtime's
_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters")
ClientToolLike = ToolDefinition | Tool | Mapping[str, Any]
"""A definition, or an object with its name, description and schema. Of a `Tool` only the definition is used."""
ClientPrecedence = Literal["distinct", "beside", "only"]
"""How tools of a client stand to the agent's own: their names must be `distinct`; they are offered `beside` the agent's
and win over one of the same name; or they are the `only` ones, and the agent's are off."""


def read_client_tools(tools: Iterable[object]) -> list[ToolDefinition]:
    """Check the definitions of a client. Raises ConfigurationError that names the first unusable one.

    The schema may be called `input_schema`, `inputSchema` or `parameters`; OpenAI's `{"type": "function", "function":
    {…}}` is accepted too.
    """
    read: dict[str, ToolDefinition] = {}
    total = 0
    for number, tool in enumerate(tools, 1):
        if number > MAX_TOOLS:
            raise ConfigurationError(f"There are more than {MAX_TOOLS} client tools; offer fewer.")
        definition = _read_definition(tool, number)
        if definition.name in read:
            raise ConfigurationError(f"There are two client tools named {definition.name!r}; rename one of them.")
        read[definition.name] = definition
        total += len(encode(definition))
        if total > MAX_TOTAL:
            raise ConfigurationError(f"The client tools have more than {MAX_TOTAL:,} bytes; offer fewer.")
    return list(read.values())


def _read_definition(value: object, number: int) -> ToolDefinition:
    if isinstance(value, Tool):
        value = value.definition
    if isinstance(value, ToolDefinition):
        value = {"name": value.name, "description": value.description, "input_schema": value.input_schema}
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"The client tool {number} is not an object with name, description and input_schema.")
    fields = dict(cast("Mapping[str, Any]", value))
    if isinstance(fields.get("function"), Mapping):
        fields = dict(cast("Mapping[str, Any]", fields["function"]))
    name, description = fields.get("name"), fields.get("description") or ""
    if not isinstance(name, str) or not TOOL_NAME.match(name):
        raise ConfigurationError(
            f"The client tool {number} needs a name of at most 64 letters, digits, _ and -, not {str(name)[:80]!r}."
        )
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION:
        raise ConfigurationError(
            f"The client tool {name!r} needs a description that is a text of at most {MAX_DESCRIPTION:,} characters."
        )
    schema = next((fields[key] for key in _SCHEMA_KEYS if fields.get(key) is not None), None)
    schema = _with_type(schema)
    problem = find_schema_problem(schema)
    if problem:
        raise ConfigurationError(f"The client tool {name!r} {problem}.")
    return ToolDefinition(name=name, description=plain_text(description), input_schema=as_object(schema))


def _with_type(schema: object) -> object:
    """Return the schema of an object. A tool without parameters may have none, and some clients omit the type."""
    if schema is None or schema == {}:
        return {"type": "object", "properties": {}}
    fields = as_object(schema)
    return {"type": "object", **fields} if "properties" in fields and "type" not in fields else schema


def check_names(definitions: Iterable[ToolDefinition], agent_names: Collection[str]) -> None:
    """Raise ConfigurationError if a client tool has the name of one of the agent's own tools."""
    for definition in definitions:
        if definition.name in agent_names:
            raise ConfigurationError(
                f"The agent has a tool named {definition.name!r} of its own; give the client's tool another name."
            )


def client_tool(definition: ToolDefinition, timeout: float = CLIENT_TOOL_TIMEOUT) -> Tool:
    """Make a tool whose calls wait for a client."""

    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        if context.host is None:
            raise ToolFault("No client can be asked to run this call.")
        return await context.host.client_calls.request(context.call, arguments, timeout, context.emit)

    # The client is asked by an event of its own: without it, a call that had started may be started again.
    return Tool(
        definition=definition, run=run, effect="none", idempotent=True, timeout=timeout + _MARGIN, on_client=True
    )
