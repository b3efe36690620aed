"""The base class of dialects that follow exchanges."""

from collections.abc import Mapping
from typing import ClassVar

from heald.core.envelope import Event
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.core.json import JsonObject, encode_text
from heald_server.dialects.calls import OpenCalls
from heald_server.dialects.frame import Frame, write_sse
from heald_server.dialects.texts import CUT_SHORT


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
        self.has_output = False
        """Whether a part of the answer was emitted. A response without output can still become an error."""

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
