"""Requests and responses of the routes for a conversation."""

from typing import Annotated, Literal

import msgspec

from heald.core.events import ApprovalRequested, ClientToolRequested, QuestionAsked
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald_server.routes.fields import Body, Name, Title


class CancelBody(Body, frozen=True, kw_only=True):
    exchange: Name | None = None
    reason: Title = ""


class DecisionBody(Body, frozen=True, kw_only=True):
    decision: Literal["approve", "deny"]
    digest: Name | None = None
    """Digest of the call as it was shown; a call that changed since is not approved."""
    always: bool = False
    arguments: JsonObject | None = None
    reason: Title = ""


class AnswerBody(Body, frozen=True, kw_only=True):
    answer: Annotated[str, msgspec.Meta(max_length=100_000)]


class MessagesView(msgspec.Struct, frozen=True):
    messages: list[Message]
    seq: int


class PendingView(msgspec.Struct, frozen=True):
    approvals: list[ApprovalRequested]
    questions: list[QuestionAsked]
    client_calls: list[ClientToolRequested] = []
    """Calls that wait for a client to run them."""


class ForgottenView(msgspec.Struct, frozen=True):
    forgotten: int
    """The number of calls that had been allowed."""
