"""Tools that clients run: sets them, and gives waiting calls their results."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from heald.core.messages import ToolDefinition
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.tools.client_tools import read_client_tools
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.fields import Body, Empty, Name
from heald_server.routes.paths import SESSION
from heald_server.stored_answer import storing_answer


class ToolResultBody(Body, frozen=True, kw_only=True):
    call_id: Annotated[Name, msgspec.Meta(min_length=1)]
    content: Any
    """A text, parts, or any JSON. `{"type": "execution-denied", "reason": …}` means that the client refuses."""
    is_error: bool = False


class ClientToolsView(msgspec.Struct, frozen=True):
    tools: list[ToolDefinition]


async def set_client_tools(context: ServerContext, info: SessionInfo, tools: Sequence[object]) -> list[ToolDefinition]:
    """Replace the client tools of a session; the model is offered them from its next turn on. Returns them."""
    definitions = await parse_client_tools(tools)
    async with context.open_sessions.use(info) as session:
        await session.set_client_tools(definitions)
    return definitions


async def parse_client_tools(tools: Sequence[object]) -> list[ToolDefinition]:
    """Check definitions in a thread: compiling a schema of a client must not block the loop."""
    return await asyncio.to_thread(read_client_tools, tools)


async def submit_tool_result(
    context: ServerContext, info: SessionInfo, call_id: str, content: object, is_error: bool = False
) -> None:
    """Give a waiting call its result. Returns once it is stored."""
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            raise ApiError("conflict", f"The call {call_id[:100]!r} does not wait for a result: its exchange is over.")
        async with storing_answer(session, ["tool_result"], call_id):
            session.send_tool_result(call_id, content, is_error)


async def _send_result(call: ApiCall) -> Empty:
    body: ToolResultBody = call.body
    await submit_tool_result(call.context, await call.session(), body.call_id, body.content, body.is_error)
    return Empty()


async def _list_client_tools(call: ApiCall) -> ClientToolsView:
    info = await call.session()
    session = call.context.open_sessions.find_open(info.id)
    if session is not None:
        return ClientToolsView(session.client_tools)
    return ClientToolsView(SessionSettings.of(info.settings).client_tools)


OPERATIONS = (
    Operation(
        "POST",
        f"{SESSION}/tool_results",
        _send_result,
        "Send the result of a call that the client runs.",
        Empty,
        ToolResultBody,
        errors=("not_found", "conflict", "too_large"),
        tag="conversation",
    ),
    Operation(
        "GET",
        f"{SESSION}/client_tools",
        _list_client_tools,
        "Tools that clients run.",
        ClientToolsView,
        errors=("not_found",),
        tag="conversation",
    ),
)
