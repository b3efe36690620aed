"""The MCP server over the sessions of a `ServerContext`, for one owner or for the caller of each request: its tools run
the agent and list sessions and files; other protocols may add tools. Files of sessions are resources."""

import asyncio
import base64
import mimetypes
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from heald import __version__
from heald.core.errors import HealdError
from heald.core.json import JsonObject, encode_text
from heald.sessions.session_info import SessionInfo
from heald.tools.tool_fault import ToolFault
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.mcp.agent_run import AgentRun
from heald_server.protocols.mcp.resource_address import file_address
from heald_server.protocols.mcp.tool import McpTool, OfferedCall
from heald_server.protocols.mcp.tool_definitions import FILE, FILES, LIST, RUN

FindOwner = Callable[[ServerRequestContext[Any, Any]], str]
"""Returns the owner of the sessions that a request may use."""
RESOURCE_NOT_FOUND = -32002
"""The code up to protocol 2025-11-25."""
_TEMPLATE = "heald://sessions/{session}/files/{+path}"
_PREFIX = "heald://sessions/"
_RECENT = 5
_LISTED_SESSIONS = 20
_MAX_FILES = 500
_MAX_BYTES = 4 * 1024 * 1024


class McpOffer:
    """The tools and resources of the server."""

    def __init__(self, context: ServerContext, find_owner: FindOwner) -> None:
        self._context = context
        self._find_owner = find_owner
        tools = [
            McpTool(RUN, self._run_agent),
            McpTool(LIST, self._list_sessions),
            McpTool(FILES, self._list_files),
            McpTool(FILE, self._read_file),
            *(make_tool() for make_tool in context.mcp_tools),
        ]
        self._tools = {tool.definition.name: tool for tool in tools}

    def server(self) -> Server[Any]:
        """Return the server for the MCP package."""
        return Server(
            "heald",
            version=__version__,
            title="Heald",
            instructions="Runs agents that work with tools. Their files are resources.",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def _list_tools(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.definition for tool in self._tools.values()])

    async def _call_tool(
        self, request: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}.")
        call = OfferedCall(self._find_owner(request), request, params)
        try:
            tool.check_arguments(call.arguments)
            return await tool.run(call)
        except (ApiError, HealdError, ToolFault) as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)

    async def _run_agent(self, call: OfferedCall) -> types.CallToolResult | types.InputRequiredResult:
        return await AgentRun(self._context, call.owner, call.request, call.params).run()

    async def _list_sessions(self, call: OfferedCall) -> types.CallToolResult:
        limit = int(call.arguments.get("limit") or _LISTED_SESSIONS)
        page = await self._context.sessions.store.list(owner=call.owner, kind="", limit=limit)
        rows: list[JsonObject] = [
            {"session": info.id, "title": info.title, "updated": info.updated} for info in page.sessions
        ]
        text = "\n".join(encode_text(row) for row in rows)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content={"sessions": rows})

    async def _list_files(self, call: OfferedCall) -> types.CallToolResult:
        info = await self._context.open_sessions.find_info(call.owner, str(call.arguments["session"]))
        paths = await self._paths(info)
        return types.CallToolResult(
            content=[types.TextContent(text="\n".join(paths))], structured_content={"files": paths}
        )

    async def _read_file(self, call: OfferedCall) -> types.CallToolResult:
        address = file_address(str(call.arguments["session"]), str(call.arguments["path"]))
        resource = await self._read(call.owner, address)
        return types.CallToolResult(content=[types.EmbeddedResource(resource=resource)])

    async def _list_resources(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the files of the sessions that changed last; the template reaches all."""
        owner = self._find_owner(request)
        page = await self._context.sessions.store.list(owner=owner, kind="", limit=_RECENT)
        resources: list[types.Resource] = []
        for info in page.sessions:
            for path in (await self._paths(info))[: _MAX_FILES - len(resources)]:
                kind = mimetypes.guess_type(path)[0]
                about = f"A file of the session {info.title or info.id}"
                resources.append(
                    types.Resource(name=path, uri=file_address(info.id, path), mime_type=kind, description=about)
                )
        return types.ListResourcesResult(resources=resources)

    async def _list_templates(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="file", uri_template=_TEMPLATE, description="A file of a session; list_sessions lists the sessions."
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, request: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            return types.ReadResourceResult(contents=[await self._read(self._find_owner(request), str(params.uri))])
        except (ApiError, HealdError, ToolFault) as error:
            is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if is_modern else RESOURCE_NOT_FOUND
            raise MCPError(code, str(error), {"uri": str(params.uri)}) from None

    async def _read(self, owner: str, uri: str) -> types.TextResourceContents | types.BlobResourceContents:
        session, mark, path = uri.removeprefix(_PREFIX).partition("/files/")
        if not uri.startswith(_PREFIX) or not mark or not path:
            raise HealdError(f"There is no resource {uri[:200]!r}; its address begins with {_PREFIX}.")
        info = await self._context.open_sessions.find_info(owner, session)
        path = unquote(path)
        async with self._context.open_sessions.use(info) as opened:
            data = await asyncio.to_thread(opened.workspace.read, path, limit=_MAX_BYTES, remember=False)
        kind = mimetypes.guess_type(path)[0]
        address = f"{_PREFIX}{info.id}/files/{quote(path)}"
        try:
            text = data.decode()
        except UnicodeDecodeError:
            blob = base64.b64encode(data).decode()
            return types.BlobResourceContents(uri=address, mime_type=kind, blob=blob)
        return types.TextResourceContents(uri=address, mime_type=kind or "text/plain", text=text)

    async def _paths(self, info: SessionInfo) -> list[str]:
        async with self._context.open_sessions.use(info) as opened:
            listing = await asyncio.to_thread(lambda: opened.workspace.list(depth=None))
        return [entry.path for entry in listing if entry.kind == "file"][:_MAX_FILES]
