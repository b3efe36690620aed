"""Calls of tools as tasks: the client gets a handle at once, polls it, answers its questions and may cancel it.

This is the extension `io.modelcontextprotocol/tasks` of protocol 2026-07-28. A task of lasting work is found again by
its id after a restart of the server, or at another node: its id holds the state that the work goes on from.
"""

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from heald.core.errors import HealdError
from heald.core.json import JsonObject
from heald.tools.mcp.tasks import TASKS, TaskParams
from heald_server.http.errors import ApiError, too_many
from heald_server.protocols.mcp.tool import McpTool, OfferedCall

MAX_OPEN = 200
"""Maximum tasks that are not over yet, of all owners of a server."""
MAX_TASKS = 1000
TTL_MS = 24 * 3600 * 1000
POLL_MS = 1000
Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
MakeCall = Callable[[ServerRequestContext[Any, Any], types.CallToolRequestParams], OfferedCall]

_log = logging.getLogger("heald")


class TaskUpdate(TaskParams):
    """The parameters of `tasks/update`."""

    input_responses: JsonObject
    """Answers by the keys of their requests. They are checked with the requests that are open."""


class ToolTask:
    """One call of a tool that runs apart from the request that began it."""

    def __init__(
        self, name: str, created: float, tool: McpTool, call: OfferedCall, on_change: Callable[["ToolTask"], object]
    ) -> None:
        self.name = name
        self.owner = call.owner
        self.status: Status = "working"
        self._created = self._updated = created
        self._message = ""
        self._outcome: JsonObject = {}
        self._requests: dict[str, types.InputRequest] = {}
        self._keys: dict[str, str] = {}
        """The key that the tool chose, by the key that the client sees: a key is used once in a task."""
        self._answers: types.InputResponses = {}
        self._answered = asyncio.Event()
        self._on_change = on_change
        self._tool = tool
        self._running = asyncio.create_task(self._run(replace(call, on_progress=self._on_progress)), name="heald-task")

    @property
    def is_over(self) -> bool:
        return self.status in ("completed", "failed", "cancelled")

    def as_handle(self) -> JsonObject:
        """The state without what the status adds."""
        return {
            "taskId": self.name,
            "status": self.status,
            **({"statusMessage": self._message} if self._message else {}),
            "createdAt": _timestamp(self._created),
            "lastUpdatedAt": _timestamp(self._updated),
            "ttlMs": TTL_MS,
            "pollIntervalMs": POLL_MS,
        }

    def as_json(self) -> JsonObject:
        """The whole state."""
        if self.status != "input_required":
            return self.as_handle() | self._outcome
        return self.as_handle() | {"inputRequests": {key: _dump(asked) for key, asked in self._requests.items()}}

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Accept answers to open requests; others are ignored. Raises MCPError for one that does not fit."""
        accepted = {
            key: _read_answer(request, answers[key]) for key, request in self._requests.items() if key in answers
        }
        for key, answer in accepted.items():
            del self._requests[key]
            self._answers[self._keys[key]] = answer
        if not self._requests and self.status == "input_required":
            self._answered.set()
            self._change("working")

    async def cancel(self) -> None:
        """End the work."""
        if self.is_over:
            return
        if self._tool.lasting is not None:
            await self._tool.lasting.cancel(self.owner, _state_of(self.name))
        self._running.cancel()

    def abandon(self) -> None:
        """Stop following the work. Lasting work goes on."""
        self._running.cancel()

    async def wait(self) -> None:
        """Wait until the task is over."""
        await asyncio.wait([self._running])

    async def _run(self, call: OfferedCall) -> None:
        try:
            while True:
                result = await self._tool.answer(call)
                if isinstance(result, types.CallToolResult):
                    break
                call = await self._ask(call, result)
        except asyncio.CancelledError:
            self._change("cancelled")
        except MCPError as error:
            self._outcome = {"error": _dump(error.error)}
            self._change("failed")
        except Exception:
            _log.exception("The task of the tool %s failed.", self._tool.definition.name)
            self._outcome = {"error": {"code": types.INTERNAL_ERROR, "message": "The server could not run the call."}}
            self._change("failed")
        else:
            self._outcome = {"result": _dump(result)}
            self._change("completed")

    async def _ask(self, call: OfferedCall, result: types.InputRequiredResult) -> OfferedCall:
        """Wait for the answers of the client. Returns the call with them."""
        self._answers = {}
        for key, request in (result.input_requests or {}).items():
            unique = key if key not in self._keys else f"{key}-{len(self._keys)}"
            self._keys[unique] = key
            self._requests[unique] = request
        if self._requests:
            self._answered.clear()
            self._change("input_required")
            await self._answered.wait()
        changes = {"input_responses": self._answers, "request_state": result.request_state}
        return replace(call, params=call.params.model_copy(update=changes))

    def _on_progress(self, line: str) -> None:
        self._message = line
        self._change(self.status)

    def _change(self, status: Status) -> None:
        self.status = status
        self._updated = time.time()
        self._on_change(self)


class TaskBoard:
    """The tasks of a server's clients, and the requests about them."""

    def __init__(
        self, tools: Mapping[str, McpTool], make_call: MakeCall, on_change: Callable[[ToolTask], object]
    ) -> None:
        self._tools = tools
        self._make_call = make_call
        self._on_change = on_change
        self._tasks: OrderedDict[tuple[str, str], ToolTask] = OrderedDict()

    def serve(self, server: Server[Any]) -> None:
        """Add the extension to a server."""
        server.extensions[TASKS] = {}
        server.add_request_handler("tasks/get", TaskParams, self._get)
        server.add_request_handler("tasks/update", TaskUpdate, self._update)
        server.add_request_handler("tasks/cancel", TaskParams, self._cancel)

    async def begin(self, tool: McpTool, call: OfferedCall) -> JsonObject:
        """Begin a call as a task. The task can be found by its id from then on."""
        if sum(not task.is_over for task in self._tasks.values()) >= MAX_OPEN:
            raise too_many(f"{MAX_OPEN} tasks run already; wait for one to end, or cancel one.")
        created = time.time()
        state = await tool.lasting.begin(call) if tool.lasting is not None else secrets.token_hex(16)
        name = f"{tool.definition.name}.{int(created * 1000):x}.{state}"
        if tool.lasting is not None:
            call = _continued(call, state)
        task = self._add(ToolTask(name, created, tool, call, self._on_change))
        return {"resultType": "task", **task.as_handle()}

    async def find(self, request: ServerRequestContext[Any, Any], name: str) -> ToolTask:
        """Return a task of the caller. Raises MCPError if it has none of this id."""
        tool_name, _, rest = name.partition(".")
        created = rest.partition(".")[0]
        tool = self._tools.get(tool_name)
        call = self._make_call(request, types.CallToolRequestParams(name=tool_name))
        task = self._tasks.get((call.owner, name))
        if task is not None:
            return task
        unknown = MCPError(types.INVALID_PARAMS, f"There is no task {name[:200]!r}.")
        if tool is None or tool.lasting is None:
            raise unknown
        try:
            milliseconds = int(created, 16)
            await tool.lasting.check(call.owner, _state_of(name))
        except (ValueError, ApiError, HealdError):
            raise unknown from None
        return self._add(ToolTask(name, milliseconds / 1000, tool, _continued(call, _state_of(name)), self._on_change))

    async def close(self) -> None:
        """Stop following the work. Lasting work goes on."""
        for task in self._tasks.values():
            task.abandon()
            await task.wait()

    def _add(self, task: ToolTask) -> ToolTask:
        self._tasks[task.owner, task.name] = task
        if len(self._tasks) > MAX_TASKS:
            oldest = next((key for key, task in self._tasks.items() if task.is_over), None)
            if oldest is not None:
                del self._tasks[oldest]
        return task

    async def _get(self, request: ServerRequestContext[Any, Any], params: TaskParams) -> JsonObject:
        return (await self._named(request, params)).as_json()

    async def _update(self, request: ServerRequestContext[Any, Any], params: TaskUpdate) -> JsonObject:
        (await self._named(request, params)).answer(params.input_responses)
        return {}

    async def _cancel(self, request: ServerRequestContext[Any, Any], params: TaskParams) -> JsonObject:
        await (await self._named(request, params)).cancel()
        return {}

    async def _named(self, request: ServerRequestContext[Any, Any], params: TaskParams) -> ToolTask:
        if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", request.method)
        headers = getattr(request.request, "headers", None)
        if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != params.task_id:
            raise MCPError(types.HEADER_MISMATCH, f"The header {MCP_NAME_HEADER} is not the taskId of the request.")
        require_tasks(request)
        return await self.find(request, params.task_id)


def supports_tasks(request: ServerRequestContext[Any, Any]) -> bool:
    """Return whether the client of a request declares that it supports tasks."""
    capabilities = request.session.client_capabilities
    is_modern = request.protocol_version in MODERN_PROTOCOL_VERSIONS
    return is_modern and capabilities is not None and TASKS in (capabilities.extensions or {})


def require_tasks(request: ServerRequestContext[Any, Any]) -> None:
    """Raise unless the client of a request declares that it supports tasks."""
    if not supports_tasks(request):
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The client does not declare that it supports tasks, which this request needs.",
            {"requiredCapabilities": {"extensions": {TASKS: {}}}},
        )


def _state_of(name: str) -> str:
    """Return the part of a task's id after the tool and the time."""
    return name.split(".", 2)[-1]


def _continued(call: OfferedCall, state: str) -> OfferedCall:
    return replace(call, params=call.params.model_copy(update={"request_state": state}))


def _read_answer(request: types.InputRequest, answer: Any) -> types.InputResponse:
    try:
        match request:
            case types.ElicitRequest():
                return types.ElicitResult.model_validate(answer, by_name=False)
            case types.ListRootsRequest():
                return types.ListRootsResult.model_validate(answer, by_name=False)
            case types.CreateMessageRequest(params=params) if params.tools:
                return types.CreateMessageResultWithTools.model_validate(answer, by_name=False)
            case types.CreateMessageRequest():
                return types.CreateMessageResult.model_validate(answer, by_name=False)
    except ValidationError:
        raise MCPError(types.INVALID_PARAMS, f"An answer does not fit its request {request.method}.") from None


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _dump(model: BaseModel) -> JsonObject:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
