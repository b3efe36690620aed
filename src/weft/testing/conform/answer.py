"""The response of a server to one probe, and the rules of each API beside its stream."""

from collections.abc import Callable
from functools import cached_property

import msgspec
from msgspec.structs import replace

from weft.core.json import JsonObject, as_object, parse_strict
from weft.core.messages import Message
from weft.core.retry import is_busy
from weft.core.turn import StopReason, Usage
from weft.testing.conform.openai_readers import ChatReader, ResponsesReader
from weft.testing.conform.other_readers import GeminiReader, MessagesReader, OllamaReader
from weft.testing.conform.reader import StreamReading, StrictReader, excerpt, quoted
from weft.wires.decoder import Decoder


class ApiRules(msgspec.Struct, frozen=True):
    wire: str
    reader: type[StrictReader]
    history: str
    """The field of a request that holds the conversation."""
    error_shape: str
    """The shape of the body of an error, for messages."""
    error_is_right: Callable[[JsonObject], bool]
    content_type: str = "text/event-stream"
    key_statuses: tuple[int, ...] = (401,)
    stop_finish: str | None = None
    """The finish reason of a stop sequence, if the API has one."""
    call_finish: str | None = None
    """The finish reason of an answer with calls, if the API has one."""


def _has_texts(holder: object, *names: str) -> bool:
    members = as_object(holder)
    return all(isinstance(members.get(name), str) and members[name] for name in names)


def _openai_error(body: JsonObject) -> bool:
    return _has_texts(body.get("error"), "message", "type")


def _messages_error(body: JsonObject) -> bool:
    return body.get("type") == "error" and _has_texts(body.get("error"), "type", "message")


def _gemini_error(body: JsonObject) -> bool:
    error = as_object(body.get("error"))
    return isinstance(error.get("code"), int) and _has_texts(error, "message", "status")


_OPENAI_SHAPE = '{"error": {"message", "type", …}}'
_MESSAGES_SHAPE = '{"type": "error", "error": {"type", "message"}}'
_GEMINI_SHAPE = '{"error": {"code", "message", "status"}}'

_MESSAGES = ApiRules("messages", MessagesReader, "messages", _MESSAGES_SHAPE, _messages_error)
_OLLAMA = ApiRules("ollama", OllamaReader, "messages", '{"error": "…"}', lambda body: _has_texts(body, "error"))

APIS: dict[str, ApiRules] = {
    "chat": ApiRules("chat", ChatReader, "messages", _OPENAI_SHAPE, _openai_error, call_finish="tool_calls"),
    "responses": ApiRules("responses", ResponsesReader, "input", _OPENAI_SHAPE, _openai_error),
    "messages": replace(_MESSAGES, stop_finish="stop_sequence", call_finish="tool_use"),
    "gemini": ApiRules("gemini", GeminiReader, "contents", _GEMINI_SHAPE, _gemini_error, key_statuses=(400, 401, 403)),
    "ollama": replace(_OLLAMA, content_type="application/x-ndjson"),
}


class DecodedAnswer(msgspec.Struct, frozen=True):
    """The answer as Weft decodes it."""

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
