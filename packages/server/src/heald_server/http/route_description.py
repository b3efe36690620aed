"""The description of a route that is not an `Operation`, for the OpenAPI document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from heald_server.http.errors import ErrorBody, ErrorCode


class EventType:
    """Stands for an event of a session's log in `RouteDescription.events`."""


@dataclass(frozen=True, slots=True)
class RouteDescription:
    """A method on a path that is no `Operation`, for the document. A WebSocket has the method `WS`."""

    method: str
    path: str
    summary: str
    tag: str
    response: Any = None
    """The type of a JSON response."""
    body: Any = None
    """The type of a JSON body, or of a message to a WebSocket."""
    more_bodies: Sequence[Any] = ()
    """Further types of messages to a WebSocket, which other protocols add."""
    body_optional: bool = False
    query: type[msgspec.Struct] | None = None
    status: int = 200
    media_type: str = "application/json"
    """Of a response without a type, or another kind of JSON; empty for a response without a body."""
    events: Sequence[Any] = ()
    """The types of the events in a stream, or of messages from a WebSocket. The response streams if there are any."""
    more: Mapping[int, str] | None = None
    """Further successful statuses without a body, and what they mean."""
    errors: Sequence[ErrorCode] = ()
    error_body: Any = ErrorBody
    is_public: bool = False
    """The route needs no token."""

    def merge(self, other: "RouteDescription") -> "RouteDescription":
        """Add the messages that another protocol adds to the same WebSocket."""
        bodies = [body for body in (other.body, *other.more_bodies) if body is not None]
        return replace(self, more_bodies=(*self.more_bodies, *bodies), events=(*self.events, *other.events))
