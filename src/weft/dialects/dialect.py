"""What a dialect is, and what most of them share.

A dialect follows one session from the start of an exchange. To resume after a cursor, feed a new one the same exchange
from its `exchange_request` on and send the frames of later events only: the same events always give the same frames.
"""

from collections.abc import Mapping
from typing import ClassVar, Protocol

import msgspec

from weft.core.envelope import Event
from weft.core.events import ExchangeRequest, ExchangeResponse
from weft.core.json import JsonObject, encode_text
from weft.dialects.frame import Frame, write_sse
from weft.dialects.sentences import CUT_SHORT


class Dialect(Protocol):
    """The log of a session in the words of one kind of client."""

    name: ClassVar[str]
    content_type: ClassVar[str]
    headers: ClassVar[Mapping[str, str]]
    """Beside the content type, what the client expects in the head of the answer."""

    def feed(self, event: Event) -> list[Frame]:
        """What the client is told of this event."""
        ...

    def close(self, why: str = CUT_SHORT) -> list[Frame]:
        """The log ends here: what is still open is closed, for this reason. Nothing is said afterwards."""
        ...

    def sse(self, frame: Frame) -> bytes:
        """The frame as a server-sent event."""
        ...

    def text(self, frame: Frame) -> str:
        """The frame as a WebSocket message."""
        ...


class ExchangeDialect:
    """The base of dialects that tell exchanges of one session.

    Other sessions (agents that work for this one) and what lies between exchanges are left out. The last frame of an
    event carries its seq, so that a client which has that frame has all of it.
    """

    name: ClassVar[str]
    content_type: ClassVar[str] = "text/event-stream"
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, session: str | None = None) -> None:
        self._session = session  # without one, that of the first event
        self._answering = False
        self._closed = False
        self._cut = CUT_SHORT  # why an exchange was not told to its end
        self._out: list[Frame] = []

    def feed(self, event: Event) -> list[Frame]:
        if self._session is None:
            self._session = event.session
        if self._closed or event.session != self._session:
            return []
        kind = type(event.data)
        if kind is ExchangeRequest:
            if self._answering:
                self._abandon()
            self._answering = True
        elif not self._answering:
            return []
        self._hear(event)
        if kind is ExchangeResponse:
            self._answering = False
        out, self._out = self._out, []
        if out:
            out[-1] = msgspec.structs.replace(out[-1], id=event.seq)
        return out

    def close(self, why: str = CUT_SHORT) -> list[Frame]:
        if self._closed:
            return []
        self._closed, self._cut = True, why
        if self._answering:
            self._abandon()
        self._part()
        out, self._out = self._out, []
        return out

    def sse(self, frame: Frame) -> bytes:
        return write_sse(frame)

    def text(self, frame: Frame) -> str:
        if not isinstance(frame.data, dict):
            return frame.payload.decode()
        data: JsonObject = frame.data if frame.event is None else {"event": frame.event, "data": frame.data}
        if frame.id is not None:  # clients of these protocols pass over fields that they do not know
            data = data | {"seq": frame.id}
        return encode_text(data)

    def _say(self, data: JsonObject | str, event: str | None = None) -> None:
        self._out.append(Frame(data, event))

    def _hear(self, event: Event) -> None:
        """An event of an exchange of this session."""
        raise NotImplementedError

    def _abandon(self) -> None:
        """The exchange will not be told to its end: end what was begun."""
        raise NotImplementedError

    def _part(self) -> None:
        """The last words of the whole stream."""
