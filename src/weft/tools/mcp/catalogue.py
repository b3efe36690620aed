"""The tools that a server lists, as definitions that can be shown to a model. What cannot be used is left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp import Client

from weft.core.json import as_list, as_object, depth_of, encode
from weft.core.tools import ToolDefinition
from weft.schema import Schema, SchemaFault
from weft.tools.mcp.faults import said
from weft.tools.mcp.naming import digest_of, tool_names

MAX_TOOLS = 500
MAX_PAGES = 100
MAX_DESCRIPTION = 8_000
MAX_SCHEMA = 64 * 1024
_MAX_DEPTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A tool as its server describes it now."""

    original: str
    definition: ToolDefinition
    digest: str
    title: str
    """For people; what the server claims."""
    read_only: bool
    """What the server claims. Never a reason to permit anything."""


async def list_tools(client: Client) -> list[types.Tool]:
    """All pages of the list, within limits."""
    found: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor or len(found) >= MAX_TOOLS:
            break
    return found[:MAX_TOOLS]


def read_tools(server: str, tools: Sequence[types.Tool]) -> tuple[dict[str, Listed], list[str]]:
    """The usable tools by the names they get here, and what is wrong with the others."""
    usable: dict[str, types.Tool] = {}
    problems: list[str] = []
    for tool in tools:
        problem = "is listed twice" if tool.name in usable else _problem(tool)
        if problem:
            problems.append(f"The tool {said(tool.name, 80)!r} of the MCP server {server!r} {problem}; it is left out.")
        else:
            usable[tool.name] = tool
    names = tool_names(server, list(usable))
    return {names[original]: _listed(names[original], tool) for original, tool in usable.items()}, problems


def _listed(name: str, tool: types.Tool) -> Listed:
    hints = tool.annotations
    description = (tool.description or "").encode("utf-8", "replace").decode().replace("\0", "")[:MAX_DESCRIPTION]
    definition = ToolDefinition(name=name, description=description, input_schema=tool.input_schema)
    return Listed(
        original=tool.name,
        definition=definition,
        digest=digest_of(tool.name, definition),
        title=said(tool.title or (hints.title if hints else None) or tool.name, 80),
        read_only=bool(hints and hints.read_only_hint),
    )


def _problem(tool: types.Tool) -> str:
    schema = tool.input_schema
    if not tool.name or len(tool.name) > 200:
        return "has a name of no use"
    if schema.get("type") != "object":
        return "has an input schema that is not of type object"
    if depth_of(schema) > _MAX_DEPTH or len(encode(schema)) > MAX_SCHEMA:
        return "has an input schema that is too large"
    if _refers_outside(schema):
        return "has an input schema that refers to another document"
    try:
        Schema(schema)
    except SchemaFault as fault:
        return f"has an input schema that is not valid ({said(str(fault).rstrip('.'), 200)})"
    return ""


def _refers_outside(schema: Any) -> bool:
    pending = [schema]
    while pending:
        item = pending.pop()
        for key, value in as_object(item).items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(value, str) and value[:1] != "#":
                return True
        pending += [*as_object(item).values(), *as_list(item)]
    return False
