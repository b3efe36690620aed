"""The rules of each API beside its stream: errors, content types and finish reasons."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from heald.core.json import JsonObject, as_object
from heald_check.conform.chat_reader import ChatReader
from heald_check.conform.gemini_reader import GeminiReader
from heald_check.conform.messages_reader import MessagesReader
from heald_check.conform.ollama_reader import OllamaReader
from heald_check.conform.reader import StrictReader
from heald_check.conform.responses_reader import ResponsesReader


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
