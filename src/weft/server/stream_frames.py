"""Native streams: their cursors, their frames beside events, and the commands that clients send over a WebSocket.

The OpenAPI document is made from these types. A command is also an operation, by which it reaches the node that holds
its session.
"""

from typing import Annotated, Any, Literal

import msgspec

from weft.agent.state import ConversationState
from weft.core.events import ApprovalRequested, ClientToolRequested, FileChanged, QuestionAsked
from weft.core.json import JsonObject, encode
from weft.core.messages import Message
from weft.core.turn import Usage
from weft.server import conversation
from weft.server.errors import ErrorDetail
from weft.server.event_stream import EndReason
from weft.server.session_routes import SESSION, ToolResultBody
from weft.server.views import AnswerBody, CancelBody, DecisionBody
from weft.sessions.event_codec import MAX_FRAME_BYTES
from weft.sessions.history import read_history
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store

BadCursor = Literal["garbage", "future", "other_session"]

_MAX_LENGTH = 200
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


class SocketProject(msgspec.Struct, frozen=True, kw_only=True):
    """A project of the studio, as `GET /projects/{project}` returns it, now and after every change."""

    type: Literal["project_changed"]
    project: Any


class SocketProjectDeleted(msgspec.Struct, frozen=True, kw_only=True):
    """A project that the socket subscribed to was deleted. `project` is its id."""

    type: Literal["project_deleted"]
    project: str


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
        cost_usd=state.cost,
    )


# --- commands --------------------------------------------------------------------------------------------------------


_Name = Annotated[str, msgspec.Meta(max_length=200)]


class SocketCommand(msgspec.Struct, frozen=True, kw_only=True):
    id: Annotated[str, msgspec.Meta(max_length=200)] | int | None = None
    session: _Name | None = None
    """Omitted on the socket of one session."""


class Subscribe(SocketCommand, frozen=True, kw_only=True, tag="subscribe"):
    resume: int | str | None = None
    batch: bool = False
    """Send events that are available together in one message, `{"type": "events", "events": […]}`."""
    end: bool = False
    """Send the tail of a long log first, as `{"type": "end", "events": […]}`; it comes again in its place."""
    project: _Name | None = None
    """A project of the studio instead of a session: the server sends it after every change."""


class Unsubscribe(SocketCommand, frozen=True, kw_only=True, tag="unsubscribe"):
    project: _Name | None = None


class SendMessage(SocketCommand, frozen=True, kw_only=True, tag="send"):
    text: str | None = None
    content: Annotated[list[conversation.Part], msgspec.Meta(max_length=conversation.MAX_PARTS)] | None = None
    client_request_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    when_busy: conversation.WhenBusy = "queue"
    output_schema: JsonObject | None = None
    client_tools: list[Any] | None = None


class CancelExchange(SocketCommand, frozen=True, kw_only=True, tag="cancel"):
    exchange: _Name | None = None
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class ApproveCall(SocketCommand, frozen=True, kw_only=True, tag="approve"):
    approval: _Name
    digest: _Name | None = None
    always: bool = False
    arguments: JsonObject | None = None


class DenyCall(SocketCommand, frozen=True, kw_only=True, tag="deny"):
    approval: _Name
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class AnswerQuestion(SocketCommand, frozen=True, kw_only=True, tag="answer"):
    question: _Name
    text: Annotated[str, msgspec.Meta(max_length=100_000)]


class SetClientTools(SocketCommand, frozen=True, kw_only=True, tag="set_client_tools"):
    tools: list[Any]


class SendToolResult(SocketCommand, frozen=True, kw_only=True, tag="tool_result"):
    call_id: _Name
    content: Any
    is_error: bool = False


class Ping(SocketCommand, frozen=True, kw_only=True, tag="ping"):
    pass


Decision = ApproveCall | DenyCall | AnswerQuestion | SendToolResult
AnyCommand = Subscribe | Unsubscribe | SendMessage | CancelExchange | Decision | SetClientTools | Ping


class ResumeMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The short form of `subscribe`, as the first message on the socket of one session."""

    resume: int | str | None


def submission_of(command: SendMessage) -> conversation.Submission:
    fields = {name: getattr(command, name) for name in conversation.Submission.__struct_fields__}
    return conversation.Submission(**fields)


def decision_of(command: ApproveCall | DenyCall) -> DecisionBody:
    if isinstance(command, DenyCall):
        return DecisionBody(decision="deny", reason=command.reason)
    given = {name: getattr(command, name) for name in ("digest", "always", "arguments")}
    return DecisionBody(decision="approve", **given)


class SocketOperation(msgspec.Struct, frozen=True):
    """An operation that does the same as a command."""

    name: str
    path: dict[str, str]
    body: bytes


def operation_of(command: AnyCommand, session: str) -> SocketOperation | None:
    """Return the operation that a command is; None for one that concerns the connection only."""
    path = {"session": session}
    match command:
        case SendMessage():
            name, body = "messages", submission_of(command)
        case CancelExchange(exchange=exchange, reason=reason):
            name, body = "cancel", CancelBody(exchange=exchange, reason=reason)
        case ApproveCall(approval=approval) | DenyCall(approval=approval):
            name, body = "approvals/{approval}", decision_of(command)
            path["approval"] = approval
        case AnswerQuestion(question=question, text=text):
            name, body = "questions/{question}", AnswerBody(answer=text)
            path["question"] = question
        case SendToolResult(call_id=call_id, content=content, is_error=is_error):
            name, body = "tool_results", ToolResultBody(call_id=call_id, content=content, is_error=is_error)
        case SetClientTools(tools=tools):
            return SocketOperation(f"PATCH {SESSION}", path, encode({"client_tools": tools}))
        case _:
            return None
    return SocketOperation(f"POST {SESSION}/{name}", path, encode(body))
