"""The dialect protocol, its frames, and the base class of dialects that follow exchanges.

A dialect follows one session from the start of an exchange. To resume after a cursor, feed a new one the same exchange
from its `exchange_request` on and send only the frames of later events: the same events always give the same frames.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import msgspec

from weft.core.envelope import Event
from weft.core.errors import ErrorInfo
from weft.core.events import ExchangeRequest, ExchangeResponse
from weft.core.json import JsonObject, encode, encode_text
from weft.core.messages import Text, ToolResult
from weft.dialects.calls import OpenCalls

MAX_ERROR = 300
MAX_TOOL_ERROR = 2000
CUT_SHORT = "The stream ended before the answer was complete."
NOT_STORED = "The session can be stored no more, so the answer was broken off; make room, or ask again in a moment."
DROPPED = "This attempt failed and was dropped; what follows takes its place."
CANCELLED = "The request was cancelled."


def error_text(error: ErrorInfo | None) -> str:
    """An error in one line."""
    if error is None:
        return "The request failed."
    return shortened(" ".join(error.message.split()), MAX_ERROR) or f"The request failed ({error.code})."


def error_code(error: ErrorInfo | None) -> str:
    return error.code if error is not None else "internal"


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def failure_text(result: ToolResult) -> str:
    """Why a call failed."""
    return shortened(result.text, MAX_TOOL_ERROR) or f"The call ended with {result.status}."


def result_text(result: ToolResult) -> str:
    """A result as text. Pictures and files are named."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(part.text if isinstance(part, Text) else f"[{part.media_type}]" for part in result.content)


def result_value(result: ToolResult) -> Any:
    """A result as a JSON value: a text, or its parts."""
    return result.content if isinstance(result.content, str) else msgspec.to_builtins(result.content)


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One message to a client."""

    data: JsonObject | Event | str
    """An object is encoded as JSON, a text is sent as it is."""
    event: str | None = None
    """Its name as a server-sent event."""
    id: int | None = None
    """The seq of the event that this frame completes: a client can resume from here."""

    @property
    def payload(self) -> bytes:
        """The encoded data."""
        return self.data.encode() if isinstance(self.data, str) else encode(self.data)


def write_sse(frame: Frame) -> bytes:
    """The frame as a server-sent event."""
    if frame.event is None and frame.id is not None and not isinstance(frame.data, str):
        return b"id: %d\ndata: %b\n\n" % (frame.id, encode(frame.data))  # encoded JSON has no line breaks
    parts: list[bytes] = []
    if frame.id is not None:
        parts.append(b"id: %d\n" % frame.id)
    if frame.event is not None:
        parts.append(b"event: %s\n" % " ".join(frame.event.split()).encode("utf-8", "replace"))
    if isinstance(frame.data, str):
        parts += [b"data: %s\n" % line.encode() for line in frame.data.splitlines() or [""]]
    else:
        parts.append(b"data: %s\n" % frame.payload)
    return b"".join((*parts, b"\n"))


class Dialect(Protocol):
    """Translates the log of a session for one kind of client."""

    name: ClassVar[str]
    content_type: ClassVar[str]
    headers: ClassVar[Mapping[str, str]]
    """Further headers of the response that the client expects."""

    def feed(self, event: Event) -> list[Frame]:
        """The frames of one event."""
        ...

    def close(self, why: str = CUT_SHORT) -> list[Frame]:
        """End the log: frames that close what is still open, for the given reason. No frame follows."""
        ...

    def sse(self, frame: Frame) -> bytes:
        """The frame as a server-sent event."""
        ...

    def text(self, frame: Frame) -> str:
        """The frame as a WebSocket message."""
        ...


class ExchangeDialect:
    """The base of dialects that follow the exchanges of one session.

    Events of other sessions (subagents) and between exchanges are skipped. The last frame of an event carries its seq,
    so a client that has this frame has the whole event.
    """

    name: ClassVar[str]
    content_type: ClassVar[str] = "text/event-stream"
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, session: str | None = None) -> None:
        self._session = session  # None: the session of the first event
        self._answering = False
        self._closed = False
        self._abort_reason = CUT_SHORT  # why an exchange is cut short
        self._calls = OpenCalls()  # of the running exchange
        self._out: list[Frame] = []

    def feed(self, event: Event) -> list[Frame]:
        if self._session is None:
            self._session = event.session
        if self._closed or event.session != self._session:
            return []
        kind = type(event.data)
        if kind is ExchangeRequest:
            if self._answering:
                self._abort()
            self._answering = True
            self._calls = OpenCalls()
        elif not self._answering:
            return []
        self._on_event(event)
        if kind is ExchangeResponse:
            self._answering = False
        out, self._out = self._out, []
        if out:
            last = out[-1]
            out[-1] = Frame(last.data, last.event, event.seq)
        return out

    def close(self, why: str = CUT_SHORT) -> list[Frame]:
        if self._closed:
            return []
        self._closed, self._abort_reason = True, why
        if self._answering:
            self._abort()
        self._end_stream()
        out, self._out = self._out, []
        return out

    @property
    def is_waiting(self) -> bool:
        """Whether the exchange waits for the client, so that a protocol of requests and responses ends its response."""
        return self._calls.is_waiting

    @property
    def waiting_calls(self) -> frozenset[str]:
        """The ids of the calls that wait for the client."""
        return self._calls.waiting

    def pause(self) -> list[Frame]:
        """End a response while the exchange waits. A further response begins with `resume`."""
        self._pause()
        self._end_stream()
        out, self._out = self._out, []
        return out

    def resume(self) -> list[Frame]:
        """Begin a further response of an exchange that was fed up to its pause."""
        self._resume()
        out, self._out = self._out, []
        return out

    def sse(self, frame: Frame) -> bytes:
        return write_sse(frame)

    def text(self, frame: Frame) -> str:
        if not isinstance(frame.data, dict):
            return frame.payload.decode()
        data: JsonObject = frame.data if frame.event is None else {"event": frame.event, "data": frame.data}
        if frame.id is not None:  # clients of these protocols ignore unknown fields
            data = data | {"seq": frame.id}
        return encode_text(data)

    def _emit(self, data: JsonObject | str, event: str | None = None) -> None:
        self._out.append(Frame(data, event))

    def _on_event(self, event: Event) -> None:
        """Emit the frames of an event inside an exchange."""
        raise NotImplementedError

    def _abort(self) -> None:
        """Close what the unfinished exchange has open."""
        raise NotImplementedError

    def _pause(self) -> None:
        """Emit the frames that end a response while the exchange waits."""

    def _resume(self) -> None:
        """Emit the frames that begin a further response of the same exchange."""

    def _end_stream(self) -> None:
        """Emit the frames that end the whole stream."""
