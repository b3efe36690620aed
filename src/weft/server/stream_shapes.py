"""The frames of native streams and sockets beside events, as types. The OpenAPI document is made from them."""

from typing import Any, Literal

import msgspec

from weft.core.errors import ErrorInfo
from weft.core.events import ApprovalRequested, ClientToolRequested, FileChanged, QuestionAsked
from weft.core.messages import Message
from weft.core.turn import Usage
from weft.server.errors import ErrorDetail
from weft.server.event_stream import EndReason


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
    error: ErrorInfo | msgspec.UnsetType | None = msgspec.UNSET


class BlobPlace(msgspec.Struct, frozen=True):
    """A place in a frame that is empty, and the blob that belongs there."""

    path: list[str | int]
    blob: str
    is_json: bool


class StreamReset(msgspec.Struct, frozen=True, kw_only=True):
    """The cursor could not be served; the stream continues after the snapshot."""

    type: Literal["reset"]
    session: str
    reason: Literal["garbage", "future", "other_session"]
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


class SocketProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project of the studio, as `GET /projects/{project}` returns it, now and after every change."""

    type: Literal["project_changed"]
    project: Any


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
