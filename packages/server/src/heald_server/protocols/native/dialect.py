"""native: the events of the log, unchanged. For the built-in page, the Python client and remote reactors."""

from collections.abc import Mapping
from typing import ClassVar

from heald.core.envelope import Event
from heald_server.dialects.frame import Frame, write_sse
from heald_server.dialects.texts import CUT_SHORT


class NativeDialect:
    """One frame for every event, those of subagents included, which have no cursor: their seq is another session's."""

    name: ClassVar[str] = "native"
    content_type: ClassVar[str] = "text/event-stream"
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, session: str | None = None) -> None:
        self._session = session
        self._closed = False

    def feed(self, event: Event) -> list[Frame]:
        if self._closed:
            return []
        if self._session is None:
            self._session = event.session
        return [Frame(event, event.type, event.seq if event.session == self._session else None)]

    def close(self, why: str = CUT_SHORT) -> list[Frame]:
        self._closed = True
        return []

    def sse(self, frame: Frame) -> bytes:
        return write_sse(frame)

    def text(self, frame: Frame) -> str:
        return frame.payload.decode()
