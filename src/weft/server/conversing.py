"""What a client does in a session: asking, cancelling, deciding. The same for HTTP and for WebSocket."""

from typing import Literal

import msgspec

from weft.agent.exchange import Exchange
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.server.context import ServerContext
from weft.server.parts import Submission, WhenBusy, message_of
from weft.server.refusal import Refusal, too_many
from weft.sessions.session import Session
from weft.sessions.store import SessionInfo

State = Literal["started", "queued", "steered", "repeated"]


class Accepted(msgspec.Struct, frozen=True):
    """A request that is stored: it will be answered, whatever happens to the connection."""

    exchange: str
    state: State
    seq: int
    """The log's end when it was accepted."""


class Cancelled(msgspec.Struct, frozen=True):
    cancelled: bool
    """False if nothing was running."""


async def submit(context: ServerContext, info: SessionInfo, submission: Submission) -> Accepted:
    """Ask. Returns once the request is stored."""
    message = await message_of(context.sessions.store, info.id, submission)
    accepted, _ = await ask(context, info, message, submission.client_request_id, submission.when_busy)
    return accepted


async def ask(
    context: ServerContext,
    info: SessionInfo,
    message: Message,
    client_request_id: str | None = None,
    when_busy: WhenBusy = "queue",
) -> tuple[Accepted, Exchange]:
    """Ask, and keep the exchange in sight."""
    async with context.open.use(info) as session:
        if client_request_id is not None and (known := session.engine.find(client_request_id)) is not None:
            await session.accepted(known)
            return Accepted(known.id, "repeated", session.bus.seq), known
        _check_room(context, info, session, when_busy)
        was = session.engine.current
        exchange = session.send(
            message,
            when_busy="queue" if when_busy == "refuse" else when_busy,
            client_request_id=client_request_id,
        )
        if exchange is was:
            state: State = "steered"
        else:
            state = "queued" if session.engine.current is not exchange else "started"
            context.meters.begin(info.owner, exchange)
        await session.accepted(exchange)
        return Accepted(exchange.id, state, session.bus.seq), exchange


async def cancel(context: ServerContext, info: SessionInfo, exchange: str | None, reason: str) -> Cancelled:
    """End what runs, or one exchange if it runs or waits."""
    session = context.open.opened(info.id)
    if session is None:
        return Cancelled(False)
    found = session.engine.current if exchange is None else session.engine.exchange(exchange)
    done = found.cancel(reason or "A client asked for it.") if found is not None else False
    if done:
        await session.flush()
    return Cancelled(done)


def decide(
    context: ServerContext,
    info: SessionInfo,
    approval: str,
    allow: bool,
    *,
    digest: str | None = None,
    always: bool = False,
    arguments: JsonObject | None = None,
    reason: str = "",
) -> None:
    session = _waiting(context, info)
    if allow:
        session.approve(approval, arguments=arguments, always=always, digest=digest)
    else:
        session.deny(approval, reason)


def answer(context: ServerContext, info: SessionInfo, question: str, text: str) -> None:
    _waiting(context, info).answer(question, text)


def _waiting(context: ServerContext, info: SessionInfo) -> Session:
    session = context.open.opened(info.id)
    if session is None:
        raise Refusal("conflict", "Nothing is waiting for a decision in this session.")
    return session


def _check_room(context: ServerContext, info: SessionInfo, session: Session, when_busy: WhenBusy) -> None:
    is_busy = session.engine.current is not None
    if is_busy and when_busy == "refuse":
        raise Refusal("busy", "An exchange runs in this session; wait for its end, or ask with another when_busy.")
    if is_busy and when_busy == "steer":
        return
    if session.engine.waiting >= context.settings.limits.queue:
        raise too_many(f"{session.engine.waiting} requests wait in this session already; wait for one to be answered.")
    context.meters.check_exchange(info.owner)
