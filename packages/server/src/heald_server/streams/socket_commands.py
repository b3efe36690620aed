"""The commands that clients send over a WebSocket.

The OpenAPI document is made from these types. A command is also an operation, by which it reaches the node that holds
its session."""

from typing import Annotated, Any

import msgspec

from heald.agent.budget import Budget
from heald.core.json import JsonObject, encode
from heald_server.routes.client_tools import ToolResultBody
from heald_server.routes.conversation_views import AnswerBody, CancelBody, DecisionBody
from heald_server.routes.paths import SESSION
from heald_server.routes.submission import MAX_PARTS, Part, Submission, WhenBusy

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
    """Send the tail of a long log first, as `{"type": "end", "events": […]}`; it is repeated in its place."""


class Unsubscribe(SocketCommand, frozen=True, kw_only=True, tag="unsubscribe"):
    pass


class SendMessage(SocketCommand, frozen=True, kw_only=True, tag="send"):
    text: str | None = None
    content: Annotated[list[Part], msgspec.Meta(max_length=MAX_PARTS)] | None = None
    client_request_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    when_busy: WhenBusy = "queue"
    output_schema: JsonObject | None = None
    budget: Budget | None = None
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


def submission_of(command: SendMessage) -> Submission:
    fields = {name: getattr(command, name) for name in Submission.__struct_fields__}
    return Submission(**fields)


def decision_of(command: ApproveCall | DenyCall) -> DecisionBody:
    if isinstance(command, DenyCall):
        return DecisionBody(decision="deny", reason=command.reason)
    fields = {name: getattr(command, name) for name in ("digest", "always", "arguments")}
    return DecisionBody(decision="approve", **fields)


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
