"""agentx: the events in four layers with the envelope `type, uuid, agentId, timestamp, exchangeId, index, data`.

    exchange_request, user_message, conversation_start
      message_start, conversation_thinking, …_content_block_start, text_delta, input_json_delta, …_content_block_stop,
        message_delta, message_stop, assistant_message
      tool_call, tool_use_message, tool_planned, tool_executing, tool_completed, tool_result, tool_use_message_update
    conversation_end, exchange_response

Names of fields are in camelCase and times are in milliseconds. `tool_use_message` comes once for each call, with an
empty result, which `tool_result` fills. `tool_use_message_update` is the same message with its result, for clients that
missed one of the two. Events without a form of their own keep the fields of the log.
"""

from typing import ClassVar

import msgspec

from heald.core.envelope import Event
from heald.core.errors import ErrorInfo
from heald.core.events import (
    AssistantMessage,
    ErrorMessage,
    ExchangeRequest,
    ExchangeResponse,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    TextDelta,
    ThinkingDelta,
    ToolUseMessage,
    Unknown,
    UserMessage,
)
from heald.core.json import JsonObject, encode_text
from heald.core.messages import File, Image, Message, Reasoning, Text, ToolCall, ToolResult
from heald.core.payload import Payload
from heald.core.turn import Usage
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.texts import MAX_ERROR, error_text, result_value, shortened

MESSAGE_UPDATE = "tool_use_message_update"
"""The type of an event that repeats a `tool_use_message` with its result."""
_IN_ENVELOPE = ("index", "block")
_SHORT = 150  # characters of an error in `exchange_response`; `error_message` has more


class _OpenCall:
    """A call without a result, and the moment of its `tool_use_message`."""

    __slots__ = ("call", "timestamp")

    def __init__(self, call: ToolCall, timestamp: int) -> None:
        self.call = call
        self.timestamp = timestamp


class AgentXDialect(ExchangeDialect):
    """The events of the log in the words of AgentX."""

    name: ClassVar[str] = "agentx"

    def __init__(self, session: str | None = None) -> None:
        super().__init__(session)
        self._open_calls: dict[str, _OpenCall] = {}
        self._answer: JsonObject | None = None  # the last assistant message
        self._message = ""  # the open message
        self._users = 0  # user messages of the exchange
        self._position: _Position = _Position("", "", 0, None)

    def _on_event(self, event: Event) -> None:
        self._position = _Position(event.id, event.session, int(event.time * 1000), event.exchange)
        match event.data:
            case TextDelta(index=index, text=text) | ThinkingDelta(index=index, text=text):
                if text:
                    self._emit_event(event.type, {"text": text}, index)
            case InputJsonDelta(index=index, partial_json=text):
                if text:
                    self._emit_event(event.type, {"partialJson": text}, index)
            case ToolCall():
                self._on_call(event.data)
            case ToolResult():
                self._on_result(event.data)
            case MessageStart() | MessageDelta() | MessageStop() | MessageDiscarded():
                self._on_message(event.data)
            case ExchangeRequest() | UserMessage() | AssistantMessage() | ErrorMessage() | ExchangeResponse():
                self._on_whole(event.data)
            case ToolUseMessage() | Unknown():  # it is emitted with `tool_call` and with `tool_result`
                pass
            case _:
                self._emit_payload(event.data)

    def _emit_event(self, kind: str, data: JsonObject, index: int | None = None, suffix: str = "") -> None:
        frame: JsonObject = {"type": kind, **self._position.envelope(suffix)}
        if index is not None:
            frame["index"] = index
        self._emit(frame | {"data": data})

    def _emit_payload(self, payload: Payload) -> None:
        """Emit an event with the fields that it has in the log."""
        fields = {key: value for key, value in msgspec.to_builtins(payload).items() if key not in _IN_ENVELOPE}
        if isinstance(error := getattr(payload, "error", None), ErrorInfo):
            fields["error"] = _error(error)
        self._emit_event(
            payload.type, {_camel(key): value for key, value in fields.items()}, getattr(payload, "index", None)
        )

    # --- stream ------------------------------------------------------------------------------------------------------

    def _on_message(self, payload: Payload) -> None:
        match payload:
            case MessageStart(message_id=message, model=model, attempt=attempt):
                self._message = message
                self._emit_event(payload.type, {"message": {"id": message, "model": model}, "attempt": attempt})
            case MessageDelta(stop_reason=reason, usage=usage):
                self._emit_event(payload.type, {"delta": {"stopReason": reason}, "usage": _usage(usage)})
            case MessageStop(message_id=message):
                self._message = ""
                self._emit_event(payload.type, {"message": {"id": message}})
            case MessageDiscarded(message_id=message, error=error):
                self._message = ""
                self._emit_event(payload.type, {"message": {"id": message}, "error": _error(error)})
            case _:
                pass

    def _on_call(self, call: ToolCall) -> None:
        opened = self._open_calls[call.id] = _OpenCall(call, self._position.timestamp)
        data: JsonObject = {"id": call.id, "name": call.name, "input": call.input}
        if call.invalid is not None:
            data["invalid"] = {"reason": call.invalid.reason, "message": call.invalid.message}
        self._emit_event("tool_call", data)
        self._emit_tool_use(opened, None)

    def _on_result(self, result: ToolResult) -> None:
        content = result_value(result)
        self._emit_event(
            "tool_result",
            {"toolId": result.id, "content": content, "isError": bool(result.is_error), "status": result.status},
        )
        opened = self._open_calls.pop(result.id, None)
        if opened is not None:
            self._emit_tool_use(opened, result)

    def _emit_tool_use(self, opened: _OpenCall, result: ToolResult | None) -> None:
        call = opened.call
        named = {"id": call.id, "name": call.name}
        data: JsonObject = {
            "id": f"msg_{call.id}",
            "role": "tool-use",
            "toolCall": {"type": "tool-call", **named, "input": call.input},
            "toolResult": {"type": "tool-result", **named, "output": _output(result)},
            "timestamp": opened.timestamp,
        }
        self._emit_event("tool_use_message" if result is None else MESSAGE_UPDATE, data, suffix="-message")

    # --- messages and exchanges --------------------------------------------------------------------------------------

    def _on_whole(self, payload: Payload) -> None:
        at = self._position.timestamp
        match payload:
            case ExchangeRequest(message=message):
                self._open_calls, self._answer, self._message, self._users = {}, None, "", 0
                self._emit_event(payload.type, {"userMessage": self._user(message), "requestedAt": at})
            case UserMessage(message=message):
                self._emit_event(payload.type, self._user(message))
                self._users += 1
            case AssistantMessage(message=message):
                self._answer = _message(message, message.id or self._position.uuid, at)
                self._emit_event(payload.type, self._answer)
            case ErrorMessage(error=error):
                self._emit_event(
                    payload.type, {"id": self._position.uuid, "role": "error", **_error(error), "timestamp": at}
                )
            case ExchangeResponse():
                self._end(payload)
            case _:
                pass

    def _user(self, message: Message) -> JsonObject:
        """A user message. That of the request has one id in `exchange_request` and in `user_message`."""
        name = message.id or f"{self._position.exchange}-user-{self._users}"
        return _message(message, name, self._position.timestamp)

    def _end(self, response: ExchangeResponse) -> None:
        data: JsonObject = {
            "assistantMessage": self._answer,
            "respondedAt": self._position.timestamp,
            "durationMs": round(response.duration_ms),
            "usage": _usage(response.usage),
            "costUsd": response.cost_usd,
            "status": response.status,
            "stopReason": response.stop_reason,
        }
        if response.error is not None:
            data["error"] = _error(response.error, _SHORT)
        if response.note is not None:
            data["note"] = response.note
        self._answer = None
        self._emit_event("exchange_response", data)

    def _abort(self) -> None:
        last, at, why = self._position, self._position.timestamp, self._abort_reason
        error: JsonObject = {"code": "incomplete", "message": why}
        if self._message:
            self._emit_event(
                "message_discarded", {"message": {"id": self._message}, "error": error}, suffix="-discarded"
            )
            self._message = ""
        for call_id in list(self._open_calls):
            self._position = msgspec.structs.replace(last, uuid=f"{last.uuid}-{call_id}")
            self._on_result(ToolResult(id=call_id, status="interrupted", content=why))
        self._position = last
        failed: JsonObject = {"id": f"{last.uuid}-error", "role": "error", **error, "timestamp": at}
        self._emit_event("error_message", failed, suffix="-error")
        self._position = msgspec.structs.replace(last, uuid=f"{last.uuid}-end")
        self._end(ExchangeResponse("failed", "error", 0.0, 0, Usage(), None, ErrorInfo(code="incomplete", message=why)))


class _Position(msgspec.Struct, frozen=True):
    """The envelope of the frames of one event."""

    uuid: str
    agent: str
    timestamp: int
    exchange: str | None

    def envelope(self, suffix: str) -> JsonObject:
        return {
            "uuid": self.uuid + suffix,
            "agentId": self.agent,
            "timestamp": self.timestamp,
            "exchangeId": self.exchange,
        }


def _output(result: ToolResult | None) -> JsonObject:
    if result is None:
        return {"type": "text", "value": ""}
    content = result_value(result)
    value = content if isinstance(content, str) else encode_text(content)
    return {"type": "error-text" if result.is_error else "text", "value": value}


def _message(message: Message, name: str, timestamp: int) -> JsonObject:
    """A message. Its content is a text, or a list of parts if it holds pictures or files."""
    parts = [part for block in message.content if (part := _part(block)) is not None]
    has_media = any(part["type"] != "text" for part in parts)
    data: JsonObject = {
        "id": name,
        "role": message.role,
        "content": parts if has_media else message.words,
        "timestamp": timestamp,
    }
    if thinking := "".join(block.text for block in message.content if isinstance(block, Reasoning)):
        data["thinking"] = thinking
    if calls := message.tool_calls:
        data["toolCalls"] = [
            {"type": "tool-call", "id": call.id, "name": call.name, "input": call.input} for call in calls
        ]
    return data


def _part(block: object) -> JsonObject | None:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image() | File():
            fields = {_camel(key): value for key, value in msgspec.to_builtins(block).items()}
            return fields | {"mediaType": block.media_type}
        case _:
            return None


def _usage(usage: Usage) -> JsonObject:
    return {"input": usage.total_input or 0, "output": usage.total_output or 0}


def _error(error: ErrorInfo, limit: int = MAX_ERROR) -> JsonObject:
    return {"code": error.code, "message": shortened(error_text(error), limit)}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
