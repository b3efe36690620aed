"""Compact definitions of the built-in tools, for models with a small context.

A compact definition has a short description and the arguments that matter most. The tool is the same: it accepts its
other arguments too. A tool that another one can stand in for is left out. Tools of a program or an MCP server stay as
they are.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from heald.core.json import JsonObject, as_object
from heald.core.messages import ToolDefinition
from heald.tools.definitions import Tool

ToolProfile = Literal["auto", "full", "compact"]
"""How tools are described: in full, compact, or by the size of the model's context."""

_SHORT: dict[str, tuple[str, tuple[str, ...]]] = {
    "read_file": ("Read a file.", ("path", "start_line", "end_line")),
    "create_file": ("Write a whole file.", ("path", "content")),
    "write_file": ("Write a whole file.", ("path", "content")),
    "edit_file": ("Replace old_text, which stands exactly once in the file.", ("path", "old_text", "new_text")),
    "apply_patch": ("Apply a unified diff.", ("patch",)),
    "list_files": ("List files and folders.", ("path", "depth")),
    "glob": ("Find files by a pattern such as src/**/*.py.", ("pattern",)),
    "find_file": ("Find files by a part of their name.", ("query",)),
    "search_files": ("Search files with a regular expression.", ("pattern", "path", "glob")),
    "run_command": ("Run a shell command.", ("command", "timeout_s")),
    "fetch_url": ("Fetch a web page.", ("url",)),
    "todo_list": ("Replace the todo list.", ("items",)),
    "ask_user": ("Ask the user.", ("question", "suggestions")),
}
_STAND_INS = {
    "create_file": "write_file",
    "apply_patch": "edit_file",
    "glob": "list_files",
    "find_file": "search_files",
    "command_output": "run_command",
    "stop_command": "run_command",
}
"""Tools that are left out if the other one is offered."""


def compact_definitions(tools: Iterable[Tool]) -> list[ToolDefinition]:
    """Return the definitions for a model with a small context."""
    offered = {tool.name: tool.definition for tool in tools}
    from heald.tools.families import builtin_descriptions

    builtin = {name for name, definition in offered.items() if definition.description in builtin_descriptions()}
    left_out = {name for name, other in _STAND_INS.items() if name in builtin and other in builtin}
    return [
        _compact(definition) if name in builtin and name in _SHORT else definition
        for name, definition in offered.items()
        if name not in left_out
    ]


def _compact(definition: ToolDefinition) -> ToolDefinition:
    description, names = _SHORT[definition.name]
    properties = as_object(definition.input_schema.get("properties"))
    required = [name for name in definition.input_schema.get("required", []) if name in names]
    if definition.name in ("read_file", "edit_file"):
        required = [name for name in names if name in ("path", "old_text", "new_text")]
    schema: JsonObject = {
        "type": "object",
        "properties": {name: _bare(properties[name]) for name in names if name in properties},
        "required": required,
    }
    return msgspec.structs.replace(definition, description=description, input_schema=schema)


def _bare(schema: object) -> JsonObject:
    """A schema without descriptions, defaults and limits of numbers."""
    bare = {
        key: value
        for key, value in as_object(schema).items()
        if key not in ("description", "default", "minimum", "maximum", "minLength", "additionalProperties")
    }
    if "items" in bare:
        bare["items"] = _bare(bare["items"])
    if "properties" in bare:
        bare["properties"] = {name: _bare(value) for name, value in as_object(bare["properties"]).items()}
    return bare
