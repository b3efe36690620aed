"""Parses stream cursors, and builds the reset frame for a cursor that cannot be served."""

from typing import Literal

import msgspec

from weft.agent.state import ConversationState
from weft.core.json import JsonObject, encode
from weft.sessions.event_codec import MAX_FRAME_BYTES
from weft.sessions.history import read_history
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store

BadCursor = Literal["garbage", "future", "other_session"]

_MAX_LENGTH = 200
_HEAD_BYTES = 1024


class StreamCursor(msgspec.Struct, frozen=True):
    """A position in a session's log, after `seq`. `bad` says why a client's cursor could not be used."""

    seq: int
    bad: BadCursor | None = None


def read_cursor(given: str | int | None, info: SessionInfo) -> StreamCursor:
    """Parse a cursor: the seq or id of the last event that a client has, or "now" for the end of the log."""
    if given is None or given == "":
        return StreamCursor(0)
    if given == "now":
        return StreamCursor(info.last_seq)
    if isinstance(given, str):
        return _parse_text(given, info)
    if isinstance(given, bool) or given < 0:
        return StreamCursor(info.last_seq, "garbage")
    return StreamCursor(given) if given <= info.last_seq else StreamCursor(info.last_seq, "future")


def _parse_text(given: str, info: SessionInfo) -> StreamCursor:
    if len(given) > _MAX_LENGTH or not given.isascii():
        return StreamCursor(info.last_seq, "garbage")
    session, _, rest = given.partition("-")
    if rest:  # an event's id: session-epoch-seq
        if session != info.id:
            return StreamCursor(info.last_seq, "other_session" if session.startswith("ses_") else "garbage")
        given = rest.rpartition("-")[2]
    if not given.isdigit() or len(given) > 18:
        return StreamCursor(info.last_seq, "garbage")
    return read_cursor(int(given), info)


_REASONS: dict[BadCursor, str] = {
    "garbage": "The cursor is not the seq of an event.",
    "future": "The cursor is beyond the end of the log.",
    "other_session": "The cursor is of another session.",
}


async def reset_frame(store: Store, info: SessionInfo, bad: BadCursor) -> tuple[JsonObject, int]:
    """The frame that replaces a client's state by a snapshot, and the seq after which the stream continues."""
    history = await read_history(store, info.id, SessionSettings.of(info.settings))
    head: JsonObject = {
        "type": "reset",
        "session": info.id,
        "reason": bad,
        "message": _REASONS[bad],
        "seq": history.seq,
    }
    snapshot = encode(_snapshot(info, history.state))
    if len(snapshot) <= MAX_FRAME_BYTES - _HEAD_BYTES:
        return head | {"snapshot": msgspec.Raw(snapshot)}, history.seq
    blob = await store.put_blob(info.id, snapshot)
    return head | {"snapshot": None, "blobs": [{"path": ["snapshot"], "blob": blob, "is_json": True}]}, history.seq


def _snapshot(info: SessionInfo, state: ConversationState) -> JsonObject:
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
        "client_calls": list(state.client_calls.values()),
        "queued": state.queued,
        "turns": state.turns,
        "usage": state.usage,
        "cost_usd": state.cost,
    }
