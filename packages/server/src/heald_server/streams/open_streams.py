"""The streams of a server that clients read now."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from heald_server.streams.event_stream import EventStream


class OpenStreams:
    def __init__(self) -> None:
        self._streams: set[EventStream] = set()

    def __len__(self) -> int:
        return len(self._streams)

    @property
    def is_responding(self) -> bool:
        """Whether a response with the events of an exchange is being sent."""
        return any(stream.is_response for stream in self._streams)

    @contextmanager
    def reading(self, streams: Sequence[EventStream]) -> Generator[None]:
        """Count streams as open during the block."""
        self._streams.update(streams)
        try:
            yield
        finally:
            self._streams.difference_update(streams)

    def end(self, response_seconds: float) -> None:
        """End all streams because the server stops; responses that are being sent after some seconds."""
        for stream in list(self._streams):
            if stream.is_response:
                asyncio.get_running_loop().call_later(response_seconds, stream.stop, "shutdown")
            else:
                stream.stop("shutdown")

    def end_unstorable(self, session: str) -> None:
        """End the streams of a session whose events cannot be stored."""
        for stream in list(self._streams):
            if stream.session == session:
                stream.stop("store")
