"""A protocol of clients: a session as plain text, live as a dialect and whole at `/transcript/{session}`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from heald.events import AssistantMessage, Event, UserMessage
from heald_server import ClientProtocol, Frame

if TYPE_CHECKING:
    from heald_server import Operation, ServerContext


def render_line(event: Event) -> str | None:
    """Return the line of an event, or None for one that a transcript leaves out."""
    if isinstance(event.data, UserMessage | AssistantMessage):
        speaker = "user" if isinstance(event.data, UserMessage) else "model"
        return f"{speaker}: {event.data.message.text}"
    return None


class TranscriptDialect:
    """One frame for each message."""

    name: ClassVar[str] = "transcript"
    content_type: ClassVar[str] = "text/event-stream"
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, session: str | None = None) -> None:
        self.session = session

    def feed(self, event: Event) -> list[Frame]:
        line = render_line(event)
        return [Frame({"line": line}, None, event.seq)] if line else []

    def close(self, why: str = "") -> list[Frame]:
        return []

    def sse(self, frame: Frame) -> bytes:
        return b"data: " + frame.payload + b"\n\n"

    def text(self, frame: Frame) -> str:
        return frame.payload.decode()


def routes(context: "ServerContext") -> "Sequence[Operation]":
    """Return the routes. The server calls it once, when it starts."""
    from heald_plugin_example.transcript_route import TRANSCRIPT

    return [TRANSCRIPT]


PROTOCOL = ClientProtocol(name="transcript", dialect=TranscriptDialect, routes=routes)
