"""Frames of native streams beside events. The OpenAPI document is made from these types."""

from typing import Any, Literal

import msgspec

from heald.agent.state import ConversationState
from heald.core.events import ApprovalRequested, ClientToolRequested, FileChanged, QuestionAsked
from heald.core.json import JsonObject, encode
from heald.core.messages import Message
from heald.core.turn import Usage
from heald.sessions.event_codec import MAX_FRAME_BYTES
from heald.sessions.history import read_history
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store
from heald_server.http.errors import ErrorDetail
from heald_server.streams.cursor import BadCursor
from heald_server.streams.event_stream import EndReason

_HEAD_BYTES = 1024
_REASONS: dict[BadCursor, str] = {
    "garbage": "The cursor is not the seq of an event.",
    "future": "The cursor is beyond the end of the log.",
    "other_session": "The cursor is of another session.",
}


class StreamSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation at one point of its log."""

    title: str
    seq: int
    status: str
    exchange: str | None
    messages: list[Message]
    partial: Any
    files: list[FileChanged]
    approvals: list[ApprovalRequested]
    questions: list[QuestionAsked]
    client_calls: list[ClientToolRequested]
    queued: Any
    turns: int
    usage: Usage
    cost_usd: float | None


class BlobPlace(msgspec.Struct, frozen=True):
    """A place in a frame that is empty, and the blob that belongs there."""

    path: list[str | int]
    blob: str
    is_json: bool


class StreamReset(msgspec.Struct, frozen=True, kw_only=True):
    """The cursor could not be served; the stream continues after the snapshot."""

    type: Literal["reset"]
    session: str
    reason: BadCursor
    message: str
    seq: int
    snapshot: StreamSnapshot | None
    blobs: list[BlobPlace] | msgspec.UnsetType = msgspec.UNSET


class StreamGoodbye(msgspec.Struct, frozen=True, kw_only=True):
    """The server ends the stream. `resume` is the cursor of the next one."""

    type: Literal["goodbye"]
    session: str
    reason: EndReason
    resume: int


class SocketSubscribed(msgspec.Struct, frozen=True, kw_only=True):
    type: Literal["subscribed"]
    session: str
    seq: int


class SocketEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Events that were published together, or with the type `end` the last ones of a long log."""

    type: Literal["events", "end"]
    events: list[Any]
    session: str | None = None


class SocketReply(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the command with this id."""

    type: Literal["reply", "pong"]
    id: str | int
    result: Any = None


class SocketError(msgspec.Struct, frozen=True, kw_only=True):
    """The command with this id was refused."""

    type: Literal["error"]
    id: str | int | None
    session: str | None
    error: ErrorDetail


class SocketHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    type: Literal["heartbeat"]


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


def _snapshot(info: SessionInfo, state: ConversationState) -> StreamSnapshot:
    return StreamSnapshot(
        title=info.title,
        seq=state.seq,
        status=state.status,
        exchange=state.exchange,
        messages=state.messages,
        partial=state.partial,
        files=list(state.files.values()),
        approvals=list(state.approvals.values()),
        questions=list(state.questions.values()),
        client_calls=list(state.client_calls.values()),
        queued=state.queued,
        turns=state.turns,
        usage=state.usage,
        cost_usd=state.cost_usd,
    )
