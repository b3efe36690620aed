"""Messages, cancels, approvals and answers in a session: the actions of HTTP and WebSocket, and their routes."""

import asyncio
import base64
import re
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from weft.agent.exchange import Exchange
from weft.agent.result import SchemaShape
from weft.core.events import ConversationQueued
from weft.core.json import JsonObject
from weft.core.media import describe_picture_fault, picture_type
from weft.core.messages import File, Image, Message, Text, user_message
from weft.server.context import ServerContext
from weft.server.errors import ApiError, too_many
from weft.server.operations import ApiCall, Operation
from weft.server.session_routes import SESSION, set_client_tools
from weft.server.views import AnswerBody, CancelBody, DecisionBody, Empty, ForgottenView, MessagesView, PendingView
from weft.sessions.history import read_history
from weft.sessions.session import Session
from weft.sessions.sessions import queue_request
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store
from weft.tools.results import plain_text

MAX_PARTS = 64
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_MediaType = Annotated[str, msgspec.Meta(pattern=r"^[a-z]+/[a-z0-9.+-]{1,80}$")]
_WEB_URL = re.compile(r"https?://[^\s]{1,2000}\Z")


class TextPart(msgspec.Struct, frozen=True, tag="text", forbid_unknown_fields=True):
    text: str


class _SourcePart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base64 data, a blob that was uploaded before, or an address that the model's provider fetches."""

    media_type: _MediaType
    data: str | None = None
    blob: str | None = None
    url: str | None = None


class ImagePart(_SourcePart, frozen=True, kw_only=True, tag="image"):
    media_type: _MediaType = "image/png"


class FilePart(_SourcePart, frozen=True, kw_only=True, tag="file"):
    name: Annotated[str, msgspec.Meta(max_length=200)] | None = None


Part = TextPart | ImagePart | FilePart
WhenBusy = Literal["queue", "steer", "interrupt", "refuse"]


class Submission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message of a client: a text, or parts."""

    text: str | None = None
    content: Annotated[list[Part], msgspec.Meta(max_length=MAX_PARTS)] | None = None
    client_request_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """A request with the id of an earlier one returns the same exchange, so it can be repeated safely."""
    when_busy: WhenBusy = "queue"
    output_schema: JsonObject | None = None
    """A JSON Schema that the answer must match."""
    client_tools: list[Any] | None = None
    """Replaces the tools of the session that clients run, before the message."""


async def read_message(store: Store, session: str, submission: Submission) -> Message:
    """Build the message of a submission, with its blobs read and its pictures checked."""
    parts: list[Part] = [TextPart(submission.text)] if submission.text else []
    parts += submission.content or []
    if not any(not isinstance(part, TextPart) or part.text.strip() for part in parts):
        raise ApiError("invalid", "The message is empty; give it a text or content.")
    return user_message(*[await _read_part(store, session, part) for part in parts])


async def _read_part(store: Store, session: str, part: Part) -> Text | Image | File:
    if isinstance(part, TextPart):
        return Text(plain_text(part.text))
    if sum(given is not None for given in (part.data, part.blob, part.url)) != 1:
        raise ApiError("invalid", "A picture or file has exactly one of data, blob and url.")
    if part.url is not None:
        if not _WEB_URL.match(part.url):
            raise ApiError("invalid", "A url in a message begins with https:// or http://.")
        return Image(url=part.url) if isinstance(part, ImagePart) else File(media_type=part.media_type, url=part.url)
    raw = await _read_bytes(store, session, part)
    data = base64.b64encode(raw).decode()
    if isinstance(part, ImagePart):
        return Image(media_type=sniff_image(raw), data=data)
    return File(media_type=part.media_type, data=data, name=part.name)


async def _read_bytes(store: Store, session: str, part: ImagePart | FilePart) -> bytes:
    if part.blob is not None:
        if not _DIGEST.match(part.blob):
            raise ApiError("invalid", "A blob is named by the SHA-256 that its upload gave.")
        return await store.blob(session, part.blob)
    return decode_media(part.data or "")


def decode_media(data: str) -> bytes:
    """Decode the picture or file of a client."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise ApiError("invalid", "The data of a picture or file is not base64.") from None


def sniff_image(raw: bytes) -> str:
    """The media type of a picture by its header; the client's claim does not count. It is not decoded."""
    fault = describe_picture_fault(raw)
    if fault is not None:
        raise ApiError("too_large" if "at most" in fault else "invalid", f"The picture cannot be used: {fault}.")
    return picture_type(raw) or ""


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


async def submit_message(context: ServerContext, info: SessionInfo, submission: Submission) -> Accepted:
    """Start an exchange with a client's message. Returns once the request is stored."""
    message = await read_message(context.sessions.store, info.id, submission)
    output = await _read_output_schema(submission.output_schema)
    if submission.client_tools is not None:
        await set_client_tools(context, info, submission.client_tools)
    passed_on = await pass_on(context, info, message, submission.client_request_id, submission.output_schema)
    if passed_on is not None:
        return passed_on
    accepted, _ = await start_exchange(
        context,
        info,
        message,
        submission.client_request_id,
        submission.when_busy,
        output,
    )
    return accepted


async def pass_on(
    context: ServerContext,
    info: SessionInfo,
    message: Message,
    client_request_id: str | None,
    output_schema: JsonObject | None = None,
) -> Accepted | None:
    """Store a request for another node, if this one is full and another has room. Returns None if it is to be started
    here."""
    if info.work != "idle" or not await context.node.must_pass_on(SessionSettings.of(info.settings).workspace):
        return None
    await context.meters.refresh(info.owner)
    context.meters.check_exchange(info.owner)
    if not await context.open_sessions.release_idle(info.id):
        return None
    queued = await queue_request(
        context.sessions.store, info.id, message, client_request_id=client_request_id, output_schema=output_schema
    )
    if queued is None:
        return None
    assert isinstance(queued.data, ConversationQueued)
    await context.node.offer(info.id)
    return Accepted(queued.data.request, "queued", queued.seq)


async def _read_output_schema(schema: JsonObject | None) -> SchemaShape | None:
    if schema is None:
        return None
    return await asyncio.to_thread(SchemaShape, schema)  # compiling a schema of a client must not block the loop


async def start_exchange(
    context: ServerContext,
    info: SessionInfo,
    message: Message,
    client_request_id: str | None = None,
    when_busy: WhenBusy = "queue",
    output: SchemaShape | None = None,
) -> tuple[Accepted, Exchange]:
    """Start or queue an exchange, or steer the running one. Returns once the request is stored."""
    async with context.open_sessions.use(info) as session:
        if client_request_id is not None and (known := session.engine.find(client_request_id)) is not None:
            await session.accepted(known)
            return Accepted(known.id, "repeated", session.bus.seq), known
        await context.meters.refresh(info.owner)
        _check_capacity(context, info, session, when_busy)
        running = session.engine.current
        exchange = session.send(
            message,
            output=output,
            when_busy="queue" if when_busy == "refuse" else when_busy,
            client_request_id=client_request_id,
        )
        if exchange is running:
            state: AcceptedState = "steered"
        else:
            state = "queued" if session.engine.current is not exchange else "started"
            context.meters.track_exchange(info.owner, exchange)
        await session.accepted(exchange)
        return Accepted(exchange.id, state, session.bus.seq), exchange


async def cancel_exchange(context: ServerContext, info: SessionInfo, exchange: str | None, reason: str) -> Cancelled:
    """Cancel the running exchange, or a running or queued one by its id."""
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            return Cancelled(False)
        found = session.engine.current if exchange is None else session.engine.exchange(exchange)
        done = found.cancel(reason or "A client asked for it.") if found is not None else False
        if done:
            await session.flush()
        return Cancelled(done)


async def resolve_approval(context: ServerContext, info: SessionInfo, approval: str, decision: DecisionBody) -> None:
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            raise _nothing_waits()
        if decision.decision == "deny":
            session.deny(approval, decision.reason)
        else:
            session.approve(approval, arguments=decision.arguments, always=decision.always, digest=decision.digest)


async def answer_question(context: ServerContext, info: SessionInfo, question: str, text: str) -> None:
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            raise _nothing_waits()
        session.answer(question, text)


def _nothing_waits() -> ApiError:
    return ApiError("conflict", "Nothing is waiting for a decision in this session.")


def _check_capacity(context: ServerContext, info: SessionInfo, session: Session, when_busy: WhenBusy) -> None:
    is_busy = session.engine.current is not None
    if is_busy and when_busy == "refuse":
        raise ApiError("busy", "An exchange runs in this session; wait for its end, or ask with another when_busy.")
    if is_busy and when_busy == "steer":
        return
    if session.engine.waiting >= context.settings.limits.queue:
        raise too_many(f"{session.engine.waiting} requests wait in this session already; wait for one to be answered.")
    context.meters.check_exchange(info.owner)


async def _send_message(call: ApiCall) -> Accepted:
    return await submit_message(call.context, await call.session(), call.body)


async def _list_messages(call: ApiCall) -> MessagesView:
    info = await call.session()
    history = await read_history(call.context.sessions.store, info.id, SessionSettings.of(info.settings))
    return MessagesView(history.state.messages, history.state.seq)


async def _list_pending(call: ApiCall) -> PendingView:
    async with call.context.open_sessions.use_running(await call.session()) as session:
        if session is None:
            return PendingView([], [])
        return PendingView(session.approvals, session.questions, session.client_calls)


async def _cancel(call: ApiCall) -> Cancelled:
    body: CancelBody = call.body
    return await cancel_exchange(call.context, await call.session(), body.exchange, body.reason)


async def _decide(call: ApiCall) -> Empty:
    await resolve_approval(call.context, await call.session(), call.path["approval"], call.body)
    return Empty()


async def _forget_allowed(call: ApiCall) -> ForgottenView:
    async with call.context.open_sessions.use(await call.session()) as session:
        return ForgottenView(await session.forget_allowed())


async def _answer(call: ApiCall) -> Empty:
    await answer_question(call.context, await call.session(), call.path["question"], call.body.answer)
    return Empty()


_operation = partial(Operation, errors=("not_found",), tag="conversation")
_resolving = partial(_operation, errors=("not_found", "conflict"))

OPERATIONS = (
    _operation(
        "POST",
        f"{SESSION}/messages",
        _send_message,
        "Send a message. Answered once the request is stored.",
        Accepted,
        Submission,
        status=202,
        errors=("not_found", "busy", "too_many", "budget", "too_large"),
    ),
    _operation("GET", f"{SESSION}/messages", _list_messages, "The conversation so far.", MessagesView),
    _operation("POST", f"{SESSION}/cancel", _cancel, "Cancel.", Cancelled, CancelBody, body_optional=True),
    _operation("GET", f"{SESSION}/pending", _list_pending, "What waits for the user or a client.", PendingView),
    _resolving("POST", f"{SESSION}/approvals/{{approval}}", _decide, "Approve or deny a call.", Empty, DecisionBody),
    _operation("DELETE", f"{SESSION}/allowed", _forget_allowed, "Revoke what was always allowed.", ForgottenView),
    _resolving("POST", f"{SESSION}/questions/{{question}}", _answer, "Answer a question.", Empty, AnswerBody),
)
