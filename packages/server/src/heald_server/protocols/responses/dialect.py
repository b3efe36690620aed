"""responses: the agent served as a model with the events of OpenAI's Responses API.

    event: response.output_text.delta
    data: {"type": "response.output_text.delta", "sequence_number": 5, "item_id": "msg_1_7", "output_index": 0, …}

The text and the thinking of each turn are output items. A call of the client's own tools is a `function_call`, with
which the response ends. Tools of the agent are hidden, or shown as `mcp_call` items; their approvals can be
`mcp_approval_request` items, with which a response ends too. The items of a dropped attempt end as `incomplete` and are
left out of the finished response.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from heald.core.envelope import Event
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    ClientToolRequested,
    ExchangeRequest,
    ExchangeResponse,
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
    ToolExecuting,
    ToolUseContentBlockStart,
)
from heald.core.json import JsonObject, as_objects, encode_text, loads
from heald.core.messages import ToolCall, ToolResult
from heald.core.server_tool_events import CitationAdded
from heald.core.turn import Usage
from heald.tools.visible_text import escape_json
from heald_server.dialects.calls import ClientCall
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.frame import Frame, write_sse
from heald_server.dialects.texts import error_code, error_text, failure_text, result_text
from heald_server.protocols.responses.items import (
    OpenItem,
    call_error,
    call_item,
    encode_response_usage,
    item_id,
    response_object,
)
from heald_server.protocols.shared.client_call_ids import client_call_id
from heald_server.protocols.shared.exchange_failure import ExchangeFailure

_NOBODY = (
    "The agent needs an approval for {name}, and nobody can be asked; allow the call in the server's permissions, or "
    'list the tool {{"type": "mcp", "server_label": "heald", "require_approval": "always"}} to be asked.'
)
_ENDS = ("response.completed", "response.incomplete")
_NAMED_FAILURES = ("context_length_exceeded", "insufficient_quota", "rate_limit_exceeded", "server_is_overloaded")
"""Codes of failed responses that clients know. Of the others they repeat all but `invalid_prompt`."""
_LIMITS = {"tokens": "max_output_tokens"}


class ResponsesDialect(ExchangeDialect):
    """An exchange, or a part of it, as one response.

    `parameters` are those that the response repeats. `tool_label` shows the agent's tools under this label, `approvals`
    also their approvals. `final_only` leaves out the texts of all turns but the last, for answers that are JSON.
    `resumable` adds an `id` to server-sent events. `unattended` ends the response with an error when the agent asks
    and nobody can be asked.
    """

    name: ClassVar[str] = "responses"

    def __init__(
        self,
        session: str | None = None,
        *,
        response: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        tool_label: str | None = None,
        approvals: bool = False,
        final_only: bool = False,
        resumable: bool = True,
        unattended: bool = False,
    ) -> None:
        super().__init__(session)
        self._named = response
        self._parameters: JsonObject = dict(parameters or {})
        tools = as_objects(self._parameters.get("tools"))
        self._own = frozenset(str(tool.get("name")) for tool in tools if tool.get("type") == "function")
        self._label = tool_label
        self._approvals = approvals
        self._final_only = final_only
        self._resumable = resumable
        self._unattended = unattended
        self.refused: str | None = None
        """Why the exchange cannot go on without somebody to ask."""
        self.failure: ExchangeFailure | None = None
        """The failure with which the response ended."""
        self._head: JsonObject = self._parameters | {"id": response}
        self._executing: set[str] = set()  # calls of the agent's tools that are shown
        self._approved: dict[str, str] = {}  # the item of the approval, by call
        self._is_resumed = False
        self._reset("queued" if self._parameters.get("background") is True else "in_progress", 0.0)

    def sse(self, frame: Frame) -> bytes:
        return write_sse(frame if self._resumable else Frame(frame.data, frame.event))

    @property
    def response(self) -> JsonObject:
        """The response as it is now."""
        return response_object(
            self._head,
            self._status,
            sorted_output(self._output),
            error=self._error_detail,
            incomplete=self._incomplete,
            usage=self._usage,
            completed=self._ended,
        )

    # --- events ------------------------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        self._seq, self._time = event.seq, event.time
        match event.data:
            case TextDelta(block=block, text=text):
                self._text(block, text)
            case ThinkingDelta(block=block, text=text):
                self._write(block, "reasoning", text)
            case InputJsonDelta(block=block, partial_json=text):
                self._write_arguments(block, text)
            case TextContentBlockStop(block=block) | ThinkingContentBlockStop(block=block):
                self._finish(block)
            case TextContentBlockStart(block=block, refusal=refusal):
                self._starts[block] = event.seq
                self._refusals |= {block} if refusal else set()
            case ThinkingContentBlockStart(block=block):
                self._starts[block] = event.seq
            case ToolUseContentBlockStart(block=block, id=call, name=name) if name in self._own:
                self._open_call(block, call, name)
            case CitationAdded(block=block, source=source) if source.url is not None and block in self._items:
                cited = self._items[block].cite(source.title, source.url)
                self._send("response.output_text.annotation.added", **cited)
            case ExchangeRequest(model=model):
                self._begin(event, model)
            case MessageStart():
                self._held, self._attempt = [], []
            case MessageDelta(usage=usage):
                self._used += usage
            case MessageDiscarded(usage=usage, error=error):
                self._used += usage
                self._discard(is_kept=error.code == "cancelled")
            case ToolCall(id=id, name=name) as call if call.invalid is None:
                self._calls.begin(id, name).input = call.input
            case ToolExecuting(id=id):
                self._show_call(id)
            case ToolResult() as result:
                self._end_call(result)
            case ClientToolRequested() as request:
                self._calls.track_request(request)
                self._finish_call(request)
            case ApprovalRequested(name=name) as request:
                self._ask(request, name)
            case QuestionAsked() if self._unattended:
                self._refuse("The agent asks the user a question, and this API has nobody to ask.")
            case ApprovalResolved() | QuestionAsked() | QuestionAnswered():
                self._calls.track_request(event.data)
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                pass

    def _begin(self, event: Event, model: str) -> None:
        self._executing, self._approved = set(), {}
        self._is_resumed, self.refused, self.failure = False, None, None
        self._head = {
            "id": self._named or f"resp_{event.exchange or event.id}",
            "created_at": int(event.time),
            "model": model or "heald",
        } | self._parameters
        self._start(event.time)

    def _start(self, time: float) -> None:
        queued = self._parameters.get("background") is True
        self._reset("queued" if queued else "in_progress", time)
        self._send("response.created", response=self.response)
        if queued:
            self._send("response.queued", response=self.response)
            self._status = "in_progress"
        self._send("response.in_progress", response=self.response)

    def _reset(self, status: str, time: float) -> None:
        self._status = status
        self._number = self._index = 0
        self._seq, self._time = 0, time
        self._output: dict[int, JsonObject] = {}
        self._items: dict[str, OpenItem] = {}  # by block
        self._call_blocks: dict[str, str] = {}  # blocks of calls of the client's tools
        self._starts: dict[str, int] = {}  # the seq with which a block began
        self._refusals: set[str] = set()  # blocks
        self._attempt: list[int] = []  # the items of the last message
        self._held: list[str] = []  # text that is sent if its turn is the last
        self._used = Usage()  # by the turns of this response
        self._usage: JsonObject | None = None
        self._ended: int | None = None
        self._incomplete: str | None = None
        self._error_detail: JsonObject | None = None

    def _send(self, kind: str, **fields: Any) -> None:
        self.has_output = self.has_output or "item" in fields or kind in _ENDS
        self._emit({"type": kind, "sequence_number": self._number, **fields}, kind)
        self._number += 1

    # --- texts and thinking ------------------------------------------------------------------------------------------

    def _text(self, block: str, text: str) -> None:
        if block in self._refusals:
            self._write(block, "refusal", text)
        elif self._final_only:
            self._held.append(text)
        else:
            self._write(block, "output_text", text)

    def _write(self, block: str, kind: str, text: str) -> None:
        if not text:
            return
        item = self._items.get(block)
        if item is None:
            item = self._open(block, kind)
            for name, fields in item.begin():
                self._send(name, **fields)
        item.parts.append(text)
        self._send(item.delta_kind, **item.at, delta=text, **item.no_logprobs)

    def _open(self, block: str, kind: str) -> OpenItem:
        item = OpenItem(kind, item_id(kind, self._session, self._starts.get(block, self._seq)), self._index)
        self._index += 1
        self._items[block] = item
        return item

    def _finish(self, block: str) -> None:
        item = self._items.get(block)
        if item is not None and item.kind != "function_call":
            self._close(self._items.pop(block), "completed")

    def _close(self, item: OpenItem, status: str) -> None:
        for name, fields in item.end(status):
            self._send(name, **fields)
        if status == "completed":
            self._output[item.index] = item.value(status)
            self._attempt.append(item.index)

    def _discard(self, *, is_kept: bool) -> None:
        """End the items of a failed attempt."""
        self._calls.drop()
        self._held = []
        self._end_items(is_kept=is_kept)
        if not is_kept:
            self._output = {index: item for index, item in self._output.items() if index not in self._attempt}

    def _end_items(self, *, is_kept: bool) -> None:
        """End the open items as incomplete. Calls stay without an end, because a client may run a call at its end."""
        items, self._items = self._items, {}
        for item in items.values():
            if item.kind not in ("function_call", "mcp_call"):
                self._close(item, "incomplete")
                if is_kept:
                    self._output[item.index] = item.value("incomplete")

    # --- calls of the client's tools ---------------------------------------------------------------------------------

    def _open_call(self, block: str, call: str, name: str) -> None:
        item = self._open(block, "function_call")
        item.call, item.name = client_call_id(self._session, self._seq), name
        self._call_blocks[call] = block
        for kind, fields in item.begin():
            self._send(kind, **fields)

    def _write_arguments(self, block: str, text: str) -> None:
        item = self._items.get(block)
        if item is not None and text:
            item.parts.append(text)
            self._send(item.delta_kind, **item.at, delta=text)

    def _finish_call(self, request: ClientToolRequested) -> None:
        """End the item of a call once the client shall run it."""
        block = self._call_blocks.get(request.id, "")
        if block not in self._items:
            block = request.id
            self._open_call(block, request.id, request.name)
        item = self._items.pop(block)
        item.parts = [_arguments("".join(item.parts), request.input)]
        self._close(item, "completed")

    # --- calls of the agent's tools ----------------------------------------------------------------------------------

    def _show_call(self, call: str) -> None:
        opened = self._calls.get(call)
        if self._label is None or opened is None or call in self._executing or opened.name in self._own:
            return
        self._executing.add(call)
        item = self._call_item(opened, call, "in_progress")
        index = self._index
        self._index += 1
        self._items[call] = OpenItem("mcp_call", item["id"], index, value_of=item)
        at = {"item_id": item["id"], "output_index": index}
        self._send("response.output_item.added", output_index=index, item=item | {"arguments": ""})
        self._send("response.mcp_call.in_progress", **at)
        self._send("response.mcp_call_arguments.done", **at, arguments=item["arguments"])

    def _call_item(self, opened: ClientCall, call: str, status: str) -> JsonObject:
        name = item_id("mcp_call", self._session, self._seq)
        return call_item(name, self._label or "", opened.name, opened.input, status, self._approved.get(call))

    def _end_call(self, result: ToolResult) -> None:
        self._show_call(result.id)
        self._calls.end(result.id)
        item = self._items.pop(result.id, None)
        if item is None or item.value_of is None:
            return
        is_ok = result.status == "ok"
        outcome = {"output": result_text(result)} if is_ok else {"error": call_error(failure_text(result))}
        item.value_of |= {"status": "completed" if is_ok else "failed", **outcome}
        at = {"item_id": item.id, "output_index": item.index}
        self._send("response.mcp_call.completed" if is_ok else "response.mcp_call.failed", **at)
        self._send("response.output_item.done", output_index=item.index, item=item.value_of)
        self._output[item.index] = item.value_of

    def _ask(self, request: ApprovalRequested, name: str) -> None:
        if not self._approvals:
            if self._unattended:
                self._refuse(_NOBODY.format(name=name))
            else:
                self._calls.track_request(request)
            return
        self._calls.track_request(request)
        opened = self._calls.get(request.call_id)
        asked = item_id("mcp_approval_request", self._session, self._seq)
        self._approved[request.call_id] = asked
        item = {
            "id": asked,
            "type": "mcp_approval_request",
            "server_label": self._label or "heald",
            "name": name,
            "arguments": escape_json(encode_text(request.input or (opened.input if opened is not None else {}))),
        }
        self._send("response.output_item.added", output_index=self._index, item=item)
        self._send("response.output_item.done", output_index=self._index, item=item)
        self._output[self._index] = item
        self._index += 1

    def _refuse(self, why: str) -> None:
        if self.refused is None:
            self.refused = why
            self._fail(why, "approval_needed")

    # --- the end -----------------------------------------------------------------------------------------------------

    @property
    def is_waiting(self) -> bool:
        return self.refused is not None or super().is_waiting

    def _pause(self) -> None:
        if self.refused is None:
            self._terminate("completed", self._used)

    def _resume(self) -> None:
        self._is_resumed = True
        self._head |= {"id": self._named or self._head["id"]} | self._parameters
        self._start(self._time)

    def _end(self, response: ExchangeResponse) -> None:
        if self.refused is not None:
            return
        usage = self._used if self._is_resumed else response.usage
        self._end_items(is_kept=True)
        if response.status == "failed" and response.stop_reason == "content_filter":
            self._held = []
            self._write("guardrail", "refusal", error_text(response.error))
            self._finish("guardrail")
            self._terminate("incomplete", usage, "content_filter")
        elif response.status == "failed":
            self._fail(error_text(response.error), error_code(response.error), usage)
        elif response.status == "cancelled":
            self._terminate("cancelled", usage)
        elif response.status == "limit":
            self._terminate("incomplete", usage, _LIMITS.get(response.limit or "", "max_messages"))
        elif response.stop_reason in ("max_tokens", "content_filter"):
            self._send_held()
            reason = "max_output_tokens" if response.stop_reason == "max_tokens" else "content_filter"
            self._terminate("incomplete", usage, reason)
        else:
            self._send_held()
            self._terminate("completed", usage)

    def _send_held(self) -> None:
        text, self._held = "".join(self._held), []
        if text:
            self._write("held", "output_text", text)
            self._finish("held")

    def _terminate(self, status: str, usage: Usage, incomplete: str | None = None) -> None:
        self._status, self._incomplete = status, incomplete
        self._usage = encode_response_usage(usage)
        if status == "completed":
            self._ended = int(self._time)
        kind = "response.completed" if status == "completed" else "response.incomplete"
        self._send(kind, response=self.response)

    def _fail(self, message: str, code: str, usage: Usage | None = None) -> None:
        self.failure = failure = ExchangeFailure(message, code)
        is_named = failure.code in _NAMED_FAILURES
        named = failure.code if is_named else "invalid_prompt" if failure.is_permanent else "server_error"
        self._error_detail = {"code": named, "message": message, "type": failure.type}
        self._status = "failed"
        self._usage = encode_response_usage(usage) if usage is not None else None
        self._send("response.failed", response=self.response)

    def _abort(self) -> None:
        if self.refused is None:
            self._send("error", code="incomplete", message=self._abort_reason, param=None)


def sorted_output(output: Mapping[int, JsonObject]) -> list[JsonObject]:
    """The items of a response in the order of their indices."""
    return [output[index] for index in sorted(output)]


def _arguments(streamed: str, value: JsonObject) -> str:
    """The arguments of a call: as they were streamed, unless they were converted."""
    try:
        return streamed if loads(streamed) == value else encode_text(value)
    except ValueError:
        return encode_text(value)
