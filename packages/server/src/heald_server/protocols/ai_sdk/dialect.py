"""ai-sdk: the UI message stream, version 1, that `useChat` of the Vercel AI SDK reads.

    start
      start-step, reasoning-start, reasoning-delta…, reasoning-end, text-start, text-delta…, text-end
        tool-input-start, tool-input-delta…, tool-input-available, tool-output-available, finish-step
      start-step, …, finish-step
    finish, [DONE]

An exchange is one message, an attempt at a turn is one step. A part cannot be retracted: the parts of a dropped attempt
are closed, `data-discarded` names its message, and the next attempt is a step with parts of its own.
`tool-input-available` is sent once the arguments are valid: when an approval is requested or the tool starts. File
previews and tool output are sent as transient data.

A response may end while calls wait for an approval or for a tool of the client (`pause`): `finish-step`, `finish`. The
response to the client's decision begins with `start` and the id of the same message (`resume`).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from heald.core.envelope import Event
from heald.core.events import (
    AgentChanged,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    ClientToolRequested,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    InputJsonDelta,
    MessageDiscarded,
    MessageStart,
    QuestionAnswered,
    QuestionAsked,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolExecuting,
    ToolOutputDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.json import JsonObject
from heald.core.messages import Grounding, Image, Message, ToolCall, ToolResult
from heald.core.payload import Payload
from heald.core.turn import StopReason, Usage
from heald_server.dialects.calls import ClientCall
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.texts import CANCELLED, DROPPED, error_text, failure_text, result_value

_REASONS: dict[StopReason, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "length",
    "refusal": "content-filter",
    "content_filter": "content-filter",
    "error": "error",
}


class AISDKDialect(ExchangeDialect):
    """An exchange as one streamed UI message. `message_id` is the client's id of a message that it continues."""

    name: ClassVar[str] = "ai-sdk"
    headers: ClassVar[Mapping[str, str]] = {"x-vercel-ai-ui-message-stream": "v1"}

    def __init__(self, session: str | None = None, *, message_id: str | None = None) -> None:
        super().__init__(session)
        self._named_message = message_id
        self._parts: dict[str, str] = {}  # kinds of the open parts, by block
        self._step = False
        self._message = ""

    def _on_event(self, event: Event) -> None:
        match event.data:
            case TextDelta(block=block, text=text) | ThinkingDelta(block=block, text=text):
                if text and block in self._parts:
                    self._emit({"type": f"{self._parts[block]}-delta", "id": block, "delta": text})
            case InputJsonDelta(block=block, partial_json=text):
                call = self._calls.in_block(block)
                if call is not None and text:
                    self._emit({"type": "tool-input-delta", "toolCallId": call.id, "inputTextDelta": text})
            case ExchangeRequest():
                self._parts, self._step = {}, False
                self._message = self._named_message or event.exchange or event.id
                self._emit({"type": "start", "messageId": self._message})
            case MessageStart():
                self._end_step()
                self._step = True
                self._emit({"type": "start-step"})
            case MessageDiscarded(message_id=message, error=error):
                self._discard(message, is_cancelled=error.code == "cancelled")
            case AssistantMessage(message=message):
                self._attachments(message)
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                self._block(event.data)

    def _block(self, payload: Payload) -> None:
        match payload:
            case TextContentBlockStart(block=block):
                self._start("text", block)
            case ThinkingContentBlockStart(block=block):
                self._start("reasoning", block)
            case TextContentBlockStop(block=block) | ThinkingContentBlockStop(block=block):
                self._stop(block)
            case ToolUseContentBlockStart(block=block, id=id, name=name):
                call = self._calls.begin(id, name, block)
                self._emit({"type": "tool-input-start", "toolCallId": call.id, "toolName": name})
            case ToolUseContentBlockStop(block=block):
                self._calls.end_block(block)
            case _:
                self._tool(payload)

    def _tool(self, payload: Payload) -> None:
        match payload:
            case ToolCall():
                self._called(payload)
            case ToolExecuting(id=id):
                self._ready(self._calls.get(id))
            case ApprovalRequested(approval=approval, call_id=id):
                self._calls.track_request(payload)
                self._ask(approval, self._calls.get(id))
            case ApprovalResolved():
                self._calls.track_request(payload)
            case ClientToolRequested(id=id):
                self._calls.track_request(payload)
                self._ready(self._calls.get(id))
            case ToolResult():
                self._result(payload)
            case ToolOutputDelta(id=id, text=text, channel=channel):
                call = self._calls.get(id)
                if call is not None:
                    self._data("tool-output", {"toolCallId": call.id, "text": text, "channel": channel})
            case FilePreview() | FilePreviewReset() | QuestionAsked() | QuestionAnswered() | AgentChanged():
                self._data(payload.type.replace("_", "-"), self._calls.encode_payload(payload))
            case FileChanged(path=path, revision=revision, hash=digest, size=size):
                data = {"path": path, "revision": revision, "hash": digest, "size": size}
                self._emit({"type": "data-file", "id": path, "data": data})
            case _:
                pass

    # --- parts and steps -----------------------------------------------------------------------------------------

    def _start(self, kind: str, block: str) -> None:
        self._parts[block] = kind
        self._emit({"type": f"{kind}-start", "id": block})

    def _stop(self, block: str) -> None:
        kind = self._parts.pop(block, None)
        if kind is not None:
            self._emit({"type": f"{kind}-end", "id": block})

    def _end_step(self) -> None:
        for block in list(self._parts):
            self._stop(block)
        if self._step:
            self._step = False
            self._emit({"type": "finish-step"})

    def _discard(self, message: str, *, is_cancelled: bool) -> None:
        for block in list(self._parts):
            self._stop(block)
        for call in self._calls.drop():
            self._refuse(call, CANCELLED if is_cancelled else DROPPED)
        if not is_cancelled:
            self._emit({"type": "data-discarded", "id": message, "data": {"messageId": message}})
        self._end_step()

    def _attachments(self, message: Message) -> None:
        """Send what a message holds beside its streamed blocks: sources and images."""
        for block in message.content:
            match block:
                case Grounding(sources=sources):
                    for number, source in enumerate(sources):
                        if source.url:
                            fields = {"url": source.url, "title": source.title}
                            self._emit({"type": "source-url", "sourceId": f"{message.id}-source-{number}", **fields})
                case Image(media_type=kind, data=data, url=url):
                    where = url or f"data:{kind};base64,{data}"
                    self._emit({"type": "file", "url": where, "mediaType": kind})
                case _:
                    pass

    def _data(self, name: str, value: JsonObject) -> None:
        self._emit({"type": f"data-{name}", "data": value, "transient": True})

    # --- calls ---------------------------------------------------------------------------------------------------

    def _called(self, call: ToolCall) -> None:
        client_call = self._calls.get(call.id) or self._calls.begin(call.id, call.name)
        client_call.input = call.input
        if call.invalid is not None:
            client_call.input = call.invalid.raw
            self._refuse(client_call, call.invalid.message)
            self._calls.end(call.id)

    def _ready(self, call: ClientCall | None) -> None:
        if call is None or call.ready:
            return
        call.ready = True
        tool = {"toolCallId": call.id, "toolName": call.name}
        self._emit({"type": "tool-input-available", **tool, "input": call.input})
        call.input = None

    def _refuse(self, call: ClientCall, why: str) -> None:
        """End a call that was not run."""
        if call.ready:
            self._emit({"type": "tool-output-error", "toolCallId": call.id, "errorText": why})
            return
        tool = {"toolCallId": call.id, "toolName": call.name}
        self._emit({"type": "tool-input-error", **tool, "input": call.input, "errorText": why})

    def _ask(self, approval: str, call: ClientCall | None) -> None:
        if call is None:
            return
        self._ready(call)
        call.asked = True
        self._emit({"type": "tool-approval-request", "approvalId": approval, "toolCallId": call.id})

    def _result(self, result: ToolResult) -> None:
        call = self._calls.end(result.id)
        if call is None:
            return
        if not call.ready and result.status in ("invalid_input", "unknown_tool", "interrupted"):
            self._refuse(call, failure_text(result))
            return
        self._ready(call)
        if call.on_client and result.status in ("ok", "error"):
            return  # the client has its own result already
        if result.status == "denied" and call.asked:
            self._emit({"type": "tool-output-denied", "toolCallId": call.id})
        elif result.is_error:
            self._emit({"type": "tool-output-error", "toolCallId": call.id, "errorText": failure_text(result)})
        else:
            self._emit({"type": "tool-output-available", "toolCallId": call.id, "output": result_value(result)})

    # --- the end -------------------------------------------------------------------------------------------------

    def _pause(self) -> None:
        self._end_step()
        self._emit({"type": "finish", "finishReason": "tool-calls"})

    def _resume(self) -> None:
        self._step = False  # the response before this one has closed it
        self._emit({"type": "start", "messageId": self._message})

    def _end(self, response: ExchangeResponse) -> None:
        self._close_all()
        usage: dict[str, Any] = msgspec.to_builtins(response.usage)
        self._data("usage", {"status": response.status, "usage": usage, "costUsd": response.cost_usd})
        metadata: JsonObject = {"usage": _encode_usage(response.usage)}
        if response.cost_usd is not None:
            metadata["costUsd"] = response.cost_usd
        if response.status == "cancelled":
            self._emit({"type": "message-metadata", "messageMetadata": metadata})
            self._emit({"type": "abort", "reason": CANCELLED})
            return
        reason = _REASONS.get(response.stop_reason, "other")
        if response.status == "failed":
            self._emit({"type": "error", "errorText": error_text(response.error)})
            reason = reason if response.stop_reason == "content_filter" else "error"
        self._emit({"type": "finish", "finishReason": reason, "messageMetadata": metadata})

    def _close_all(self) -> None:
        for block in list(self._parts):
            self._stop(block)
        for call in self._calls.drop():
            self._refuse(call, self._abort_reason)
        self._end_step()

    def _abort(self) -> None:
        self._close_all()
        self._emit({"type": "abort", "reason": self._abort_reason})

    def _end_stream(self) -> None:
        self._emit("[DONE]")


def _encode_usage(usage: Usage) -> JsonObject:
    """Usage as the AI SDK counts it, in the fields of its versions 5 to 7."""
    return {
        "inputTokens": usage.total_input or 0,
        "outputTokens": usage.total_output or 0,
        "totalTokens": usage.total or 0,
        "reasoningTokens": usage.reasoning or 0,
        "cachedInputTokens": usage.cache_read or 0,
        "inputTokenDetails": {
            "noCacheTokens": usage.input or 0,
            "cacheReadTokens": usage.cache_read or 0,
            "cacheWriteTokens": usage.cache_write or 0,
        },
        "outputTokenDetails": {"textTokens": usage.output or 0, "reasoningTokens": usage.reasoning or 0},
    }
