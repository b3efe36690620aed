"""The resources of MCP servers, with two tools with which a model lists and reads them."""

import fnmatch
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import Client

from heald.core.json import JsonObject
from heald.core.messages import ResultPart, ToolDefinition
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.mcp.config import shorten
from heald.tools.mcp.content import MAX_PARTS, convert_resource, join_parts
from heald.tools.mcp.pages import read_pages
from heald.tools.tool_output import ToolOutput

if TYPE_CHECKING:
    from heald.tools.mcp.connection import McpConnection

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


async def list_resources(client: Client) -> list[types.Resource]:
    return await read_pages(lambda cursor: client.list_resources(cursor=cursor), lambda page: page.resources)


async def list_templates(client: Client) -> list[types.ResourceTemplate]:
    return await read_pages(
        lambda cursor: client.list_resource_templates(cursor=cursor), lambda page: page.resource_templates
    )


async def read_resource(server: "McpConnection", uri: str) -> list[ResultPart]:
    """Read a resource. Raises McpFault if that fails."""
    result = await server.request(uri, lambda client: client.read_resource(uri))
    return [convert_resource(held) for held in result.contents[:MAX_PARTS]]


def resource_tools(name: str, server: "McpConnection", timeout: float) -> list[Tool]:
    """Make the tools that list and read the resources of a server. Reading asks, since the address may hold data."""

    async def list_all(args: JsonObject, ctx: ToolContext) -> str:  # noqa: ARG001
        resources = await server.request("resources/list", list_resources)
        templates = await server.request("resources/templates/list", list_templates)
        lines = [_describe(resource.uri, resource) for resource in resources]
        lines += [
            f"{_describe(template.uri_template, template)} (a template: fill in the braces)" for template in templates
        ]
        pattern = str(args.get("pattern") or "*")
        lines = [line for line in lines if fnmatch.fnmatch(line.lower(), f"*{pattern.lower()}*")]
        more = [f"… and {len(lines) - _SHOWN} more; give a pattern"] if len(lines) > _SHOWN else []
        return "\n".join([*lines[:_SHOWN], *more]) or "There is no such resource."

    async def read(args: JsonObject, ctx: ToolContext) -> ToolOutput:  # noqa: ARG001
        return join_parts(await read_resource(server, str(args["uri"])))

    return [
        Tool(
            definition=ToolDefinition(
                name=f"{name}__list_resources",
                description=f"Lists the resources (documents, data) that the MCP server {name} offers.",
                input_schema=_LIST_SCHEMA,
            ),
            run=list_all,
            effect="read",
            timeout=timeout,
            summary=lambda _: f"{name}: list resources",
        ),
        Tool(
            definition=ToolDefinition(
                name=f"{name}__read_resource",
                description=f"Reads a resource of the MCP server {name} by its address.",
                input_schema=_READ_SCHEMA,
            ),
            run=read,
            timeout=timeout,
            subjects=lambda args: [str(args["uri"])],
            summary=lambda args: f"{name}: read {shorten(args.get('uri', ''), 200)}",
        ),
    ]


def _describe(address: str, item: types.Resource | types.ResourceTemplate) -> str:
    kind = f" [{shorten(item.mime_type, 60)}]" if item.mime_type else ""
    about = f": {shorten(item.description, 200)}" if item.description else ""
    return f"{shorten(address, 500)} {shorten(item.title or item.name, 80)}{kind}{about}"
