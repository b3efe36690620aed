"""Sessions: made, listed, named, set up, copied, carried elsewhere, thrown away."""

import io
from typing import Any

import msgspec
from starlette.responses import StreamingResponse

from weft.core.errors import ConfigurationError
from weft.core.json import encode
from weft.server.operations import Call, Operation
from weft.server.refusal import Refusal
from weft.server.views import (
    ForkBody,
    ListQuery,
    LogQuery,
    LogView,
    NewSession,
    RewindBody,
    SessionChange,
    SessionsView,
    SessionView,
    session_view,
)
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo


async def create(call: Call) -> SessionView:
    call.context.meters.check_new_session(call.owner)
    settings = call.context.settled(call.body.settings())
    info = await call.context.sessions.create(owner=call.owner, title=call.body.title, **_fields(settings))
    return _view(call, info)


async def listed(call: Call) -> SessionsView:
    query: ListQuery = call.query
    try:
        page = await call.context.sessions.list(
            search=query.search, limit=query.limit, after=query.after, owner=call.owner, kind=""
        )
    except ConfigurationError as error:
        raise Refusal("invalid", str(error)) from None
    return SessionsView([_view(call, info) for info in page.sessions], page.next)


async def show(call: Call) -> SessionView:
    return _view(call, await call.session())


async def change(call: Call) -> SessionView:
    info = await call.session()
    body: SessionChange = call.body
    if wishes := body.settings():
        opened = call.context.open.opened(info.id)
        if opened is not None and opened.engine.current is not None:
            raise Refusal("busy", "An exchange runs; change the settings when it has ended.")
        kept = SessionSettings.of(info.settings)
        settings = call.context.settled(kept.data() | wishes)
        await call.context.open.close_one(info.id)
        await call.context.sessions.store.configure(info.id, settings.data())
    if isinstance(body.title, str):
        await call.context.sessions.rename(info.id, body.title)
    return _view(call, await call.session())


async def delete(call: Call) -> None:
    info = await call.session()
    await call.context.open.close_one(info.id)
    await call.context.sessions.delete(info.id)
    call.context.open.hub(info.id).skip()  # whoever reads it is told that it is gone


async def fork(call: Call) -> SessionView:
    info = await call.session()
    body: ForkBody = call.body
    call.context.meters.check_new_session(call.owner)
    await _stored(call, info)
    return _view(call, await call.context.sessions.fork(info.id, body.at, title=body.title))


async def rewind(call: Call) -> SessionView:
    return await _rewound(call, call.body.seq)


async def reset(call: Call) -> SessionView:
    return await _rewound(call, 0)


async def export(call: Call) -> StreamingResponse:
    info = await call.session()
    await _stored(call, info)
    return StreamingResponse(
        call.context.sessions.export(info.id),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{info.id}.weft"'},
    )


async def take_in(call: Call) -> SessionView:
    call.context.meters.check_new_session(call.owner)
    defaults = call.context.defaults
    info = await call.context.sessions.import_from(
        io.BytesIO(call.body), owner=call.owner, permissions=defaults.permissions, tools=defaults.tools
    )
    return _view(call, info)


async def log(call: Call) -> LogView:
    info = await call.session()
    query: LogQuery = call.query
    events = await call.context.sessions.store.read(info.id, after=query.after, limit=query.limit)
    return LogView([msgspec.Raw(encode(event)) for event in events], info.last_seq)


async def _rewound(call: Call, seq: int) -> SessionView:
    info = await call.session()
    async with call.context.open.use(info) as session:
        if session.engine.current is not None:
            raise Refusal("busy", "An exchange runs; cancel it or wait for its end before you rewind.")
        await session.rewind(seq)
    return _view(call, await call.session())


async def _stored(call: Call, info: SessionInfo) -> None:
    """What was shown so far is in the store."""
    session = call.context.open.opened(info.id)
    if session is not None:
        await session.flush()


def _view(call: Call, info: SessionInfo) -> SessionView:
    return session_view(info, call.context.open.opened(info.id))


def _fields(settings: SessionSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__struct_fields__}


OPERATIONS = (
    Operation(
        "POST",
        "/sessions",
        create,
        "Make a session.",
        body=NewSession,
        answer=SessionView,
        status=201,
        refusals=("too_many",),
        body_optional=True,
    ),
    Operation("GET", "/sessions", listed, "Sessions, the last changed first.", query=ListQuery, answer=SessionsView),
    Operation(
        "POST",
        "/sessions/import",
        take_in,
        "Make a session of an exported one.",
        body=bytes,
        answer=SessionView,
        status=201,
        refusals=("too_many", "too_large"),
    ),
    Operation(
        "GET", "/sessions/{session}", show, "A session without its log.", answer=SessionView, refusals=("not_found",)
    ),
    Operation(
        "PATCH",
        "/sessions/{session}",
        change,
        "Rename it, or set it up anew.",
        body=SessionChange,
        answer=SessionView,
        refusals=("not_found", "busy"),
    ),
    Operation(
        "DELETE",
        "/sessions/{session}",
        delete,
        "Throw it away, with its log and files.",
        status=204,
        refusals=("not_found",),
    ),
    Operation(
        "POST",
        "/sessions/{session}/fork",
        fork,
        "A new session that goes on from an event of this one.",
        body=ForkBody,
        answer=SessionView,
        status=201,
        refusals=("not_found", "too_many"),
        body_optional=True,
    ),
    Operation(
        "POST",
        "/sessions/{session}/rewind",
        rewind,
        "Go on from an earlier event.",
        body=RewindBody,
        answer=SessionView,
        refusals=("not_found", "busy"),
    ),
    Operation(
        "POST",
        "/sessions/{session}/reset",
        reset,
        "Begin the conversation anew; log and files stay.",
        answer=SessionView,
        refusals=("not_found", "busy"),
    ),
    Operation(
        "GET",
        "/sessions/{session}/export",
        export,
        "The session as one file.",
        media="application/x-ndjson",
        refusals=("not_found",),
    ),
    Operation(
        "GET",
        "/sessions/{session}/log",
        log,
        "A page of the log.",
        query=LogQuery,
        answer=LogView,
        refusals=("not_found",),
    ),
)
