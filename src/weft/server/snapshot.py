"""A session in one piece, for a client whose cursor cannot be served: it drops what it has and goes on from here."""

from weft.agent.state import ConversationState
from weft.core.json import JsonObject
from weft.server.cursor import BadCursor
from weft.sessions.past import read_past
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store

_REASONS: dict[BadCursor, str] = {
    "garbage": "The cursor is no seq of an event.",
    "future": "The cursor is beyond the end of the log.",
    "other_session": "The cursor is of another session.",
}


async def reset_frame(store: Store, info: SessionInfo, bad: BadCursor) -> tuple[JsonObject, int]:
    """What a client is told, and the seq behind which the stream goes on."""
    past = await read_past(store, info.id, SessionSettings.of(info.settings))
    return {
        "type": "reset",
        "session": info.id,
        "reason": bad,
        "message": _REASONS[bad],
        "seq": past.seq,
        "snapshot": snapshot(info, past.state),
    }, past.seq


def snapshot(info: SessionInfo, state: ConversationState) -> JsonObject:
    return {
        "title": info.title,
        "seq": state.seq,
        "status": state.status,
        "exchange": state.exchange,
        "messages": state.messages,
        "partial": state.partial,
        "files": list(state.files.values()),
        "approvals": list(state.approvals.values()),
        "questions": list(state.questions.values()),
        "queued": state.queued,
        "turns": state.turns,
        "usage": state.usage,
        "cost_usd": state.cost,
    }
