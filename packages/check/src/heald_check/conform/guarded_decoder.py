"""Decodes an answer with the decoder of Heald, and records the error if it cannot."""

from collections.abc import Callable

import msgspec

from heald.core.messages import Message
from heald.core.turn import StopReason, Usage
from heald.wires.decoder import Decoder
from heald_check.conform.excerpt import excerpt


class DecodedAnswer(msgspec.Struct, frozen=True):
    """The answer as Heald decodes it."""

    message: Message | None = None
    stop_reason: StopReason | None = None
    usage: Usage = msgspec.field(default_factory=Usage)
    error: str | None = None


class GuardedDecoder:
    """A decoder for untrusted bytes: an exception of the decoder is recorded instead of raised."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._failure: str | None = None

    def feed(self, chunk: bytes) -> None:
        self._guard(lambda: self._decoder.feed(chunk))

    def _guard(self, work: Callable[[], object]) -> None:
        if self._failure is not None:
            return
        try:
            work()
        except Exception as error:
            self._failure = f"its decoder fails ({type(error).__name__}: {excerpt(str(error))}); please report this"

    @property
    def started(self) -> bool:
        return self._decoder.started

    @property
    def at_end(self) -> bool:
        """Whether only usage or the end can follow."""
        return self._decoder.done or self._decoder.finishing

    def end(self) -> DecodedAnswer:
        self._guard(self._decoder.close)
        decoder = self._decoder
        error = self._failure or (excerpt(str(decoder.error)) if decoder.error is not None else None)
        return DecodedAnswer(decoder.message, decoder.stop_reason, decoder.usage, error)
