"""Finds the session that a client's conversation continues, or creates one.

A session continues only if the client names it, and as long as both sides hold the same conversation: equal words alone
are not a name, because two people may have said the same. If the client went back to an earlier point, the session is
rewound to it; otherwise a new session begins with the client's messages as its history.
"""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from heald.core.events import ExchangeResponse
from heald.core.json import encode
from heald.core.messages import Message
from heald.sessions.history import SessionHistory
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import iterate_events
from heald.sessions.store_errors import SessionExists
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_texts import (
    RequestTexts,
    exchanged_texts,
    is_same_conversation,
)
from heald_server.protocols.shared.place_ids import SESSION_PREFIX

MAX_SESSIONS = 100
"""Sessions of one conversation: a new one begins when the client's messages fit none of the others."""


def session_name(conversation: ClientConversation, number: int = 0) -> str:
    """The id of a conversation's session: the same for the same name of an owner, also after a restart."""
    parts = [conversation.owner, conversation.kind, conversation.name or ""]
    if number:
        parts.append(str(number))
    return f"ses_{sha256(encode(parts)).hexdigest()[:32]}"


async def list_sessions(context: ServerContext, conversation: ClientConversation) -> list[SessionInfo]:
    """The sessions of a conversation, the newest last. The id of a session, which a client of any protocol has, names
    this session."""
    sessions: list[SessionInfo] = []
    if conversation.name is None:
        return sessions
    joined = await find_joined(context, conversation)
    if joined is not None:
        sessions.append(joined)
    for number in range(len(sessions), MAX_SESSIONS):
        try:
            name = session_name(conversation, number)
            sessions.append(await context.open_sessions.find_info(conversation.owner, name))
        except ApiError:
            break
    return sessions


async def find_joined(context: ServerContext, conversation: ClientConversation) -> SessionInfo | None:
    """The session of the owner whose id the client uses as the name of its conversation."""
    if conversation.name is None or not conversation.name.startswith(SESSION_PREFIX):
        return None
    try:
        return await context.open_sessions.find_info(conversation.owner, conversation.name)
    except ApiError:
        return None


async def find_or_create_session(
    context: ServerContext,
    conversation: ClientConversation,
    *,
    rewinds: bool = False,
    fresh: bool = False,
    appends: bool = False,
) -> SessionInfo:
    """Find the session that continues a conversation, or create one, with `fresh` always.

    With `rewinds` the client went back on purpose; with `appends` it sends its new message without the earlier ones. A
    client that joined a session by its id may not know what other clients added: its message is added to the end.
    """
    sessions = await list_sessions(context, conversation)
    joined = await find_joined(context, conversation)
    if joined is not None and not rewinds and not fresh:
        return joined
    if appends and sessions:
        return max(sessions, key=lambda info: info.updated)
    for info in reversed(sessions):
        if not fresh and await _fit_session(context, info, conversation, rewinds):
            return info
    number = len(sessions)
    name = session_name(conversation, number) if conversation.name is not None and number < MAX_SESSIONS else None
    return await create_session(context, conversation, name)


async def find_ending_with(
    context: ServerContext, owner: str, session_id: str, history: Sequence[Message]
) -> SessionInfo | None:
    """Return a session of an owner if it is free and its conversation is the one that the client sent."""
    opened = context.open_sessions
    try:
        info = await opened.find_info(owner, session_id)
        async with opened.use(info, moves_waiting=True) as session:
            is_free = session.current is None or bool(session.client_calls)
            is_same = is_same_conversation(exchanged_texts(history), exchanged_texts(session.messages))
            return await context.sessions.store.info(session_id) if is_free and is_same else None
    except ApiError:
        return None


async def _fit_session(
    context: ServerContext, info: SessionInfo, conversation: ClientConversation, rewinds: bool
) -> bool:
    """Whether the session holds the client's conversation, if need be after it was rewound."""
    theirs = exchanged_texts(conversation.history)
    settings = SessionSettings.of(info.settings)
    history, requests = SessionHistory(settings), RequestTexts(settings.history)

    def is_same() -> bool:
        ours = exchanged_texts(history.state.messages)
        return is_same_conversation(theirs, ours) or is_same_conversation(theirs, requests.pairs)

    earlier = 0 if is_same() else None
    async for event in iterate_events(context.sessions.store, info.id):
        history.feed(event)
        if not settings.is_dropped(event.seq):
            requests.feed(event)
        if isinstance(event.data, ExchangeResponse) and is_same():
            earlier = event.seq
    if not rewinds and is_same():
        return True
    if earlier is None or not (rewinds or theirs):
        return False
    async with context.open_sessions.use(info, moves_waiting=True) as session:
        if session.current is not None:
            if not rewinds:
                return False
            await end_current(session, "The client went back to an earlier message.")
        await session.rewind(earlier)
    return True


async def end_current(session: Session, reason: str) -> None:
    """Cancel the running exchange and wait for its end."""
    current = session.current
    if current is not None:
        current.cancel(reason)
        await current.result()
        await session.flush()


async def create_session(
    context: ServerContext, conversation: ClientConversation, name: str | None = None
) -> SessionInfo:
    """Create a session whose history is the client's conversation."""
    if conversation.is_kept:
        context.meters.check_new_session(conversation.owner)
    settings = context.configuration.merge({"model": conversation.model} if conversation.model else {})
    instructions = "\n\n".join([*([settings.instructions] if settings.instructions else []), *conversation.system])
    settings = msgspec.structs.replace(
        settings,
        history=conversation.history,
        instructions=instructions,
        tools=[tool for tool in settings.tools if tool not in conversation.hidden_tools],
    )
    try:
        return await context.sessions.create(owner=conversation.owner, session=name, **msgspec.structs.asdict(settings))
    except SessionExists:  # another request of the same conversation was faster
        if name is None:
            raise
        return await context.open_sessions.find_info(conversation.owner, name)
