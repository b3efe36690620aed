"""The MCP server over the sessions of a `ServerContext`, for one owner or for the caller of each request. Its tools run
the agent, list sessions and files, and build a page: one variant of a studio project, with progress and cancelling.

At `/mcp` it is served over streamable HTTP, behind the guard and its tokens. Each owner has a server of its own there,
so that a connection of one cannot be continued by another.
"""

import asyncio
import base64
import mimetypes
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from weft import __version__
from weft.core.errors import WeftError
from weft.core.json import JsonObject, encode_text
from weft.server.context import ServerContext
from weft.server.conversation import decode_media, sniff_image
from weft.server.errors import ApiError
from weft.server.mcp.agent_tool import (
    BUILD,
    FILE,
    FILES,
    LIST,
    RUN,
    AgentRun,
    check_arguments,
    file_address,
)
from weft.server.operations import caller_of
from weft.sessions.store import SessionInfo
from weft.tools.results import ToolFault

if TYPE_CHECKING:
    from weft.studio.studio import Studio


FindOwner = Callable[[ServerRequestContext[Any, Any]], str]
"""Returns the owner of the sessions that a request may use."""
RESOURCE_NOT_FOUND = -32002
"""The code up to protocol 2025-11-25."""
_TEMPLATE = "weft://sessions/{session}/files/{+path}"
_PREFIX = "weft://sessions/"
_RECENT = 5
_MAX_FILES = 500
_MAX_BYTES = 4 * 1024 * 1024
_MAX_TEXT = 400_000


class McpOffer:
    """The tools and resources of the server."""

    def __init__(self, context: ServerContext, find_owner: FindOwner) -> None:
        self._context = context
        self._find_owner = find_owner

    def server(self) -> Server[Any]:
        """Return the server for the MCP package."""
        return Server(
            "weft",
            version=__version__,
            title="Weft",
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
        return types.ListToolsResult(tools=self._tools())

    def _tools(self) -> list[types.Tool]:
        return [RUN, *([BUILD] if self._context.studio is not None else []), LIST, FILES, FILE]

    async def _call_tool(
        self, request: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = next((each for each in self._tools() if each.name == params.name), None)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}.")
        arguments = params.arguments or {}
        owner = self._find_owner(request)
        try:
            check_arguments(tool, arguments)
            match tool.name:
                case "run_agent":
                    return await AgentRun(self._context, owner, request, params).run()
                case "build_page":
                    return await build_page(self._context.studio, owner, request, arguments)
                case "list_sessions":
                    return await self._show_sessions(owner, int(arguments.get("limit") or 20))
                case "list_files":
                    info = await self._context.open_sessions.find_info(owner, str(arguments["session"]))
                    paths = await self._paths(info)
                    return types.CallToolResult(
                        content=[types.TextContent(text="\n".join(paths))], structured_content={"files": paths}
                    )
                case _:
                    address = file_address(str(arguments["session"]), str(arguments["path"]))
                    held = await self._read(owner, address)
                    return types.CallToolResult(content=[types.EmbeddedResource(resource=held)])
        except (ApiError, WeftError, ToolFault) as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)

    async def _show_sessions(self, owner: str, limit: int) -> types.CallToolResult:
        page = await self._context.sessions.store.list(owner=owner, kind="", limit=limit)
        found: list[JsonObject] = [
            {"session": info.id, "title": info.title, "updated": info.updated} for info in page.sessions
        ]
        text = "\n".join(encode_text(each) for each in found)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content={"sessions": found})

    async def _list_resources(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the files of the sessions that changed last; the template reaches all."""
        owner = self._find_owner(request)
        page = await self._context.sessions.store.list(owner=owner, kind="", limit=_RECENT)
        found: list[types.Resource] = []
        for info in page.sessions:
            for path in (await self._paths(info))[: _MAX_FILES - len(found)]:
                kind = mimetypes.guess_type(path)[0]
                about = f"A file of the session {info.title or info.id}"
                found.append(
                    types.Resource(name=path, uri=file_address(info.id, path), mime_type=kind, description=about)
                )
        return types.ListResourcesResult(resources=found)

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
        except (ApiError, WeftError, ToolFault) as error:
            is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if is_modern else RESOURCE_NOT_FOUND
            raise MCPError(code, str(error), {"uri": str(params.uri)}) from None

    async def _read(self, owner: str, uri: str) -> types.TextResourceContents | types.BlobResourceContents:
        session, mark, path = uri.removeprefix(_PREFIX).partition("/files/")
        if not uri.startswith(_PREFIX) or not mark or not path:
            raise WeftError(f"There is no resource {uri[:200]!r}; its address begins with {_PREFIX}.")
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


async def build_page(
    studio: "Studio", owner: str, request: ServerRequestContext[Any, Any], arguments: JsonObject
) -> types.CallToolResult:
    """Build a page and return its files."""
    from weft.server.studio_host import read_brief
    from weft.server.studio_views import PromptBody, SourceBody
    from weft.studio.project import VariantRef

    images: list[SourceBody] = []
    for data in arguments.get("images") or ():
        kind = sniff_image(decode_media(str(data)))
        images.append(SourceBody(data=f"data:{kind};base64,{data}"))
    model = arguments.get("model")
    wanted = await read_brief(
        PromptBody(text=str(arguments.get("prompt") or ""), images=images),
        stack=str(arguments.get("stack") or "html_tailwind"),
        models=[str(model)] if model else [],
        variants=1,
    )
    project = await studio.create(owner, wanted)
    version = project.versions[-1]
    base = VariantRef(version.id, version.variants[0].index)
    following = asyncio.create_task(_report(studio, owner, project.id, request))
    try:
        version = await studio.wait_version(owner, project.id, version.id)
    except asyncio.CancelledError:
        await asyncio.shield(studio.cancel(owner, project.id, base))
        raise
    finally:
        following.cancel()
        await asyncio.wait([following])
    variant = version.variants[0]
    files: Mapping[str, bytes] = {}
    if variant.status == "completed":
        files = await studio.files(owner, project.id, base)
    content: list[types.ContentBlock] = [
        types.TextContent(text=f"The project {project.id} is {variant.status}, by {variant.model}.")
    ]
    room = _MAX_TEXT
    for path, data in files.items():
        text = data.decode("utf-8", "replace")
        if len(text) > room or "\0" in text:
            content.append(types.ResourceLink(name=path, uri=file_address(variant.session, path)))
            continue
        room -= len(text)
        held = types.TextResourceContents(uri=file_address(variant.session, path), text=text)
        content.append(types.EmbeddedResource(resource=held))
    return types.CallToolResult(
        content=content,
        structured_content={"project": project.id, "session": variant.session, "files": list(files)},
        is_error=variant.status != "completed",
    )


async def _report(studio: "Studio", owner: str, project: str, request: ServerRequestContext[Any, Any]) -> None:
    steps = 0
    async with aclosing(studio.watch(owner, project)) as changes:
        async for now in changes:
            steps += 1
            variant = now.versions[-1].variants[0]
            await request.session.report_progress(steps, None, f"{variant.model}: {variant.status}")


# --- over HTTP -------------------------------------------------------------------------------------------------------


MAX_OWNERS = 200
"""Maximum owners with a running server. The one that was not used for the longest time ends."""
MAX_BODY = 24 * 1024 * 1024
_MAX_EVENTS = 2000


class McpEndpoint:
    """Answers the requests to `/mcp`."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._running: OrderedDict[str, _OwnerServer] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        owner = caller_of(Request(scope)).owner
        server = self._running.get(owner)
        if server is None:
            server = self._running[owner] = _OwnerServer(self._context, owner)
        self._running.move_to_end(owner)
        await server.start()
        if len(self._running) > MAX_OWNERS:
            _, oldest = self._running.popitem(last=False)
            oldest.stop()
        await server.manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        for server in self._running.values():
            server.stop()
            await server.wait()


class _OwnerServer:
    """The server of one owner. It runs in a task, as the MCP package requires."""

    def __init__(self, context: ServerContext, owner: str) -> None:
        offer = McpOffer(context, lambda _: owner)
        self.manager = StreamableHTTPSessionManager(
            app=offer.server(), event_store=RecentEvents(), max_request_body_size=MAX_BODY, retry_interval=1000
        )
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="weft-mcp-server")
        await self._ready.wait()

    async def _run(self) -> None:
        async with self.manager.run():
            self._ready.set()
            await self._stop.wait()

    def stop(self) -> None:
        self._stop.set()

    async def wait(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task], timeout=10)


class RecentEvents(EventStore):
    """Keeps the last events of streams, so that a client whose connection was cut gets the rest."""

    def __init__(self) -> None:
        self._events: deque[tuple[int, str, types.JSONRPCMessage | None]] = deque(maxlen=_MAX_EVENTS)
        self._last = 0

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._last += 1
        self._events.append((self._last, stream_id, message))
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        number = int(last_event_id) if last_event_id.isdecimal() else -1
        stream = next((name for at, name, _ in self._events if at == number), None)
        if stream is None:
            return None
        for at, name, message in list(self._events):
            if at > number and name == stream and message is not None:
                await send_callback(EventMessage(message, str(at)))
        return stream
