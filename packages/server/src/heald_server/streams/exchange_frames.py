"""The frames of one exchange in a dialect, up to its end or to where it waits for the client."""

from collections.abc import Sequence
from dataclasses import dataclass

from heald_server.dialects.dialect import Dialect
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.frame import Frame
from heald_server.streams.event_hub import EncodedEvent


@dataclass(frozen=True, slots=True)
class ExchangePart:
    """The part of an exchange that one response holds."""

    exchange: str
    begin: int
    """The seq after which it begins."""
    pause_from: int | None = None
    """The response ends where the exchange waits for the client, from this seq on; None: only where it ends."""
    is_continued: bool = False
    """An earlier response held the beginning."""
    answered: frozenset[str] = frozenset()
    """The calls that the client has just answered: until they end there is no pause."""


class ExchangeFrames:
    """The frames of a part of an exchange, in one dialect."""

    def __init__(self, dialect: Dialect, part: ExchangePart) -> None:
        self.dialect = dialect
        self.part = part
        self.is_done = False
        """The last frame was returned."""

    def begin(self) -> list[Frame]:
        """The frames that begin the response."""
        dialect = self.dialect
        if self.part.is_continued and isinstance(dialect, ExchangeDialect):
            return dialect.resume()
        return []

    def feed(self, entries: Sequence[EncodedEvent]) -> list[Frame]:
        frames: list[Frame] = []
        for entry in entries:
            event = entry.event
            if self.is_done:
                break
            if event.exchange == self.part.exchange:
                frames += self.dialect.feed(event)
            if event.type == "text_delta":
                continue  # no exchange ends or waits there
            if event.exchange == self.part.exchange and event.type == "exchange_response":
                self.is_done = True
                frames += self.dialect.close()
            elif self._is_pause(event.seq):
                self.is_done = True
                frames += self._pause()
        return frames

    def _is_pause(self, seq: int) -> bool:
        dialect, first = self.dialect, self.part.pause_from
        if first is None or seq < first or not isinstance(dialect, ExchangeDialect):
            return False
        return dialect.is_waiting and not dialect.waiting_calls & self.part.answered

    def _pause(self) -> list[Frame]:
        return self.dialect.pause() if isinstance(self.dialect, ExchangeDialect) else []
