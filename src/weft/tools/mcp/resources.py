"""Resources of MCP servers: lists of them, and two tools with which a model lists and reads them."""

import fnmatch
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol, TypeVar

import mcp_types as types
from mcp import Client, MCPError
from pydantic import ValidationError

from weft.core.json import JsonObject
from weft.core.messages import ResultPart, ToolDefinition
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool
from weft.tools.mcp.config import shorten
from weft.tools.mcp.content import MAX_PARTS, convert_resource, join_parts
from weft.tools.results import ToolOutput

MAX_LISTED = 500
_MAX_PAGES = 20
_SHOWN = 200
_LIST_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"pattern": {"type": "string", "description": "Names or addresses, such as *report*. Default: all."}},
    "additionalProperties": False,
}
_READ_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "The address of the resource."}},
    "required": ["uri"],
    "additionalProperties": False,
}
Listed = TypeVar("Listed")
T = TypeVar("T")


class Requester(Protocol):
    """Makes requests to one server."""

    async def request(self, what: str, send: Callable[[Client], Awaitable[T]]) -> T: ...


async def read_pages(
    fetch: Callable[[str | None], Awaitable[tuple[Sequence[Listed], str | None]]],
) -> list[Listed]:
    """Return the items of all pages, within limits. A list that cannot be read is empty."""
    found: list[Listed] = []
    cursor: str | None = None
    with suppress(MCPError, ValidationError):
        for _ in range(_MAX_PAGES):
            items, cursor = await fetch(cursor)
            found += items
            if not cursor or len(found) >= MAX_LISTED:
                break
    return found[:MAX_LISTED]


async def list_resources(client: Client) -> list[types.Resource]:
    async def fetch(cursor: str | None) -> tuple[list[types.Resource], str | None]:
        page = await client.list_resources(cursor=cursor)
        return page.resources, page.next_cursor

    return await read_pages(fetch)


async def list_templates(client: Client) -> list[types.ResourceTemplate]:
    async def fetch(cursor: str | None) -> tuple[list[types.ResourceTemplate], str | None]:
        page = await client.list_resource_templates(cursor=cursor)
        return page.resource_templates, page.next_cursor

    return await read_pages(fetch)


async def list_prompts(client: Client) -> list[types.Prompt]:
    async def fetch(cursor: str | None) -> tuple[list[types.Prompt], str | None]:
        page = await client.list_prompts(cursor=cursor)
        return page.prompts, page.next_cursor

    return await read_pages(fetch)


async def read_resource(server: Requester, uri: str) -> list[ResultPart]:
    """Read a resource. Raises McpFault if that fails."""
    result = await server.request(uri, lambda client: client.read_resource(uri))
    return [convert_resource(held) for held in result.contents[:MAX_PARTS]]


def resource_tools(name: str, server: Requester, timeout: float) -> list[Tool]:
    """Make the tools that list and read the resources of a server. Reading asks, since the address may hold data."""

    async def list_all(args: JsonObject, ctx: ToolContext) -> str:  # noqa: ARG001
        resources = await server.request("resources/list", list_resources)
        templates = await server.request("resources/templates/list", list_templates)
        lines = [_describe(each.uri, each) for each in resources]
        lines += [f"{_describe(each.uri_template, each)} (a template: fill in the braces)" for each in templates]
        pattern = str(args.get("pattern") or "*")
        lines = [line for line in lines if fnmatch.fnmatch(line.lower(), f"*{pattern.lower()}*")]
        more = [f"… and {len(lines) - _SHOWN} more; give a pattern"] if len(lines) > _SHOWN else []
        return "\n".join([*lines[:_SHOWN], *more]) or "There is no such resource."

    async def read(args: JsonObject, ctx: ToolContext) -> ToolOutput:  # noqa: ARG001
        return join_parts(await read_resource(server, str(args["uri"])))

    listing = ToolDefinition(
        name=f"{name}__list_resources",
        description=f"Lists the resources (documents, data) that the MCP server {name} offers.",
        input_schema=_LIST_SCHEMA,
    )
    reading = ToolDefinition(
        name=f"{name}__read_resource",
        description=f"Reads a resource of the MCP server {name} by its address.",
        input_schema=_READ_SCHEMA,
    )
    return [
        Tool(
            definition=listing,
            run=list_all,
            effect="read",
            timeout=timeout,
            summary=lambda _: f"{name}: list resources",
        ),
        Tool(
            definition=reading,
            run=read,
            effect="any",
            timeout=timeout,
            subjects=lambda args: [str(args["uri"])],
            summary=lambda args: f"{name}: read {shorten(args.get('uri', ''), 200)}",
        ),
    ]


def _describe(address: str, item: types.Resource | types.ResourceTemplate) -> str:
    kind = f" [{shorten(item.mime_type, 60)}]" if item.mime_type else ""
    about = f": {shorten(item.description, 200)}" if item.description else ""
    return f"{shorten(address, 500)} {shorten(item.title or item.name, 80)}{kind}{about}"
