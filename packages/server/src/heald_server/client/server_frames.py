"""The frames that a server sends over its WebSocket."""

import msgspec

from heald.core.envelope import Event, decode_event
from heald.core.json import JsonObject, as_object, loads
from heald_server.client.errors import ConnectionLost


class SubscribedFrame(msgspec.Struct, frozen=True):
    """The subscription is confirmed; events follow."""

    session: str


class ReplyFrame(msgspec.Struct, frozen=True):
    id: str
    result: JsonObject


class RefusedFrame(msgspec.Struct, frozen=True):
    """A refusal of one command or of the connection."""

    id: str | None
    code: str
    message: str


class ResetFrame(msgspec.Struct, frozen=True):
    """The events after the cursor cannot be served."""

    session: str
    reason: str


class GoodbyeFrame(msgspec.Struct, frozen=True):
    """The server closes the connection, which can be resumed."""

    reason: str


class IgnoredFrame(msgspec.Struct, frozen=True):
    """A heartbeat, or a frame that this version does not know."""


ServerFrame = Event | SubscribedFrame | ReplyFrame | RefusedFrame | ResetFrame | GoodbyeFrame | IgnoredFrame


def read_frame(text: str) -> ServerFrame:
    try:
        return decode_event(text)
    except ValueError:
        pass
    try:
        value = loads(text)
        if not isinstance(value, dict):
            raise ValueError("no object")
        return _control(as_object(value))
    except ValueError:
        raise ConnectionLost("it sent something that is not a message") from None


def read_control_frame(text: str) -> ServerFrame | JsonObject:
    """Read a message of a socket in another dialect: a frame of the server, or an event as a JSON object."""
    try:
        frame = as_object(loads(text))
        return frame if "uuid" in frame else _control(frame)
    except ValueError:
        raise ConnectionLost("it sent something that is not a message") from None


def _control(frame: JsonObject) -> ServerFrame:
    error = as_object(frame.get("error"))
    match frame.get("type"):
        case "subscribed":
            return SubscribedFrame(_text(frame, "session"))
        case "reply":
            return ReplyFrame(_text(frame, "id"), as_object(frame.get("result")))
        case "error":
            identifier = frame.get("id")
            text = str(error.get("message") or "The server refused.")[:500]
            return RefusedFrame(identifier if isinstance(identifier, str) else None, str(error.get("code")), text)
        case "reset":
            return ResetFrame(_text(frame, "session"), str(frame.get("reason"))[:100])
        case "goodbye":
            return GoodbyeFrame(str(frame.get("reason"))[:100])
        case str() if "seq" not in frame:
            return IgnoredFrame()
        case _:
            raise ValueError("no frame")


def _text(frame: JsonObject, name: str) -> str:
    value = frame.get(name)
    if not isinstance(value, str):
        raise ValueError(f"no {name}")
    return value
