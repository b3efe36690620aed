"""The MCP server over the sessions of a `ServerContext`, for one owner or for the caller of each request: its tools run
the agent and list sessions and files. Files of sessions are resources. Other protocols may add tools, prompts and
resources."""

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from heald import __version__
from heald.core.errors import HealdError
from heald.core.json import JsonObject, encode_text
from heald.tools.mcp.apps import APPS
from heald.tools.tool_fault import ToolFault
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.mcp.agent_run import AgentRun, cancel_run, check_run
from heald_server.protocols.mcp.client_log import ClientLog, LogLevels
from heald_server.protocols.mcp.file_changes import FileChanges
from heald_server.protocols.mcp.file_resources import FileResources
from heald_server.protocols.mcp.icon import ICONS
from heald_server.protocols.mcp.prompt import ArgumentStart, AskedPrompt, OfferedPrompt, PromptAnswer
from heald_server.protocols.mcp.protocol import NAME
from heald_server.protocols.mcp.resource_address import file_address
from heald_server.protocols.mcp.resource_source import ResourceContents, ResourceSource
from heald_server.protocols.mcp.subscriptions import Subscriptions
from heald_server.protocols.mcp.tasks import TaskBoard, ToolTask, require_tasks, supports_tasks
from heald_server.protocols.mcp.tool import LastingWork, McpTool, OfferedCall, ToolAnswer, failure
from heald_server.protocols.mcp.tool_definitions import FILE, FILES, LIST, RUN

FindOwner = Callable[[ServerRequestContext[Any, Any]], str]
"""Returns the owner of the sessions that a request may use."""
RESOURCE_NOT_FOUND = -32002
"""The code up to protocol 2025-11-25."""
_LISTED_SESSIONS = 20
_MAX_COMPLETIONS = 100
_STATE_SECONDS = 24 * 3600.0
"""Seconds that the user of a client has to answer a question of a call."""
_LISTS_FRESH_MS = 60_000
_KEY_BYTES = 32


class McpOffer:
    """The tools, prompts and resources of the server."""

    def __init__(self, context: ServerContext, find_owner: FindOwner) -> None:
        self._context = context
        self._find_owner = find_owner
        self._files = FileResources(context)
        lasting = LastingWork(
            begin=lambda call: AgentRun(context, call).begin(),
            check=partial(check_run, context),
            cancel=partial(cancel_run, context),
        )
        tools = [
            McpTool(RUN, self._run_agent, tasks="may", lasting=lasting),
            McpTool(LIST, self._list_sessions),
            McpTool(FILES, self._list_files),
            McpTool(FILE, self._read_file),
            *(make_tool() for make_tool in context.mcp_tools),
        ]
        self._tools = {tool.definition.name: tool for tool in tools}
        self._prompts: dict[str, OfferedPrompt] = {
            prompt.definition.name: prompt for prompt in (make_prompt() for make_prompt in context.mcp_prompts)
        }
        self._sources: list[ResourceSource] = [self._files, *(make() for make in context.mcp_resources)]
        self._levels = LogLevels()
        self._subscriptions = Subscriptions(self._check_resource, self._find_task)
        self._tasks = TaskBoard(self._tools, self._make_call, self._subscriptions.on_task)
        changes: FileChanges | None = context.protocol_state.get(NAME)
        self._stop_listening = changes.listen(self._on_file) if changes is not None else None

    async def server(self) -> Server[Any]:
        """Return the server for the MCP package."""
        lists = CacheHint(ttl_ms=_LISTS_FRESH_MS, scope="private")
        changing = CacheHint(ttl_ms=0, scope="private")
        server = Server[Any](
            "heald",
            version=__version__,
            title="Heald",
            instructions="Runs agents that work with tools. Their files are resources.",
            icons=ICONS,
            cache_hints={
                "tools/list": lists,
                "prompts/list": lists,
                "resources/templates/list": lists,
                "resources/list": changing,
                "resources/read": changing,
            },
            get_tool_input_schema=self._input_schema,
            on_list_tools=self._list_tools,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )
        # The result may be a task, which is a result of an extension.
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._call_tool)
        # The package warns of a handler of logging/setLevel in the constructor: it is deprecated since 2026-07-28.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._levels.set_level)
        self._subscriptions.serve(server)
        self._tasks.serve(server)
        server.extensions[APPS] = {}
        fresh = secrets.token_bytes(_KEY_BYTES)
        key = await self._context.open_sessions.store.put_record("secret", NAME, fresh, only_new=True)
        security = RequestStateSecurity(keys=[key], ttl=_STATE_SECONDS, bind_principal=self._find_owner)
        server.middleware.append(RequestStateBoundary(security, default_audience="heald"))
        return server

    async def close(self) -> None:
        """End the subscriptions, and stop following the tasks."""
        if self._stop_listening is not None:
            self._stop_listening()
            self._stop_listening = None
        self._subscriptions.close()
        await self._tasks.close()

    def _on_file(self, address: str) -> None:
        self._subscriptions.publish(ResourceUpdated(address))

    def _make_call(self, request: ServerRequestContext[Any, Any], params: types.CallToolRequestParams) -> OfferedCall:
        log = ClientLog(request, self._levels)
        return OfferedCall(self._find_owner(request), request, params, log, self._subscriptions.publish)

    def _input_schema(self, name: str) -> JsonObject | None:
        tool = self._tools.get(name)
        return tool.definition.input_schema if tool is not None else None

    async def _list_tools(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.definition for tool in self._tools.values()])

    async def _call_tool(
        self, request: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> HandlerResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}.")
        call = self._make_call(request, params)
        if tool.tasks == "must":
            require_tasks(request)
        try:
            tool.check_arguments(call.arguments)
            if tool.tasks != "never" and supports_tasks(request):
                asked = await tool.prepare(call) if tool.prepare is not None else None
                return asked or await self._tasks.begin(tool, call)
        except (ApiError, HealdError, ToolFault) as error:
            return failure(error)
        return await tool.answer(call)

    async def _run_agent(self, call: OfferedCall) -> ToolAnswer:
        return await AgentRun(self._context, call).run()

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
        paths = list(await self._files.paths(info))
        return types.CallToolResult(
            content=[types.TextContent(text="\n".join(paths))], structured_content={"files": paths}
        )

    async def _read_file(self, call: OfferedCall) -> types.CallToolResult:
        address = file_address(str(call.arguments["session"]), str(call.arguments["path"]))
        resource = await self._files.read(call.owner, address)
        return types.CallToolResult(content=[types.EmbeddedResource(resource=resource)])

    async def _list_resources(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        owner = self._find_owner(request)
        resources = [resource for source in self._sources for resource in await source.list(owner)]
        return types.ListResourcesResult(resources=resources)

    async def _list_templates(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [template for source in self._sources for template in source.templates]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read_resource(
        self, request: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return types.ReadResourceResult(contents=[await self._check_resource(request, str(params.uri))])

    async def _check_resource(self, request: ServerRequestContext[Any, Any], uri: str) -> ResourceContents:
        """Read a resource of the caller. Raises MCPError if it has none of this address."""
        source = next((source for source in self._sources if uri.startswith(source.prefix)), self._files)
        try:
            return await source.read(self._find_owner(request), uri)
        except (ApiError, HealdError, ToolFault) as error:
            is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if is_modern else RESOURCE_NOT_FOUND
            raise MCPError(code, str(error), {"uri": uri}) from None

    async def _find_task(self, request: ServerRequestContext[Any, Any], name: str) -> ToolTask:
        return await self._tasks.find(request, name)

    async def _list_prompts(
        self, request: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[prompt.definition for prompt in self._prompts.values()])

    async def _get_prompt(
        self, request: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> PromptAnswer:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name[:80]!r}.")
        asked = AskedPrompt(self._find_owner(request), params)
        for argument in prompt.definition.arguments or ():
            if argument.required and argument.name not in asked.arguments:
                raise MCPError(types.INVALID_PARAMS, f"The prompt {params.name} needs the argument {argument.name!r}.")
        try:
            return await prompt.get(asked)
        except (ApiError, HealdError) as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None

    async def _complete(
        self, request: ServerRequestContext[Any, Any], params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Return the values of an argument that begin as the client's text does, else those that contain it."""
        others = (params.context.arguments if params.context is not None else None) or {}
        start = ArgumentStart(self._find_owner(request), params.argument.name, params.argument.value, others)
        values = list(dict.fromkeys(await self._possible_values(params.ref, start)))
        text = start.value.lower()
        matching = [value for value in values if value.lower().startswith(text)]
        matching += [value for value in values if text in value.lower() and value not in matching]
        completion = types.Completion(
            values=matching[:_MAX_COMPLETIONS], total=len(matching), has_more=len(matching) > _MAX_COMPLETIONS
        )
        return types.CompleteResult(completion=completion)

    async def _possible_values(
        self, reference: types.PromptReference | types.ResourceTemplateReference, start: ArgumentStart
    ) -> Sequence[str]:
        if isinstance(reference, types.PromptReference):
            prompt = self._prompts.get(reference.name)
            if prompt is None:
                raise MCPError(types.INVALID_PARAMS, f"There is no prompt {reference.name[:80]!r}.")
            return await prompt.complete(start) if prompt.complete is not None else []
        for source in self._sources:
            if any(template.uri_template == reference.uri for template in source.templates):
                return await source.complete(start)
        raise MCPError(types.INVALID_PARAMS, f"There is no resource template {reference.uri[:200]!r}.")
