"""ai-sdk: the UI message stream, version 1, that `useChat` of the Vercel AI SDK reads.

    start
      start-step, reasoning-start, reasoning-delta…, reasoning-end, text-start, text-delta…, text-end
        tool-input-start, tool-input-delta…, tool-input-available, tool-output-available, finish-step
      start-step, …, finish-step
    finish, [DONE]

An exchange is one message, an attempt at a turn is one step. A part cannot be taken back: that of a dropped attempt is
closed, `data-discarded` names the message that it was, and the next attempt is a step with parts of its own.
`tool-input-available` comes once the arguments were found valid, which is when somebody is asked or the tool starts.
Text of files and of tools that run comes as transient data, once and not again with each piece.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from weft.core.content import Grounding, Image
from weft.core.envelope import Event
from weft.core.events import (
    ApprovalRequested,
    AssistantMessage,
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
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.payload import Payload
from weft.core.stop import StopReason
from weft.core.tools import ToolCall, ToolResult
from weft.dialects.calls import Calls, OpenCall
from weft.dialects.dialect import ExchangeDialect
from weft.dialects.sentences import CANCELLED, DROPPED, error_text, failure_text, result_value

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
    """An exchange as one streamed UI message."""

    name: ClassVar[str] = "ai-sdk"
    headers: ClassVar[Mapping[str, str]] = {"x-vercel-ai-ui-message-stream": "v1"}

    def __init__(self, session: str | None = None) -> None:
        super().__init__(session)
        self._calls = Calls()
        self._parts: dict[str, str] = {}  # kinds of the open parts, by block
        self._step = False

    def _hear(self, event: Event) -> None:
        match event.data:
            case TextDelta(block=block, text=text) | ThinkingDelta(block=block, text=text):
                if text and block in self._parts:
                    self._say({"type": f"{self._parts[block]}-delta", "id": block, "delta": text})
            case InputJsonDelta(block=block, partial_json=text):
                call = self._calls.of_block(block)
                if call is not None and text:
                    self._say({"type": "tool-input-delta", "toolCallId": call.id, "inputTextDelta": text})
            case ExchangeRequest():
                self._calls, self._parts, self._step = Calls(), {}, False
                self._say({"type": "start", "messageId": event.exchange or event.id})
            case MessageStart():
                self._end_step()
                self._step = True
                self._say({"type": "start-step"})
            case MessageDiscarded(message=message, error=error):
                self._discard(message, kept=error.code == "cancelled")
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
                self._say({"type": "tool-input-start", "toolCallId": call.id, "toolName": name})
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
            case ApprovalRequested(approval=approval, call=id):
                self._ask(approval, self._calls.get(id))
            case ToolResult():
                self._result(payload)
            case ToolOutputDelta(id=id, text=text, channel=channel):
                call = self._calls.get(id)
                if call is not None:
                    self._data("tool-output", {"toolCallId": call.id, "text": text, "channel": channel})
            case FilePreview() | FilePreviewReset() | QuestionAsked() | QuestionAnswered():
                self._data(payload.type.replace("_", "-"), self._calls.told(payload))
            case FileChanged(path=path, revision=revision, hash=digest, size=size):
                said = {"path": path, "revision": revision, "hash": digest, "size": size}
                self._say({"type": "data-file", "id": path, "data": said})
            case _:
                pass

    # --- parts and steps -----------------------------------------------------------------------------------------

    def _start(self, kind: str, block: str) -> None:
        self._parts[block] = kind
        self._say({"type": f"{kind}-start", "id": block})

    def _stop(self, block: str) -> None:
        kind = self._parts.pop(block, None)
        if kind is not None:
            self._say({"type": f"{kind}-end", "id": block})

    def _end_step(self) -> None:
        for block in list(self._parts):
            self._stop(block)
        if self._step:
            self._step = False
            self._say({"type": "finish-step"})

    def _discard(self, message: str, *, kept: bool) -> None:
        for block in list(self._parts):
            self._stop(block)
        for call in self._calls.drop():
            self._refuse(call, CANCELLED if kept else DROPPED)
        if not kept:
            self._say({"type": "data-discarded", "id": message, "data": {"message": message}})
        self._end_step()

    def _attachments(self, message: Message) -> None:
        """What a message has beside its stream: sources and pictures."""
        for block in message.content:
            match block:
                case Grounding(sources=sources):
                    for number, source in enumerate(sources):
                        if source.url:
                            self._say(
                                {
                                    "type": "source-url",
                                    "sourceId": f"{message.id}-source-{number}",
                                    "url": source.url,
                                    "title": source.title,
                                }
                            )
                case Image(media_type=kind, data=data, url=url):
                    where = url or f"data:{kind};base64,{data}"
                    self._say({"type": "file", "url": where, "mediaType": kind})
                case _:
                    pass

    def _data(self, name: str, value: JsonObject) -> None:
        self._say({"type": f"data-{name}", "data": value, "transient": True})

    # --- calls ---------------------------------------------------------------------------------------------------

    def _called(self, call: ToolCall) -> None:
        shown = self._calls.get(call.id) or self._calls.begin(call.id, call.name)
        shown.input = call.input
        if call.invalid is not None:
            shown.input = call.invalid.raw
            self._refuse(shown, call.invalid.message)
            self._calls.end(call.id)

    def _ready(self, call: OpenCall | None) -> None:
        if call is None or call.ready:
            return
        call.ready = True
        said: JsonObject = {"type": "tool-input-available", "toolCallId": call.id, "toolName": call.name}
        self._say(said | {"input": call.input})
        call.input = None

    def _refuse(self, call: OpenCall, why: str) -> None:
        """The call never became one that could run."""
        if call.ready:
            self._say({"type": "tool-output-error", "toolCallId": call.id, "errorText": why})
            return
        said: JsonObject = {"type": "tool-input-error", "toolCallId": call.id, "toolName": call.name}
        self._say(said | {"input": call.input, "errorText": why})

    def _ask(self, approval: str, call: OpenCall | None) -> None:
        if call is None:
            return
        self._ready(call)
        call.asked = True
        self._say({"type": "tool-approval-request", "approvalId": approval, "toolCallId": call.id})

    def _result(self, result: ToolResult) -> None:
        call = self._calls.end(result.id)
        if call is None:
            return
        if not call.ready and result.status in ("invalid_input", "unknown_tool", "interrupted"):
            self._refuse(call, failure_text(result))
            return
        self._ready(call)
        said: JsonObject = {"toolCallId": call.id}
        if result.status == "denied" and call.asked:
            self._say({"type": "tool-output-denied", **said})
        elif result.is_error:
            self._say({"type": "tool-output-error", **said, "errorText": failure_text(result)})
        else:
            self._say({"type": "tool-output-available", **said, "output": result_value(result)})

    # --- the end -------------------------------------------------------------------------------------------------

    def _end(self, response: ExchangeResponse) -> None:
        self._settle()
        usage: dict[str, Any] = msgspec.to_builtins(response.usage)
        self._data("usage", {"status": response.status, "usage": usage, "costUsd": response.cost_usd})
        if response.status == "cancelled":
            self._say({"type": "abort", "reason": CANCELLED})
            return
        reason = _REASONS.get(response.stop_reason, "other")
        if response.status == "failed":
            self._say({"type": "error", "errorText": error_text(response.error)})
            reason = "error"
        self._say({"type": "finish", "finishReason": reason})

    def _settle(self) -> None:
        for block in list(self._parts):
            self._stop(block)
        for call in self._calls.drop():
            self._refuse(call, self._cut)
        self._end_step()

    def _abandon(self) -> None:
        self._settle()
        self._say({"type": "abort", "reason": self._cut})

    def _part(self) -> None:
        self._say("[DONE]")
