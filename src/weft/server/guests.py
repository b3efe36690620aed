"""Conversations that clients of other systems bring along: they keep the messages and send them again each time.

Where a client names its conversation, a session is found for it again and goes on, as long as both tell the same
story. Otherwise what the client says is the truth, and a new session begins with it as its history.
"""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import encode
from weft.core.messages import Message
from weft.server.context import ServerContext
from weft.server.refusal import Refusal
from weft.sessions.errors import SessionExists
from weft.sessions.past import read_past
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo


class Guest(msgspec.Struct, frozen=True, kw_only=True):
    """A request with all that came before it."""

    owner: str
    kind: str
    """What system the client is of."""
    name: str | None = None
    """The client's name for the conversation."""
    history: list[Message] = []
    system: list[str] = []
    model: str = ""


def session_name(guest: Guest, history: Sequence[Message] | None = None) -> str:
    """The same conversation of the same owner has the same session, also after a restart."""
    parts = [guest.owner, guest.kind, guest.name or ""] + ([encode(_told(history)).decode()] if history else [])
    return f"ses_{sha256(encode(parts)).hexdigest()[:32]}"


async def session_for(context: ServerContext, guest: Guest) -> SessionInfo:
    """The session that goes on with a guest's conversation: the one there is, or a new one."""
    if guest.name is None:
        return await _begin(context, guest, None)
    name = session_name(guest)
    for candidate in (name, session_name(guest, guest.history)):
        try:
            info = await context.open.info(guest.owner, candidate)
        except Refusal:
            return await _begin(context, guest, candidate)
        if await _is_same(context, info, guest):
            return info
    return await _begin(context, guest, None)


async def _is_same(context: ServerContext, info: SessionInfo, guest: Guest) -> bool:
    past = await read_past(context.sessions.store, info.id, SessionSettings.of(info.settings))
    return _told(past.state.messages) == _told(guest.history)


async def _begin(context: ServerContext, guest: Guest, name: str | None) -> SessionInfo:
    context.meters.check_new_session(guest.owner)
    wishes = {"model": guest.model} if guest.model else {}
    settings = context.settled(wishes)
    instructions = "\n\n".join([*([settings.instructions] if settings.instructions else []), *guest.system])
    settings = msgspec.structs.replace(settings, history=guest.history, instructions=instructions)
    fields = {field: getattr(settings, field) for field in settings.__struct_fields__}
    try:
        return await context.sessions.create(owner=guest.owner, session=name, **fields)
    except SessionExists:  # another request of the same conversation was faster
        if name is None:
            raise
        return await context.open.info(guest.owner, name)


def _told(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """What people said and were told, without tools and thoughts, which not every client keeps."""
    told: list[tuple[str, str]] = []
    for message in messages:
        text = " ".join(message.text.split())
        if message.role == "tool" or not text:
            continue
        if told and told[-1][0] == message.role:
            told[-1] = message.role, f"{told[-1][1]} {text}"
        else:
            told.append((message.role, text))
    return told


def checked_model(context: ServerContext, name: str) -> str:
    """A model that a guest names, if it is offered. `weft` is the agent as it is set up here."""
    if name in ("", "weft"):
        return ""
    try:
        context.models.open(name)
    except ConfigurationError as error:
        raise Refusal("not_found", str(error)) from None
    return name
