"""The dialect protocol.

A dialect follows one session from the start of an exchange. To resume after a cursor, feed a new one the same exchange
from its `exchange_request` on and send only the frames of later events: the same events always give the same frames.
"""

from collections.abc import Mapping
from typing import ClassVar, Protocol

from heald.core.envelope import Event
from heald_server.dialects.frame import Frame
from heald_server.dialects.texts import CUT_SHORT


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
