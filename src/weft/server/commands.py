"""What a client says on a socket, as types. Each may carry an `id`, which its answer carries too."""

from typing import Annotated

import msgspec

from weft.core.json import JsonObject
from weft.server.parts import MOST_PARTS, Part, WhenBusy

Name = Annotated[str, msgspec.Meta(max_length=200)]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    id: Annotated[str, msgspec.Meta(max_length=200)] | int | None = None
    session: Name | None = None
    """Left out on the socket of one session."""


class Subscribe(Command, frozen=True, kw_only=True, tag="subscribe"):
    resume: int | str | None = None
    batch: bool = False
    """Events that are told together come as one message, `{"type": "events", "events": […]}`."""
    end: bool = False
    """What happened last in a long log comes first, as `{"type": "end", "events": […]}`, and again in its place."""
    project: Name | None = None
    """A project of the studio instead of a session: it is told whenever something about it has changed."""


class Unsubscribe(Command, frozen=True, kw_only=True, tag="unsubscribe"):
    project: Name | None = None


class SendMessage(Command, frozen=True, kw_only=True, tag="send"):
    text: str | None = None
    content: Annotated[list[Part], msgspec.Meta(max_length=MOST_PARTS)] | None = None
    client_request_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    when_busy: WhenBusy = "queue"


class CancelExchange(Command, frozen=True, kw_only=True, tag="cancel"):
    exchange: Name | None = None
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class Approve(Command, frozen=True, kw_only=True, tag="approve"):
    approval: Name
    digest: Name | None = None
    always: bool = False
    arguments: JsonObject | None = None


class Deny(Command, frozen=True, kw_only=True, tag="deny"):
    approval: Name
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class Answer(Command, frozen=True, kw_only=True, tag="answer"):
    question: Name
    text: Annotated[str, msgspec.Meta(max_length=100_000)]


class Ping(Command, frozen=True, kw_only=True, tag="ping"):
    pass


AnyCommand = Subscribe | Unsubscribe | SendMessage | CancelExchange | Approve | Deny | Answer | Ping


class Resume(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The short form of `subscribe`, as the first message on the socket of one session."""

    resume: int | str | None
