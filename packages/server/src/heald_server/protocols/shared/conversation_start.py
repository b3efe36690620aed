"""Starts an exchange in the session of a client's conversation."""

import asyncio
from collections.abc import Awaitable, Callable
from weakref import WeakValueDictionary

from heald.agent.interface import ExchangeInterface
from heald.agent.typed_output import SchemaShape
from heald.core.errors import ConfigurationError
from heald.core.messages import Message, ToolDefinition
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.tools.client_tools import ClientPrecedence
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_sessions import (
    end_current,
    find_or_create_session,
    list_sessions,
    session_name,
)
from heald_server.start_exchange import Accepted, cancel_exchange, start_exchange
from heald_server.streams.exchange_frames import ExchangePart


async def start_in_conversation(
    context: ServerContext,
    conversation: ClientConversation,
    message: Message,
    *,
    request_id: str | None = None,
    rewinds: bool = False,
    appends: bool = False,
    ends_unheard: bool = False,
    info: SessionInfo | None = None,
    output: SchemaShape | None = None,
    configure: Callable[[Session], Awaitable[None]] | None = None,
) -> tuple[SessionInfo, Accepted, ExchangeInterface]:
    """Start an exchange in the session of a conversation, or in `info`. A known `request_id` returns its exchange.

    `ends_unheard` cancels what still runs in the conversation, if no client listens to it.
    """
    await context.meters.refresh(conversation.owner)
    context.meters.check_exchange(conversation.owner)
    async with lock_conversation(conversation):
        request_id = request_id[:200] if request_id else None
        if request_id is not None:
            repeated = await _find_repeated(context, conversation, request_id)
            if repeated is not None:
                return repeated
        if ends_unheard:
            await _end_unheard(context, conversation)
        if info is None:  # results that no exchange waits for need a session whose history ends with their calls
            is_late = message.role == "tool"
            info = await find_or_create_session(
                context, conversation, rewinds=rewinds, fresh=is_late, appends=appends and not is_late
            )
        return await _start_in(context, conversation, info, message, request_id, output, configure)


_locks: "WeakValueDictionary[tuple[int, str], asyncio.Lock]" = WeakValueDictionary()


def lock_conversation(conversation: ClientConversation) -> asyncio.Lock:
    """The lock of a conversation: two requests of one name that come at once must not share a new session."""
    if conversation.name is None:
        return asyncio.Lock()
    key = id(asyncio.get_running_loop()), session_name(conversation)
    return _locks.setdefault(key, asyncio.Lock())


async def _end_unheard(context: ServerContext, conversation: ClientConversation) -> None:
    """Cancel the running exchange of a conversation whose client has gone, such as after `stop()` of `useChat`."""
    for info in await list_sessions(context, conversation):
        session = context.open_sessions.find_open(info.id)
        if session is not None and session.current is not None and not context.open_sessions.is_watched(info.id):
            await end_current(session, "The client went on with another message.")


async def _start_in(
    context: ServerContext,
    conversation: ClientConversation,
    info: SessionInfo,
    message: Message,
    request_id: str | None,
    output: SchemaShape | None,
    configure: Callable[[Session], Awaitable[None]] | None,
) -> tuple[SessionInfo, Accepted, ExchangeInterface]:
    async with context.open_sessions.use(info, moves_waiting=True) as session:
        await end_waiting(session)
        if conversation.tools is not None:
            await offer_client_tools(session, conversation.tools, conversation.precedence)
        if configure is not None:
            await configure(session)
        accepted, exchange = await start_exchange(context, info, message, request_id, output=output)
    return info, accepted, exchange


def choose_precedence(context: ServerContext, agent_tools: bool | None) -> ClientPrecedence:
    """Return how the tools of a request stand to the agent's own. `agent_tools` says whether the request asks for these
    too; None leaves it to the server's settings."""
    if agent_tools is None:
        return context.settings.client_tools
    return "beside" if agent_tools else "only"


async def offer_client_tools(session: Session, tools: list[ToolDefinition], precedence: ClientPrecedence) -> None:
    """Offer the model the tools that the client of a request runs."""
    precedence = precedence if tools else "beside"
    if session.client_tools != tools or session.stored_settings.client_precedence != precedence:
        await session.set_client_tools(tools, precedence)


async def end_waiting(session: Session) -> None:
    """Cancel the running exchange if it waits for a client that has sent another request instead."""
    if session.client_calls or session.approvals:
        await end_current(session, "The client went on without an answer.")


async def _find_repeated(
    context: ServerContext, conversation: ClientConversation, request_id: str
) -> tuple[SessionInfo, Accepted, ExchangeInterface] | None:
    """The exchange that an earlier request with the same id started."""
    for info in reversed(await list_sessions(context, conversation)):
        async with context.open_sessions.use(info, moves_waiting=True) as session:
            exchange = session.find_request(request_id)
            if exchange is not None:
                return info, Accepted(exchange.id, "repeated", 0), exchange
    return None


async def first_part(context: ServerContext, info: SessionInfo, accepted: Accepted) -> ExchangePart:
    """The part of an exchange that the response to its request holds. A repeated response begins where the first one
    began, and does not pause where the client has answered since."""
    if accepted.state != "repeated":
        return ExchangePart(accepted.exchange, info.last_seq, pause_from=0)
    last = (await context.sessions.store.info(info.id)).last_seq
    return ExchangePart(accepted.exchange, 0, pause_from=last)


async def cancel_conversation(context: ServerContext, conversation: ClientConversation) -> bool:
    """Cancel what runs in the sessions of a conversation. Returns whether anything did."""
    done = [
        (await cancel_exchange(context, info, None, "The user stopped it.")).cancelled
        for info in await list_sessions(context, conversation)
    ]
    return any(done)


def require_model(context: ServerContext, name: str) -> str:
    """Return the model that a client names, if sessions may use it. "heald" stands for the default."""
    if name in ("", "heald"):
        return ""
    try:
        context.models.open(name)
    except ConfigurationError as error:
        raise ApiError("not_found", str(error)) from None
    return name
