"""openai: the agent served as a model that streams `chat.completion.chunk` objects.

    {"id": "chatcmpl_1_2", "object": "chat.completion.chunk", "created": 1, "model": "heald",
     "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": null}]}

The agent runs its own tools. Sent as `tool_calls` they would run twice, so they are hidden, or shown as lines of
`reasoning_content`. Calls of the client's own tools are `tool_calls`, with which the response ends (`pause`). The texts
of several turns are one message, with blank lines in between. Text cannot be retracted: after a dropped attempt the
next one begins a new paragraph.
"""

from typing import ClassVar

from heald.core.envelope import Event
from heald.core.events import (
    ApprovalRequested,
    ClientToolRequested,
    ExchangeRequest,
    ExchangeResponse,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    QuestionAsked,
    TextContentBlockStart,
    TextDelta,
    ThinkingDelta,
    ToolExecuting,
)
from heald.core.json import JsonObject, encode_text
from heald.core.messages import ToolCall, ToolResult
from heald.core.turn import StopReason, Usage
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.frame import Frame, write_sse
from heald_server.dialects.texts import error_code, error_text, shortened
from heald_server.protocols.shared.client_call_ids import client_call_id
from heald_server.protocols.shared.exchange_failure import ExchangeFailure
from heald_server.protocols.shared.place_ids import place_id

_REASONS: dict[StopReason, str] = {
    "max_tokens": "length",
    "refusal": "content_filter",
    "content_filter": "content_filter",
}
_MAX_LINE = 200


class OpenAIDialect(ExchangeDialect):
    """An exchange as one streamed chat completion.

    `usage` adds the chunk that `stream_options.include_usage` asks for, `show_tools` a line for each call and outcome.
    `final_only` leaves out the texts of all turns but the last, for answers that are JSON. `resumable` adds an `id` to
    server-sent events. `unattended` ends the response with an error when the agent asks for an approval or an answer.
    """

    name: ClassVar[str] = "openai"

    def __init__(
        self,
        session: str | None = None,
        *,
        model: str | None = None,
        usage: bool = False,
        show_tools: bool = False,
        final_only: bool = False,
        resumable: bool = True,
        unattended: bool = False,
    ) -> None:
        super().__init__(session)
        self._named = model
        self._usage = usage
        self._show_tools = show_tools
        self._final_only = final_only
        self._resumable = resumable
        self._unattended = unattended
        self.refused: str | None = None
        """Why the exchange cannot go on without somebody to ask."""
        self.failure: ExchangeFailure | None = None
        """The failure with which the response ended."""
        self._head: JsonObject = {}
        self._seq = 0
        self._client_ids: dict[str, str] = {}  # ids of calls of the client's tools, by those in the log
        self._refusal = False
        self._used = Usage()  # by the turns of this response
        self._is_resumed = False
        self._held: list[str] = []  # text that is sent if its turn is the last
        self._sent: set[str] = set()  # fields of the delta that have text
        self._broken: set[str] = set()  # fields whose next text begins a new paragraph

    def sse(self, frame: Frame) -> bytes:
        return write_sse(frame if self._resumable else Frame(frame.data, frame.event))

    def _on_event(self, event: Event) -> None:
        self._seq = event.seq
        match event.data:
            case TextDelta(text=text):
                self._text(text)
            case ThinkingDelta(text=text):
                self._delta("reasoning_content", text)
            case ExchangeRequest(model=model):
                self._begin(event, model)
            case TextContentBlockStart(refusal=refusal):
                self._refusal = refusal
            case MessageStart():
                self._broken = set(self._sent)
                self._held = []
            case MessageDelta(usage=usage):
                self._used += usage
            case MessageDiscarded():
                self._calls.drop()
            case ToolCall(id=id, name=name) if event.data.invalid is None:
                self._calls.begin(id, name)
            case ToolExecuting(name=name, summary=summary):
                self._show(f"{name}: {summary}" if summary else name)
            case ToolResult() as result:
                self._calls.end(result.id)
                self._show(f"{result.name or 'tool'}: {result.status}")
            case ClientToolRequested(id=id):
                self._client_ids[id] = client_call_id(self._session, event.seq)
                self._calls.track_request(event.data)
            case ApprovalRequested(name=name) if self._unattended:
                self._refuse(
                    f"The agent needs an approval for {name}, and this API has nobody to ask; allow the call in the "
                    "server's permissions, or use a client that can approve."
                )
            case QuestionAsked() if self._unattended:
                self._refuse("The agent asks the user a question, and this API has nobody to ask.")
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                pass

    def _text(self, text: str) -> None:
        if self._final_only and not self._refusal:
            self._held.append(text)
        else:
            self._delta("refusal" if self._refusal else "content", text)

    def _show(self, line: str) -> None:
        if self._show_tools:
            self._line(line)

    def _refuse(self, why: str) -> None:
        if self.refused is None:
            self.refused = why
            self._fail(why, "approval_needed")

    # --- a response that ends before its exchange ----------------------------------------------------------------

    @property
    def is_waiting(self) -> bool:
        return self.refused is not None or super().is_waiting

    def _pause(self) -> None:
        if self.refused is not None:
            return
        for number, request in enumerate(self._calls.requests):
            if isinstance(request, ClientToolRequested):
                call = {"name": request.name, "arguments": encode_text(request.input)}
                name = self._client_ids[request.id]
                tool_call = {"index": number, "id": name, "type": "function", "function": call}
                self._chunk({"tool_calls": [tool_call]})
        self._chunk({}, "tool_calls")
        self._send_usage(self._used, None)

    def _resume(self) -> None:
        self._sent, self._broken, self._refusal, self._used = set(), set(), False, Usage()
        self._is_resumed = True
        self._head |= {"id": self._response_id()}
        self._chunk({"role": "assistant", "content": ""})

    def _response_id(self) -> str:
        """The id of a response. It names the event at its beginning, so each part of an exchange has its own."""
        return place_id("chatcmpl", self._session, self._seq)

    def _begin(self, event: Event, model: str) -> None:
        self._head = {
            "id": self._response_id(),
            "object": "chat.completion.chunk",
            "created": int(event.time),
            "model": self._named or model or "heald",
        }
        self._held = []
        self._sent, self._broken, self._refusal, self._used = set(), set(), False, Usage()
        self._chunk({"role": "assistant", "content": ""})

    def _delta(self, field: str, text: str) -> None:
        if not text:
            return
        if field in self._broken:
            self._broken.discard(field)
            text = f"\n\n{text}"
        self._sent.add(field)
        self._chunk({field: text})

    def _line(self, text: str) -> None:
        """Send a line about a tool in a paragraph of its own."""
        line = shortened(" ".join(text.split()), _MAX_LINE)
        self._chunk({"reasoning_content": f"\n\n{line}" if "reasoning_content" in self._sent else line})
        self._sent.add("reasoning_content")
        self._broken.add("reasoning_content")

    def _chunk(self, delta: JsonObject, finish: str | None = None) -> None:
        self.has_output = self.has_output or finish is not None or "role" not in delta
        self._emit({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _end(self, response: ExchangeResponse) -> None:
        if self.refused is not None:
            return
        if response.status == "failed" and response.stop_reason == "content_filter":
            self._held = []
            self._delta("refusal", error_text(response.error))
        elif response.status == "failed":
            self._fail(error_text(response.error), error_code(response.error))
            return
        self._delta("content", "".join(self._held))
        self._chunk({}, "length" if response.status == "limit" else _REASONS.get(response.stop_reason, "stop"))
        self._send_usage(self._used if self._is_resumed else response.usage, response.cost_usd)

    def _send_usage(self, usage: Usage, cost: float | None) -> None:
        if self._usage:
            self._emit({**self._head, "choices": [], "usage": encode_usage(usage, cost)})

    def _fail(self, message: str, code: str) -> None:
        self.failure = ExchangeFailure(message, code)
        self._emit({"error": self.failure.data})

    def _abort(self) -> None:
        self._fail(self._abort_reason, "incomplete")

    def _end_stream(self) -> None:
        self._emit("[DONE]")


def encode_usage(usage: Usage, cost: float | None) -> JsonObject:
    """Usage as that API counts it, with the cost in dollars in the field that routers use."""
    priced: JsonObject = {} if cost is None else {"cost": cost}
    return priced | {
        "prompt_tokens": usage.total_input or 0,
        "completion_tokens": usage.total_output or 0,
        "total_tokens": usage.total or 0,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
    }
