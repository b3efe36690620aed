"""The ids of calls of a client's tools, as clients of /v1 see them.

Providers number calls as they like, so two conversations can have calls of the same id. The id that a client gets names
the session and the event of the call: its result finds this one call.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from heald.core.events import ClientToolRequested, ToolUseContentBlockStart
from heald.sessions.session_info import SessionInfo
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.shared.place_ids import parse_place_id, place_id

_PREFIX = "call"


def client_call_id(session: str | None, seq: int) -> str:
    """The id of the call that began with an event."""
    return place_id(_PREFIX, session, seq)


def parse_call_id(name: str) -> tuple[str, int] | None:
    """Return the session and the seq of a call; None for an id of another make."""
    return parse_place_id(name) if name.startswith(f"{_PREFIX}_") else None


@dataclass(frozen=True, slots=True)
class AnsweredCalls:
    """Calls of one session that a client answers."""

    info: SessionInfo
    ids: Mapping[str, str]
    """The ids in the log, by the client's."""


async def find_answered_calls(context: ServerContext, owner: str, names: Collection[str]) -> AnsweredCalls | None:
    """Find the calls that a client answers. Returns None unless all are calls of one session of the owner."""
    places = {name: parse_call_id(name) for name in names}
    sessions = {place[0] if place is not None else "" for place in places.values()}
    if len(sessions) != 1:
        return None
    try:
        info = await context.open_sessions.find_info(owner, sessions.pop())
    except ApiError:
        return None
    ids: dict[str, str] = {}
    for name, place in places.items():
        if place is None:
            return None
        for event in await context.sessions.store.read(info.id, after=place[1] - 1, limit=1):
            if isinstance(event.data, ClientToolRequested | ToolUseContentBlockStart):
                ids[name] = event.data.id
    return AnsweredCalls(info, ids) if len(ids) == len(names) else None
