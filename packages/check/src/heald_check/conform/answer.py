"""The response of a server to one probe."""

from functools import cached_property

import msgspec

from heald.core.http_status import is_busy
from heald.core.json import JsonObject, as_object, parse_strict
from heald_check.conform.api_rules import ApiRules
from heald_check.conform.excerpt import quoted
from heald_check.conform.guarded_decoder import DecodedAnswer
from heald_check.conform.reading import StreamReading


class ProbeAnswer(msgspec.Struct, frozen=True, dict=True):
    probe: str
    api: ApiRules
    status: int = 0
    content_type: str = ""
    body: bytes = b""
    decoded: DecodedAnswer = msgspec.field(default_factory=DecodedAnswer)
    broken: str | None = None
    """Why the connection broke before the end of the body."""
    kept_open: bool = False
    """The body stayed open after its last event."""
    disconnected: bool = False
    """The client disconnected on purpose, in the middle of the body."""

    @cached_property
    def reading(self) -> StreamReading:
        return self.api.reader.read(self.body)

    @cached_property
    def trouble(self) -> str | None:
        """Why there is no stream to judge, None if there is one."""
        if self.broken is not None:
            return self.broken
        if self.status != 200:
            return f"HTTP {self.status}, {quoted(self.error_text)}"
        if not self.reading.events:
            kind = self.content_type or "no content type"
            return f"HTTP 200 with {kind} and not one event: {quoted(self.body)}"
        if self.reading.error is not None:
            return f"HTTP 200 and an error in the stream, {quoted(self.reading.error)}"
        return None

    @property
    def busy(self) -> bool:
        return is_busy(self.status)

    @property
    def refused(self) -> bool:
        """Whether the server refused the request in the form of its API."""
        return self.status in (400, 404, 422, 501) and self.api.error_is_right(self.error_body)

    @cached_property
    def error_body(self) -> JsonObject:
        try:
            return as_object(parse_strict(self.body.decode("utf-8")))
        except ValueError:
            return {}

    @property
    def error_text(self) -> str:
        """The message of the error, or the body if there is none."""
        error = self.error_body.get("error")
        message = as_object(error).get("message") or error
        return message if isinstance(message, str) else self.body[:1000].decode("utf-8", "replace")
