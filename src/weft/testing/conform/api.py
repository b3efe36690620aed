"""What each API promises beside its stream: content types, how it refuses, and with which status."""

from collections.abc import Callable
from dataclasses import dataclass

from weft.core.json import JsonObject, as_object
from weft.testing.conform.plain.chat import ChatReader
from weft.testing.conform.plain.gemini import GeminiReader
from weft.testing.conform.plain.messages import MessagesReader
from weft.testing.conform.plain.ollama import OllamaReader
from weft.testing.conform.plain.reader import Reader
from weft.testing.conform.plain.responses import ResponsesReader


@dataclass(frozen=True)
class Api:
    wire: str
    reader: type[Reader]
    history: str
    """The field of a request that holds the conversation."""
    error_shape: str
    """How the body of an error looks, in words."""
    error_is_right: Callable[[JsonObject], bool]
    content_type: str = "text/event-stream"
    key_statuses: tuple[int, ...] = (401,)
    stop_finish: str | None = None
    """The finish reason that says that a stop sequence was met, where that has one of its own."""
    call_finish: str | None = None
    """The finish reason of an answer with calls, where that has one of its own."""


def _openai_error(body: JsonObject) -> bool:
    return _has_texts(as_object(body.get("error")), "message", "type")


def _messages_error(body: JsonObject) -> bool:
    return body.get("type") == "error" and _has_texts(as_object(body.get("error")), "type", "message")


def _gemini_error(body: JsonObject) -> bool:
    error = as_object(body.get("error"))
    return isinstance(error.get("code"), int) and _has_texts(error, "message", "status")


def _ollama_error(body: JsonObject) -> bool:
    return _has_texts(body, "error")


def _has_texts(holder: JsonObject, *names: str) -> bool:
    return all(isinstance(holder.get(name), str) and holder[name] for name in names)


_OPENAI_SHAPE = '{"error": {"message", "type", …}}'

APIS: dict[str, Api] = {
    api.wire: api
    for api in (
        Api("chat", ChatReader, "messages", _OPENAI_SHAPE, _openai_error, call_finish="tool_calls"),
        Api("responses", ResponsesReader, "input", _OPENAI_SHAPE, _openai_error),
        Api(
            "messages",
            MessagesReader,
            "messages",
            '{"type": "error", "error": {"type", "message"}}',
            _messages_error,
            stop_finish="stop_sequence",
            call_finish="tool_use",
        ),
        Api(
            "gemini",
            GeminiReader,
            "contents",
            '{"error": {"code", "message", "status"}}',
            _gemini_error,
            key_statuses=(400, 401, 403),
        ),
        Api(
            "ollama",
            OllamaReader,
            "messages",
            '{"error": "…"}',
            _ollama_error,
            content_type="application/x-ndjson",
        ),
    )
}
