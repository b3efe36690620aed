"""What a server sent back to one probe: the bytes, and the two ways to read them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from weft.core.json import JsonObject, as_object, parse_strict
from weft.core.messages import Message
from weft.core.stop import StopReason
from weft.core.usage import Usage
from weft.testing.conform.api import Api
from weft.testing.conform.plain.reader import Reading
from weft.testing.conform.verdict import excerpt, quoted
from weft.wires.decoder import Decoder

_BUSY = (429, 503, 529)


@dataclass(frozen=True)
class Decoded:
    """What Weft makes of the answer."""

    message: Message | None = None
    stop_reason: StopReason | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | None = None


class Decoding:
    """A decoder at work on bytes from a stranger. Should it fail itself, that is told and not raised."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._failure: str | None = None

    def feed(self, chunk: bytes) -> None:
        self._watched(lambda: self._decoder.feed(chunk))

    def _watched(self, work: Callable[[], object]) -> None:
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
    def over(self) -> bool:
        """What follows, if anything, is usage or the end."""
        return self._decoder.done or self._decoder.finishing

    def end(self) -> Decoded:
        self._watched(self._decoder.close)
        decoder = self._decoder
        error = self._failure or (excerpt(str(decoder.error)) if decoder.error is not None else None)
        return Decoded(decoder.message, decoder.stop_reason, decoder.usage, error)


@dataclass(frozen=True)
class Answer:
    probe: str
    api: Api
    status: int = 0
    content_type: str = ""
    body: bytes = b""
    decoded: Decoded = field(default_factory=Decoded)
    broken: str | None = None
    """Why the connection did not live to the end of the body."""
    kept_open: bool = False
    """The body went on after its last event, with nothing in it."""
    left_early: bool = False
    """We left in the middle, on purpose."""

    @cached_property
    def reading(self) -> Reading:
        return self.api.reader.read(self.body)

    @cached_property
    def trouble(self) -> str | None:
        """Why there is no stream to judge, None if there is one."""
        if self.broken is not None:
            return self.broken
        if self.status != 200:
            return f"HTTP {self.status}, {quoted(self.said)}"
        if not self.reading.events:
            kind = self.content_type or "no content type"
            return f"HTTP 200 with {kind} and not one event: {quoted(self.body)}"
        if self.reading.error is not None:
            return f"HTTP 200 and an error in the stream, {quoted(self.reading.error)}"
        return None

    @property
    def busy(self) -> bool:
        return self.status in _BUSY

    @property
    def refused(self) -> bool:
        """The server declined in the way its API has for that."""
        return self.status in (400, 404, 422, 501) and self.api.error_is_right(self.error_body)

    @cached_property
    def error_body(self) -> JsonObject:
        try:
            return as_object(parse_strict(self.body.decode("utf-8")))
        except ValueError:
            return {}

    @property
    def said(self) -> str:
        """The message of an error, or the body where there is none."""
        error = self.error_body.get("error")
        told = as_object(error).get("message") or error
        return told if isinstance(told, str) else self.body[:1000].decode("utf-8", "replace")
