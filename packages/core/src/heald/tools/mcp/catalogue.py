"""Converts the tools that an MCP server lists to definitions. Unusable tools are left out and reported."""

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import mcp_types as types
import msgspec
from mcp import Client

from heald.core.json import JsonObject, encode, loads
from heald.core.messages import ToolDefinition
from heald.tools.definitions import Tool
from heald.tools.json_schema import MAX_SCHEMA, find_schema_problem
from heald.tools.mcp.apps import is_for_model, page_address
from heald.tools.mcp.config import shorten
from heald.tools.mcp.messages import RawSchemas
from heald.tools.schema_patterns import pattern_options

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
MAX_SCHEMAS = 1024 * 1024
"""Maximum bytes of the schemas of one server's tools together."""
READ_SECONDS = 10.0
"""Maximum seconds to check and compile the schemas of one list."""
_MAX_PROBLEMS = 20
_PAUSE_SECONDS = 0.001
"""Between two schemas, so that the event loop gets its turn."""
pattern_options()  # loads the library of the validator before an event loop runs
_threads = ThreadPoolExecutor(1, "heald-mcp-schemas")
"""One thread for all servers, so that compiling leaves time for the event loop."""


class ListedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as its server lists it."""

    original: str
    definition: ToolDefinition
    digest: str
    title: str
    """The server's title, for the user interface."""
    read_only: bool
    """The server's claim. It never grants permission."""
    app: str | None = None
    """The address of the page that shows its results."""


MakeTool = Callable[[ListedTool], Tool]
Offer = dict[str, tuple[ListedTool, Tool]]
"""The usable tools of a server, by name."""


async def list_tools(client: Client) -> list[types.Tool]:
    """Return all pages of the tool list, within limits."""
    tools: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [tool for tool in page.tools if is_for_model(tool)]
        cursor = page.next_cursor
        if not cursor or len(tools) >= MAX_TOOLS:
            break
    return tools[:MAX_TOOLS]


async def read_tools(
    server: str, tools: Sequence[types.Tool], schemas: RawSchemas, make_tool: MakeTool
) -> tuple[Offer, list[str]]:
    """Return the usable tools by name, and a sentence about each unusable one. The work is done in a thread."""
    described = [(tool, schemas.find(tool.input_schema)) for tool in tools]
    return await asyncio.get_running_loop().run_in_executor(_threads, _read_tools, server, described, make_tool)


def _read_tools(
    server: str, tools: Sequence[tuple[types.Tool, bytes | JsonObject]], make_tool: MakeTool
) -> tuple[Offer, list[str]]:
    usable: dict[str, tuple[types.Tool, JsonObject]] = {}
    problems: list[str] = []
    deadline = monotonic() + READ_SECONDS
    room = MAX_SCHEMAS
    for tool, raw in tools:
        size = len(raw) if isinstance(raw, bytes) else len(encode(raw))
        schema, problem = None, ""
        if tool.name in usable:
            problem = "is listed twice"
        elif not tool.name or len(tool.name) > 200:
            problem = "has a name of no use"
        elif size > MAX_SCHEMA:
            problem = "has an input schema that is too large"
        elif size > room:
            problem = f"comes after {MAX_SCHEMAS // 1024 // 1024} MiB of schemas"
        elif monotonic() > deadline:
            problem = f"comes after {READ_SECONDS:g} s of checks of schemas"
        else:
            schema, problem = _parse_schema(raw)
            sleep(_PAUSE_SECONDS)
        if schema is None or problem:
            problems.append(
                f"The tool {shorten(tool.name, 80)!r} of the MCP server {server!r} {problem}; it is left out."
            )
        else:
            room -= size
            usable[tool.name] = tool, schema
    names = tool_names(server, list(usable))
    offer: Offer = {}
    for original, (tool, schema) in usable.items():
        listed = _listed(names[original], tool, schema)
        offer[listed.definition.name] = listed, make_tool(listed)
    if len(problems) > _MAX_PROBLEMS:
        more = len(problems) - _MAX_PROBLEMS
        problems[_MAX_PROBLEMS:] = [f"{more} more tools of the MCP server {server!r} are left out for such reasons."]
    return offer, problems


def _parse_schema(raw: bytes | JsonObject) -> tuple[JsonObject | None, str]:
    """Return a schema, and why it cannot be used; empty if it can be."""
    try:
        schema = loads(raw) if isinstance(raw, bytes) else raw
    except (ValueError, RecursionError):
        return None, "has an input schema that cannot be read"
    return schema, find_schema_problem(schema)


def _listed(name: str, tool: types.Tool, schema: JsonObject) -> ListedTool:
    hints = tool.annotations
    description = (tool.description or "").encode("utf-8", "replace").decode().replace("\0", "")[:MAX_DESCRIPTION]
    definition = ToolDefinition(name=name, description=description, input_schema=schema)
    return ListedTool(
        original=tool.name,
        definition=definition,
        digest=digest_of(tool.name, definition),
        title=shorten(tool.title or (hints.title if hints else None) or tool.name, 80),
        read_only=bool(hints and hints.read_only_hint),
        app=page_address(tool),
    )
