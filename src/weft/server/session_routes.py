"""Routes for sessions: create, list, change, fork, rewind, export, import and delete; tools that clients run, and links
to a project."""

import asyncio
import io
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import msgspec
from starlette.responses import StreamingResponse

from weft.core.json import encode
from weft.core.messages import ToolDefinition
from weft.server.context import ServerContext
from weft.server.errors import ApiError, ErrorCode
from weft.server.operations import ApiCall, Operation, caller_of
from weft.server.request_scope import PREVIEWS
from weft.server.shares import SHARED
from weft.server.views import (
    Body,
    DelegatesView,
    DelegateView,
    Empty,
    ForkBody,
    ListQuery,
    LogQuery,
    LogView,
    Name,
    NewSession,
    RewindBody,
    SessionChange,
    SessionsView,
    SessionView,
    session_view,
)
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo
from weft.tools.client_tools import read_client_tools

SESSION = "/sessions/{session}"
_SHARES = "/projects/{project}/shares"
_PROJECT_KIND = "project"
_IDLE: tuple[ErrorCode, ...] = ("not_found", "busy")


async def _create(call: ApiCall) -> SessionView:
    call.context.meters.check_new_session(call.owner)
    settings = call.context.merge_settings(call.body.settings())
    offered = await _offered_tools(call.body)
    info = await call.context.sessions.create(
        owner=call.owner, title=call.body.title, **msgspec.structs.asdict(settings)
    )
    if offered:
        try:
            await set_client_tools(call.context, info, offered)
        except BaseException:
            await call.context.open_sessions.close_session(info.id)
            await call.context.sessions.delete(info.id)
            raise
    return _view(call, await call.context.sessions.store.info(info.id))


async def _offered_tools(body: NewSession | SessionChange) -> list[ToolDefinition] | None:
    """The client tools of a request, checked before anything changes; None if it names none."""
    return None if isinstance(body.client_tools, msgspec.UnsetType) else await parse_client_tools(body.client_tools)


async def _list(call: ApiCall) -> SessionsView:
    query: ListQuery = call.query
    page = await call.context.sessions.list(
        search=query.search, limit=query.limit, after=query.after, owner=call.owner, kind=""
    )
    return SessionsView([_view(call, info) for info in page.sessions], page.next)


async def _show(call: ApiCall) -> SessionView:
    return _view(call, await call.session())


async def _change(call: ApiCall) -> SessionView:
    info = await call.session()
    body: SessionChange = call.body
    offered = await _offered_tools(body)
    if wanted := body.settings():
        opened = call.context.open_sessions.find_open(info.id)
        if opened is not None and opened.engine.current is not None:
            raise ApiError("busy", "An exchange runs; change the settings when it has ended.")
        settings = call.context.merge_settings(wanted, SessionSettings.of(info.settings))
        await call.context.open_sessions.free_session(info.id)
        await call.context.sessions.store.configure(info.id, settings.data())
    if offered is not None:
        await set_client_tools(call.context, info, offered)
    if isinstance(body.title, str):
        await call.context.sessions.rename(info.id, body.title)
    return _view(call, await call.session())


async def _delete(call: ApiCall) -> None:
    info = await call.session()
    await call.context.open_sessions.free_session(info.id)
    await call.context.sessions.delete(info.id)
    call.context.open_sessions.hub(info.id).invalidate()  # its readers learn that it is deleted


async def _fork(call: ApiCall) -> SessionView:
    info = await call.session()
    body: ForkBody = call.body
    call.context.meters.check_new_session(call.owner)
    await _flush(call, info)
    return _view(call, await call.context.sessions.fork(info.id, body.at, title=body.title))


async def _rewind(call: ApiCall) -> SessionView:
    return await _rewind_to(call, call.body.seq)


async def _reset(call: ApiCall) -> SessionView:
    return await _rewind_to(call, 0)


async def _export(call: ApiCall) -> StreamingResponse:
    info = await call.session()
    await _flush(call, info)
    return StreamingResponse(
        call.context.sessions.export(info.id),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{info.id}.weft"'},
    )


async def _import(call: ApiCall) -> SessionView:
    call.context.meters.check_new_session(call.owner)
    defaults = call.context.defaults
    info = await call.context.sessions.import_from(
        io.BytesIO(call.body), owner=call.owner, permissions=defaults.permissions, tools=defaults.tools
    )
    return _view(call, info)


async def _read_log(call: ApiCall) -> LogView:
    info = await call.session()
    query: LogQuery = call.query
    events = await call.context.sessions.store.read(info.id, after=query.after, limit=query.limit)
    return LogView([msgspec.Raw(encode(event)) for event in events], info.last_seq)


async def _rewind_to(call: ApiCall, seq: int) -> SessionView:
    info = await call.session()
    async with call.context.open_sessions.use(info) as session:
        if session.engine.current is not None:
            raise ApiError("busy", "An exchange runs; cancel it or wait for its end before you rewind.")
        await session.rewind(seq)
    return _view(call, await call.session())


async def _flush(call: ApiCall, info: SessionInfo) -> None:
    """Wait until everything that clients have seen is stored."""
    session = call.context.open_sessions.find_open(info.id)
    if session is not None:
        await session.flush()


def _view(call: ApiCall, info: SessionInfo) -> SessionView:
    return session_view(info, call.context.open_sessions.find_open(info.id))


async def _list_delegates(call: ApiCall) -> DelegatesView:
    info = await call.session()
    found = await call.context.sessions.store.delegates(info.id)
    return DelegatesView([DelegateView(each.id, each.cause or "", each.last_seq) for each in found])


# --- tools that clients run ------------------------------------------------------------------------------------------


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
    """Give a waiting call its result."""
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            raise ApiError("conflict", f"The call {call_id[:100]!r} does not wait for a result: its exchange is over.")
        session.send_tool_result(call_id, content, is_error)


async def _send_result(call: ApiCall) -> Empty:
    body: ToolResultBody = call.body
    await submit_tool_result(call.context, await call.session(), body.call_id, body.content, body.is_error)
    return Empty()


async def _list_client_tools(call: ApiCall) -> ClientToolsView:
    info = await call.session()
    session = call.context.open_sessions.find_open(info.id)
    if session is not None:
        return ClientToolsView(session.runtime.client_tools)
    return ClientToolsView(SessionSettings.of(info.settings).client_tools)


# --- links to a project ----------------------------------------------------------------------------------------------


class NewShare(Body, frozen=True, kw_only=True):
    writable: bool = False
    """Whether users with the link may also work in the project."""


class ShareView(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    writable: bool
    created: float
    secret: str = ""
    """Only in the answer that creates it. A request carries it in the header `X-Weft-Share`, or as `?share=`."""
    path: str = ""
    """Only in the answer that creates a link for reading: shows the newest page of the project, without a token."""


class SharesView(msgspec.Struct, frozen=True):
    shares: list[ShareView]


async def _check_project(call: ApiCall) -> str:
    info = await call.context.open_sessions.find_info(call.owner, call.path["project"])
    if info.kind != _PROJECT_KIND:
        raise ApiError("not_found", "There is no project of that name; list the projects to see which there are.")
    return info.id


async def _create_share(call: ApiCall) -> ShareView:
    body: NewShare = call.body
    project = await _check_project(call)
    name, secret = await call.context.shares.create(call.owner, project, writable=body.writable)
    share = call.context.shares.list(call.owner, project)[name]
    path = "" if share.writable else f"{caller_of(call.request).root_path}{PREVIEWS}{SHARED}{secret}/"
    return ShareView(name, share.writable, share.created, secret, path)


async def _list_shares(call: ApiCall) -> SharesView:
    shares = call.context.shares.list(call.owner, await _check_project(call))
    return SharesView([ShareView(name, share.writable, share.created) for name, share in shares.items()])


async def _delete_share(call: ApiCall) -> None:
    await call.context.shares.delete(call.owner, await _check_project(call), call.path["share"])


_one = partial(Operation, errors=("not_found",))
_shares = partial(_one, tag="studio")

OPERATIONS = (
    Operation(
        "POST",
        "/sessions",
        _create,
        "Create a session.",
        SessionView,
        NewSession,
        status=201,
        errors=("too_many",),
        body_optional=True,
    ),
    Operation("GET", "/sessions", _list, "List sessions, the last changed first.", SessionsView, query=ListQuery),
    Operation(
        "POST",
        "/sessions/import",
        _import,
        "Create a session from an exported one.",
        SessionView,
        bytes,
        status=201,
        errors=("too_many", "too_large"),
    ),
    _one("GET", SESSION, _show, "A session without its log.", SessionView),
    _one("PATCH", SESSION, _change, "Rename it or change its settings.", SessionView, SessionChange, errors=_IDLE),
    _one("DELETE", SESSION, _delete, "Delete it with its log and files.", status=204),
    Operation(
        "POST",
        f"{SESSION}/fork",
        _fork,
        "Create a session that continues from an event of this one.",
        SessionView,
        ForkBody,
        status=201,
        errors=("not_found", "too_many"),
        body_optional=True,
    ),
    _one("POST", f"{SESSION}/rewind", _rewind, "Go back to an earlier event.", SessionView, RewindBody, errors=_IDLE),
    _one("POST", f"{SESSION}/reset", _reset, "Clear the conversation; log and files stay.", SessionView, errors=_IDLE),
    _one("GET", f"{SESSION}/export", _export, "The session as one file.", media_type="application/x-ndjson"),
    _one("GET", f"{SESSION}/log", _read_log, "A page of the log.", LogView, query=LogQuery),
    _one("GET", f"{SESSION}/delegates", _list_delegates, "Agents that worked for calls of the session.", DelegatesView),
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
    _one(
        "GET",
        f"{SESSION}/client_tools",
        _list_client_tools,
        "Tools that clients run.",
        ClientToolsView,
        tag="conversation",
    ),
    _shares("POST", _SHARES, _create_share, "Make a link for other users.", ShareView, NewShare, status=201),
    _shares("GET", _SHARES, _list_shares, "The links of a project.", SharesView),
    _shares("DELETE", f"{_SHARES}/{{share}}", _delete_share, "Delete a link.", status=204),
)
