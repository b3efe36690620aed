"""Starts, queues and cancels exchanges of sessions, for the routes of all protocols."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

import msgspec

from heald.agent.budget import Budget
from heald.agent.interface import ExchangeInterface
from heald.agent.typed_output import SchemaShape
from heald.core.events import ConversationQueued
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald.sessions.queued_request import queue_request
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError, too_many
from heald_server.routes.submission import WhenBusy
from heald_server.session_request import deps_of

AcceptedState = Literal["started", "queued", "steered", "repeated"]


class Accepted(msgspec.Struct, frozen=True):
    """A request that is stored: it is answered even if the connection breaks."""

    exchange: str
    state: AcceptedState
    seq: int
    """The end of the log when it was accepted."""


class Cancelled(msgspec.Struct, frozen=True):
    cancelled: bool
    """False if nothing was running."""


async def pass_on(
    context: ServerContext,
    info: SessionInfo,
    message: Message,
    client_request_id: str | None,
    output_schema: JsonObject | None = None,
    budget: Budget | None = None,
) -> Accepted | None:
    """Store a request for another node, if this one is full and another has room. Returns None if it is to be started
    here."""
    folder = SessionSettings.of(info.settings).workspace
    if info.work != "idle" or not await context.node.must_pass_on(info.id, folder):
        return None
    await context.meters.refresh(info.owner)
    context.meters.check_exchange(info.owner)
    if not await context.open_sessions.release_idle(info.id):
        return None
    queued = await queue_request(
        context.sessions.store,
        info.id,
        message,
        client_request_id=client_request_id,
        output_schema=output_schema,
        budget=budget.as_json() if budget is not None else None,
        admit=lambda: context.meters.admit(info),
    )
    if queued is None:
        return None
    assert isinstance(queued.data, ConversationQueued)
    await context.node.offer(info.id)
    return Accepted(queued.data.request, "queued", queued.seq)


async def start_exchange(
    context: ServerContext,
    info: SessionInfo,
    message: Message,
    client_request_id: str | None = None,
    when_busy: WhenBusy = "queue",
    output: SchemaShape | None = None,
    budget: Budget | None = None,
) -> tuple[Accepted, ExchangeInterface]:
    """Start or queue an exchange, or steer the running one. Returns once the request is stored."""
    async with context.open_sessions.use(info) as session:
        if (repeated := _find_repeated(session, client_request_id)) is not None:
            await session.accepted(repeated)
            return Accepted(repeated.id, "repeated", session.last_seq), repeated
        await context.meters.refresh(info.owner)
        deps = await deps_of(context.make_deps, info)
        _check_capacity(context, info, session, when_busy)
        async with admit_exchange(context, info, session):
            running = session.current
            repeated = _find_repeated(session, client_request_id)  # by a request that was faster
            if running is not None and repeated is None:
                _check_capacity(context, info, session, when_busy)
            exchange = repeated or session.send(
                message,
                output=output,
                deps=deps,
                when_busy="queue" if when_busy == "refuse" else when_busy,
                client_request_id=client_request_id,
                budget=budget,
            )
        if exchange is repeated:
            state: AcceptedState = "repeated"
        elif exchange is running:
            state = "steered"
        else:
            state = "queued" if session.current is not exchange else "started"
            context.meters.track_exchange(info.owner, exchange)
        await session.accepted(exchange)
        return Accepted(exchange.id, state, session.last_seq), exchange


@asynccontextmanager
async def admit_exchange(context: ServerContext, info: SessionInfo, session: Session) -> AsyncGenerator[None]:
    """Raise if the owner may start no further exchange on any node. What starts in the block is counted from now on;
    a request that is queued behind another one is not."""
    try:
        if session.current is not None:
            yield
            return
        await session.flush()
        await context.meters.admit(info)
        try:
            if session.current is None:
                context.meters.check_here(info.owner)
            yield
        except BaseException:
            await session.store_work()
            raise
    finally:
        context.open_sessions.count_running(session)
        context.node.end_start(info.id)


async def cancel_exchange(context: ServerContext, info: SessionInfo, exchange: str | None, reason: str) -> Cancelled:
    """Cancel the running exchange, or a running or queued one by its id."""
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            return Cancelled(False)
        target = session.current if exchange is None else session.find_exchange(exchange)
        done = target.cancel(reason or "A client asked for it.") if target is not None else False
        if done:
            await session.flush()
        return Cancelled(done)


def _find_repeated(session: Session, client_request_id: str | None) -> ExchangeInterface | None:
    """The exchange that an earlier request with the same id has started or queued."""
    return session.find_request(client_request_id) if client_request_id is not None else None


def _check_capacity(context: ServerContext, info: SessionInfo, session: Session, when_busy: WhenBusy) -> None:
    is_busy = session.current is not None
    if is_busy and when_busy == "refuse":
        raise ApiError("busy", "An exchange runs in this session; wait for its end, or ask with another when_busy.")
    if is_busy and when_busy == "steer":
        return
    if session.queued >= context.settings.limits.queue:
        raise too_many(f"{session.queued} requests wait in this session already; wait for one to be answered.")
    context.meters.check_exchange(info.owner)
