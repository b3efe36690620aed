"""Calls that an MCP server runs as tasks: it answers with a handle, which the client polls, answers and cancels.

This is the extension `io.modelcontextprotocol/tasks` of protocol 2026-07-28. A server decides by itself which calls
become tasks, once the client declares the extension.
"""

from collections.abc import Sequence
from typing import Any, Literal

import mcp_types as types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim

TASKS = "io.modelcontextprotocol/tasks"
MIN_POLL_SECONDS, MAX_POLL_SECONDS, POLL_SECONDS = 0.1, 60.0, 1.0
TaskStatus = Literal["working", "input_required", "completed", "failed", "cancelled"]


class CreatedTask(types.Result):
    """The result of a call that became a task."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: TaskStatus = "working"
    poll_interval_ms: int | None = None


class TaskState(types.Result):
    """The state of a task, and what its status adds."""

    task_id: str
    status: TaskStatus
    status_message: str | None = None
    poll_interval_ms: int | None = None
    input_requests: types.InputRequests | None = None
    result: dict[str, Any] | None = None
    error: types.ErrorData | None = None


class TaskParams(types.RequestParams):
    """The task of a request."""

    task_id: str


class TaskAnswers(TaskParams):
    """Answers to the requests of a task."""

    input_responses: types.InputResponses


class GetTask(types.Request[TaskParams, Literal["tasks/get"]]):
    """Asks for the state of a task."""

    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams
    name_param = "taskId"


class UpdateTask(types.Request[TaskAnswers, Literal["tasks/update"]]):
    """Sends answers to the requests of a task."""

    method: Literal["tasks/update"] = "tasks/update"
    params: TaskAnswers
    name_param = "taskId"


class CancelTask(types.Request[TaskParams, Literal["tasks/cancel"]]):
    """Asks the server to end a task."""

    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskParams
    name_param = "taskId"


class TaskExtension(ClientExtension):
    """Declares that this client supports tasks. The connection follows them itself."""

    identifier = TASKS

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=_refuse)]


def poll_seconds(interval: int | None) -> float:
    """Return the seconds until the next poll."""
    seconds = interval / 1000 if interval is not None else POLL_SECONDS
    return max(MIN_POLL_SECONDS, min(seconds, MAX_POLL_SECONDS))


async def _refuse(task: CreatedTask, context: ClaimContext) -> types.CallToolResult:
    raise NotImplementedError("The connection follows a task, so that it can go on after a restart of the server.")
