"""Converts the tools that an MCP server lists to definitions. Unusable tools are left out and reported."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import mcp_types as types
from mcp import Client

from weft.core.messages import ToolDefinition
from weft.tools.foreign_schema import find_schema_problem
from weft.tools.mcp.config import shorten

MAX_NAME = 64
_SUFFIX = 8
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


def tool_names(server: str, originals: Sequence[str]) -> dict[str, str]:
    """Return a unique name for each tool: `server__tool`, in characters that every model API accepts.

    A name that was altered and collides with another one, or is too long, ends with a digest of the original name. It
    does not depend on the order of the list.
    """
    plain = {original: _ODD.sub("_", f"{server}__{original}") for original in originals}
    count = Counter(plain.values())
    names: dict[str, str] = {}
    for original, name in plain.items():
        altered = name != f"{server}__{original}"
        if len(name) > MAX_NAME or (altered and count[name] > 1):
            digest = hashlib.sha256(original.encode("utf-8", "replace")).hexdigest()[:_SUFFIX]
            name = f"{name[: MAX_NAME - _SUFFIX - 1]}_{digest}"
        names[original] = name
    return names


def digest_of(original: str, definition: ToolDefinition) -> str:
    """Return a digest of a tool's names, description and schema."""
    content = [original, definition.name, definition.description, definition.input_schema]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


MAX_TOOLS = 500
MAX_PAGES = 100
MAX_DESCRIPTION = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server lists it."""

    original: str
    definition: ToolDefinition
    digest: str
    title: str
    """The server's title, for the user interface."""
    read_only: bool
    """The server's claim. It never grants permission."""


async def list_tools(client: Client) -> list[types.Tool]:
    """Return all pages of the tool list, within limits."""
    found: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor or len(found) >= MAX_TOOLS:
            break
    return found[:MAX_TOOLS]


def read_tools(server: str, tools: Sequence[types.Tool]) -> tuple[dict[str, ListedTool], list[str]]:
    """Return the usable tools by name, and a sentence about each unusable one."""
    usable: dict[str, types.Tool] = {}
    problems: list[str] = []
    for tool in tools:
        problem = "is listed twice" if tool.name in usable else _problem(tool)
        if problem:
            problems.append(
                f"The tool {shorten(tool.name, 80)!r} of the MCP server {server!r} {problem}; it is left out."
            )
        else:
            usable[tool.name] = tool
    names = tool_names(server, list(usable))
    return {names[original]: _listed(names[original], tool) for original, tool in usable.items()}, problems


def _listed(name: str, tool: types.Tool) -> ListedTool:
    hints = tool.annotations
    description = (tool.description or "").encode("utf-8", "replace").decode().replace("\0", "")[:MAX_DESCRIPTION]
    definition = ToolDefinition(name=name, description=description, input_schema=tool.input_schema)
    return ListedTool(
        original=tool.name,
        definition=definition,
        digest=digest_of(tool.name, definition),
        title=shorten(tool.title or (hints.title if hints else None) or tool.name, 80),
        read_only=bool(hints and hints.read_only_hint),
    )


def _problem(tool: types.Tool) -> str:
    if not tool.name or len(tool.name) > 200:
        return "has a name of no use"
    return find_schema_problem(tool.input_schema)
