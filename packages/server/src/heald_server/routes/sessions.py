"""Routes for sessions: create, list, change, rewind, export, import and delete."""

import io
from functools import partial

import msgspec
from starlette.responses import StreamingResponse

from heald.core.events import AgentChanged
from heald.core.json import encode
from heald.core.messages import ToolDefinition
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald_server.http.errors import ApiError, ErrorCode
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.client_tools import parse_client_tools, set_client_tools
from heald_server.routes.fields import ListQuery
from heald_server.routes.paths import SESSION
from heald_server.routes.session_views import (
    DelegatesView,
    DelegateView,
    LogQuery,
    LogView,
    NewSession,
    RewindBody,
    SessionChange,
    SessionsView,
    SessionView,
    session_view,
)

_IDLE: tuple[ErrorCode, ...] = ("not_found", "busy")


async def _create(call: ApiCall) -> SessionView:
    call.context.meters.check_new_session(call.owner)
    settings = call.context.configuration.merge(call.body.settings())
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
    return view_session(call, await call.context.sessions.store.info(info.id))


async def _offered_tools(body: NewSession | SessionChange) -> list[ToolDefinition] | None:
    """The client tools of a request, checked before anything changes; None if it names none."""
    return None if isinstance(body.client_tools, msgspec.UnsetType) else await parse_client_tools(body.client_tools)


async def _list(call: ApiCall) -> SessionsView:
    query: ListQuery = call.query
    page = await call.context.sessions.list(
        search=query.search, limit=query.limit, after=query.after, owner=call.owner, kind=""
    )
    return SessionsView([view_session(call, info) for info in page.sessions], page.next)


async def _show(call: ApiCall) -> SessionView:
    return view_session(call, await call.session())


async def _change(call: ApiCall) -> SessionView:
    info = await call.session()
    body: SessionChange = call.body
    offered = await _offered_tools(body)
    if changes := body.settings():
        opened = call.context.open_sessions.find_open(info.id)
        if opened is not None and opened.current is not None:
            raise ApiError("busy", "An exchange runs; change the settings when it has ended.")
        settings = call.context.configuration.merge(changes, SessionSettings.of(info.settings))
        await call.context.open_sessions.free_session(info.id)
        await call.context.sessions.store.configure(info.id, settings.data())
        await _change_agent(call, SessionSettings.of(info.settings).agent, settings.agent)
    if offered is not None:
        await set_client_tools(call.context, info, offered)
    if isinstance(body.title, str):
        await call.context.sessions.rename(info.id, body.title)
    return view_session(call, await call.session())


async def _change_agent(call: ApiCall, previous: str, agent: str) -> None:
    """Let another agent answer the next request, if the settings name another one than before."""
    info = await call.session()
    if agent == previous or not info.last_seq:
        return
    async with call.context.open_sessions.use(info) as session:
        if session.speaker != agent:
            session.switch_to(agent)
        else:
            session.publish(AgentChanged(agent, previous, session.model_name))
        await session.flush()


async def _delete(call: ApiCall) -> None:
    info = await call.session()
    await call.context.open_sessions.free_session(info.id)
    await call.context.sessions.delete(info.id)
    call.context.open_sessions.hub(info.id).invalidate()  # its readers learn that it is deleted


async def _rewind(call: ApiCall) -> SessionView:
    return await _rewind_to(call, call.body.seq, files=call.body.files)


async def _reset(call: ApiCall) -> SessionView:
    return await _rewind_to(call, 0)


async def _export(call: ApiCall) -> StreamingResponse:
    info = await call.session()
    await flush_session(call, info)
    return StreamingResponse(
        call.context.sessions.export(info.id),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{info.id}.heald"'},
    )


async def _import(call: ApiCall) -> SessionView:
    call.context.meters.check_new_session(call.owner)
    defaults = call.context.defaults
    info = await call.context.sessions.import_from(
        io.BytesIO(call.body), owner=call.owner, permissions=defaults.permissions, tools=defaults.tools
    )
    return view_session(call, info)


async def _read_log(call: ApiCall) -> LogView:
    info = await call.session()
    query: LogQuery = call.query
    events = await call.context.sessions.store.read(info.id, after=query.after, limit=query.limit)
    return LogView([msgspec.Raw(encode(event)) for event in events], info.last_seq)


async def _rewind_to(call: ApiCall, seq: int, *, files: bool = False) -> SessionView:
    info = await call.session()
    async with call.context.open_sessions.use(info) as session:
        if session.current is not None:
            raise ApiError("busy", "An exchange runs; stop it or wait for its end before you rewind.")
        await session.rewind(seq)
        if files:
            await session.changes.restore_at(seq)
    return view_session(call, await call.session())


async def flush_session(call: ApiCall, info: SessionInfo) -> None:
    """Wait until everything that clients have seen is stored."""
    session = call.context.open_sessions.find_open(info.id)
    if session is not None:
        await session.flush()


def view_session(call: ApiCall, info: SessionInfo) -> SessionView:
    """Return a session as clients see it now."""
    return session_view(info, call.context.open_sessions.find_open(info.id))


async def _list_delegates(call: ApiCall) -> DelegatesView:
    info = await call.session()
    delegates = await call.context.sessions.store.delegates(info.id)
    return DelegatesView([DelegateView(delegate.id, delegate.cause or "", delegate.last_seq) for delegate in delegates])


_operation = partial(Operation, errors=("not_found",))

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
    _operation("GET", SESSION, _show, "A session without its log.", SessionView),
    _operation(
        "PATCH", SESSION, _change, "Rename it or change its settings.", SessionView, SessionChange, errors=_IDLE
    ),
    _operation("DELETE", SESSION, _delete, "Delete it with its log and files.", status=204),
    _operation(
        "POST",
        f"{SESSION}/rewind",
        _rewind,
        "Go back to an earlier event, with the files if asked.",
        SessionView,
        RewindBody,
        errors=_IDLE,
    ),
    _operation(
        "POST", f"{SESSION}/reset", _reset, "Clear the conversation; log and files stay.", SessionView, errors=_IDLE
    ),
    _operation("GET", f"{SESSION}/export", _export, "The session as one file.", media_type="application/x-ndjson"),
    _operation("GET", f"{SESSION}/log", _read_log, "A page of the log.", LogView, query=LogQuery),
    _operation(
        "GET", f"{SESSION}/delegates", _list_delegates, "Agents that worked for calls of the session.", DelegatesView
    ),
)
