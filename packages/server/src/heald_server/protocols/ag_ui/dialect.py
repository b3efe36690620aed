"""ag-ui: the events of the Agent User Interaction Protocol, version 1.0.

    RUN_STARTED
      STEP_STARTED, REASONING_START, REASONING_MESSAGE_START, …_CONTENT, …_END, REASONING_END
        TEXT_MESSAGE_START, …_CONTENT, …_END, TOOL_CALL_START, …_ARGS, …_END, TOOL_CALL_RESULT, STEP_FINISHED
    RUN_FINISHED, or RUN_ERROR

An exchange is a run, an attempt at a turn is a step. The shared state holds the files: `{"files": {path: {revision,
hash, size}}}`, whole at the first change of a run and as JSON Patch from then on. Text cannot be retracted without
sending the whole conversation again, so a dropped attempt is closed, `CUSTOM message_discarded` names its messages, and
the next attempt begins messages of its own.

A run may end while its exchange waits for the client (`pause`): approvals and questions are the interrupts of its
outcome, calls of the client's own tools its `pendingToolCallIds`. The run that answers them continues the exchange.
"""

from collections.abc import Iterable
from typing import ClassVar

from heald.core.envelope import Event
from heald.core.events import (
    AgentChanged,
    ApprovalRequested,
    ApprovalResolved,
    ClientToolRequested,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    InputJsonDelta,
    MessageDelta,
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
    ToolOutputDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.json import JsonObject, encode_text
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.core.turn import Usage
from heald.tools.visible_text import escape_hidden
from heald_server.dialects.calls import ClientCall
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.texts import CANCELLED, DROPPED, error_code, error_text, result_text

VERSION = "1.0"

_DECISION: JsonObject = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string"},
        "editedArgs": {"type": "object"},
    },
    "required": ["approved"],
}
"""The answer to an approval."""


class AGUIDialect(ExchangeDialect):
    """An exchange as one run. The state begins with `files`; `thread` and `run` are the client's own ids, if any.

    Clients from before 1.0 (`is_early`) refuse a run whose outcome has a field or a type that they do not know.
    """

    name: ClassVar[str] = "ag-ui"

    def __init__(
        self,
        session: str | None = None,
        *,
        files: Iterable[FileChanged] = (),
        thread: str | None = None,
        run: str | None = None,
        is_early: bool = False,
    ) -> None:
        super().__init__(session)
        self._is_early = is_early
        self._thread, self._named_run = thread, run
        self._files = {change.path: _file(change) for change in files if change.hash is not None}
        self._shared = False  # the state was sent in this run
        self._parts: dict[str, str] = {}  # kinds of the open parts, by block
        self._texts: list[str] = []  # messages of the open attempt
        self._message = ""
        self._step = ""
        self._run: JsonObject = {}
        self._used = Usage()  # by the turns since the run began
        self._is_resumed = False
        self._time = 0

    def _on_event(self, event: Event) -> None:
        self._time = int(event.time * 1000)
        match event.data:
            case TextDelta(block=block, text=text):
                self._content("TEXT_MESSAGE_CONTENT", block, text)
            case ThinkingDelta(block=block, text=text):
                self._content("REASONING_MESSAGE_CONTENT", block, text)
            case InputJsonDelta(block=block, partial_json=text):
                call = self._calls.in_block(block)
                if call is not None and text:
                    self._emit_event("TOOL_CALL_ARGS", toolCallId=call.id, delta=text)
            case ExchangeRequest():
                self._parts, self._texts, self._step, self._shared = {}, [], "", False
                run = self._named_run or event.exchange or event.id
                self._run = {"threadId": self._thread or event.session, "runId": run}
                self._begin_run()
            case MessageStart(message_id=message):
                self._end_step()
                self._message, self._step, self._texts = message, message, []
                self._emit_event("STEP_STARTED", stepName=message)
            case MessageDelta(usage=usage):
                self._used += usage
            case MessageDiscarded(error=error):
                self._discard(is_cancelled=error.code == "cancelled")
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                self._block(event.data)

    def _block(self, payload: Payload) -> None:
        match payload:
            case TextContentBlockStart(block=block):
                self._parts[block] = "text"
                self._texts.append(block)
                self._emit_event("TEXT_MESSAGE_START", messageId=block, role="assistant")
            case ThinkingContentBlockStart(block=block):
                self._parts[block] = "reasoning"
                self._emit_event("REASONING_START", messageId=block)
                self._emit_event("REASONING_MESSAGE_START", messageId=block, role="reasoning")
            case TextContentBlockStop(block=block) | ThinkingContentBlockStop(block=block):
                self._stop(block)
            case ToolUseContentBlockStart(block=block, id=id, name=name):
                self._begin_call(id, name, block)
            case ToolUseContentBlockStop(block=block):
                call = self._calls.end_block(block)
                if call is not None:
                    self._emit_event("TOOL_CALL_END", toolCallId=call.id)
            case _:
                self._tool(payload)

    def _tool(self, payload: Payload) -> None:
        match payload:
            case ToolCall(id=id) if self._calls.get(id) is None:  # a call that was not streamed
                call = self._begin_call(id, payload.name, None)
                call.streaming = False
                self._emit_event("TOOL_CALL_ARGS", toolCallId=call.id, delta=encode_text(payload.input))
                self._emit_event("TOOL_CALL_END", toolCallId=call.id)
            case ToolResult():
                self._result(payload)
            case FileChanged():
                self._changed(payload)
            case ClientToolRequested():
                self._calls.track_request(payload)
            case AgentChanged():
                self._emit_event("CUSTOM", name=payload.type, value=self._calls.encode_payload(payload))
            case (
                ToolOutputDelta()
                | FilePreview()
                | FilePreviewReset()
                | ApprovalRequested()
                | ApprovalResolved()
                | QuestionAsked()
                | QuestionAnswered()
            ):
                self._calls.track_request(payload)
                self._emit_event("CUSTOM", name=payload.type, value=self._calls.encode_payload(payload))
            case _:
                pass

    def _emit_event(self, kind: str, **fields: object) -> None:
        self._emit({"type": kind, "timestamp": self._time, **fields})

    # --- parts and steps -----------------------------------------------------------------------------------------

    def _content(self, kind: str, block: str, text: str) -> None:
        if text and block in self._parts:
            self._emit_event(kind, messageId=block, delta=text)

    def _stop(self, block: str) -> None:
        kind = self._parts.pop(block, None)
        if kind == "text":
            self._emit_event("TEXT_MESSAGE_END", messageId=block)
        elif kind == "reasoning":
            self._emit_event("REASONING_MESSAGE_END", messageId=block)
            self._emit_event("REASONING_END", messageId=block)

    def _begin_call(self, call_id: str, name: str, block: str | None) -> ClientCall:
        call = self._calls.begin(call_id, name, block)
        parent = self._texts[-1] if self._texts else self._message
        self._emit_event("TOOL_CALL_START", toolCallId=call.id, toolCallName=name, parentMessageId=parent)
        return call

    def _end_step(self) -> None:
        if self._step:
            self._emit_event("STEP_FINISHED", stepName=self._step)
            self._step = ""

    def _close_all(self, why: str) -> None:
        """End every open part, and answer every open call."""
        for block in list(self._parts):
            self._stop(block)
        for call in self._calls.drop():
            if call.streaming:
                self._emit_event("TOOL_CALL_END", toolCallId=call.id)
            self._answer(call.id, why)

    def _discard(self, *, is_cancelled: bool) -> None:
        calls = len(self._calls)
        self._close_all(CANCELLED if is_cancelled else DROPPED)
        if not is_cancelled:
            messages = self._texts if self._texts or not calls else [self._message]
            self._emit_event(
                "CUSTOM", name="message_discarded", value={"messageId": self._message, "messageIds": messages}
            )
        self._end_step()

    # --- calls and files -----------------------------------------------------------------------------------------

    def _result(self, result: ToolResult) -> None:
        call = self._calls.end(result.id)
        if call is None or (call.on_client and result.status in ("ok", "error")):
            return  # the client has the result of its own tool already
        self._answer(call.id, result_text(result))

    def _answer(self, call: str, content: str) -> None:
        self._emit_event("TOOL_CALL_RESULT", messageId=f"{call}-result", toolCallId=call, content=content, role="tool")

    def _changed(self, change: FileChanged) -> None:
        is_listed = change.path in self._files
        if change.hash is None:
            self._files.pop(change.path, None)
        else:
            self._files[change.path] = _file(change)
        if not self._shared:
            self._shared = True
            self._emit_event("STATE_SNAPSHOT", snapshot={"files": dict(self._files)})
            return
        where = "/files/" + change.path.replace("~", "~0").replace("/", "~1")  # RFC 6901
        if change.hash is not None:
            self._emit_event("STATE_DELTA", delta=[{"op": "add", "path": where, "value": _file(change)}])
        elif is_listed:
            self._emit_event("STATE_DELTA", delta=[{"op": "remove", "path": where}])

    # --- the end -------------------------------------------------------------------------------------------------

    def _end(self, response: ExchangeResponse) -> None:
        self._close_all(self._abort_reason)
        self._end_step()
        if response.status == "failed":
            self._emit_event("RUN_ERROR", message=error_text(response.error), code=error_code(response.error))
            return
        is_cancelled = response.status == "cancelled"
        outcome = {"outcome": {"type": "cancelled" if is_cancelled else "success"}}
        if is_cancelled and self._is_early:
            outcome = {}
        result: JsonObject = {"status": response.status, "stopReason": response.stop_reason}
        if response.note is not None:
            result["note"] = response.note
        if response.cost_usd is not None:
            result["costUsd"] = response.cost_usd
        usage = [_usage(self._used if self._is_resumed else response.usage)]
        self._emit_event("RUN_FINISHED", **self._run, **outcome, result=result, usage=usage)

    def _begin_run(self) -> None:
        self._used = Usage()
        self._emit_event("RUN_STARTED", **self._run, protocolVersion=VERSION)

    def _pause(self) -> None:
        self._end_step()
        requests = self._calls.requests
        interrupts = [self._interrupt(request) for request in requests if not isinstance(request, ClientToolRequested)]
        calls = [request for request in requests if isinstance(request, ClientToolRequested)]
        pending = [self._calls.client_id_of(call.id) for call in calls]
        outcome: JsonObject = {"type": "interrupt", "interrupts": interrupts}
        if not interrupts:
            outcome = {"type": "success"} if self._is_early else {"type": "success", "pendingToolCallIds": pending}
        self._emit_event("RUN_FINISHED", **self._run, outcome=outcome, usage=[_usage(self._used)])

    def _resume(self) -> None:
        self._step, self._is_resumed = "", True  # the run before this one has finished its step
        self._begin_run()

    def _interrupt(self, request: Payload) -> JsonObject:
        match request:
            case ApprovalRequested(approval=approval, call_id=call, summary=summary):
                return {
                    "id": approval,
                    "reason": "tool_call",
                    "message": summary,
                    "toolCallId": self._calls.client_id_of(call),
                    "responseSchema": _DECISION,
                }
            case QuestionAsked(question=question, call_id=call, text=text, suggestions=suggestions):
                answer: JsonObject = {"type": "string", "examples": suggestions} if suggestions else {"type": "string"}
                return {
                    "id": question,
                    "reason": "input_required",
                    "message": escape_hidden(text),
                    "toolCallId": self._calls.client_id_of(call),
                    "responseSchema": answer,
                }
            case _:
                raise TypeError(f"{request.type} is not an interrupt")

    def _abort(self) -> None:
        self._close_all(self._abort_reason)
        self._end_step()
        self._emit_event("RUN_ERROR", message=self._abort_reason, code="incomplete")


def _file(change: FileChanged) -> JsonObject:
    return {"revision": change.revision, "hash": change.hash, "size": change.size}


def _usage(usage: Usage) -> JsonObject:
    counts = {
        "inputTokens": usage.total_input,
        "outputTokens": usage.total_output,
        "totalTokens": usage.total,
        "reasoningTokens": usage.reasoning,
        "cachedInputTokens": usage.cache_read,
        "cacheWriteInputTokens": usage.cache_write,
    }
    return {name: count for name, count in counts.items() if count is not None}
