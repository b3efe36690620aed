"""native: the events themselves, as the log has them. For our page, our Python client, and reactors elsewhere."""

from collections.abc import Mapping
from typing import ClassVar

from weft.core.envelope import Event
from weft.dialects.frame import Frame, write_sse
from weft.dialects.sentences import CUT_SHORT


class NativeDialect:
    """Every event, one frame each, those of agents that work for this one included.

    Those have a session and a seq of their own, so no cursor stands beside them.
    """

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
