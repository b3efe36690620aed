"""What a server says on the socket, typed. What cannot be read is `Unreachable`: another connection may do better."""

import msgspec

from weft.core.envelope import Event, decode_event
from weft.core.json import JsonObject, as_object, loads
from weft.remote.errors import Unreachable


class Subscribed(msgspec.Struct, frozen=True):
    """Events follow from where they were asked for."""

    session: str


class Reply(msgspec.Struct, frozen=True):
    id: str
    result: JsonObject


class Refused(msgspec.Struct, frozen=True):
    """A no, to one command or to all of it."""

    id: str | None
    code: str
    message: str


class Reset(msgspec.Struct, frozen=True):
    """What came after the cursor cannot be served. The snapshot beside it is left to those who have nothing else."""

    session: str
    reason: str


class Goodbye(msgspec.Struct, frozen=True):
    """The server ends the connection, and it can be taken up again."""

    reason: str


class Nothing(msgspec.Struct, frozen=True):
    """A sign of life, or a word that this version does not know."""


Frame = Event | Subscribed | Reply | Refused | Reset | Goodbye | Nothing


def read_frame(text: str) -> Frame:
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
        raise Unreachable("it sent something that is no message") from None


def _control(frame: JsonObject) -> Frame:
    error = as_object(frame.get("error"))
    match frame.get("type"):
        case "subscribed":
            return Subscribed(_text(frame, "session"))
        case "reply":
            return Reply(_text(frame, "id"), as_object(frame.get("result")))
        case "error":
            identifier = frame.get("id")
            said = str(error.get("message") or "The server refused.")[:500]
            return Refused(identifier if isinstance(identifier, str) else None, str(error.get("code")), said)
        case "reset":
            return Reset(_text(frame, "session"), str(frame.get("reason"))[:100])
        case "goodbye":
            return Goodbye(str(frame.get("reason"))[:100])
        case str() if "seq" not in frame:
            return Nothing()
        case _:
            raise ValueError("no frame")


def _text(frame: JsonObject, name: str) -> str:
    value = frame.get(name)
    if not isinstance(value, str):
        raise ValueError(f"no {name}")
    return value
