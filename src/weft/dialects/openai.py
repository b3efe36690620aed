"""openai: the agent served as a model that streams `chat.completion.chunk` objects.

    {"id": "ex_1", "object": "chat.completion.chunk", "created": 1, "model": "weft",
     "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": null}]}

The agent runs its own tools. Sent as `tool_calls` they would run twice, so they are hidden, or shown as lines of
`reasoning_content`. The texts of several turns are one message, with blank lines in between. Text cannot be retracted:
after a dropped attempt the next one begins a new paragraph.
"""

from typing import ClassVar

from weft.core.envelope import Event
from weft.core.events import (
    ExchangeRequest,
    ExchangeResponse,
    MessageStart,
    TextContentBlockStart,
    TextDelta,
    ThinkingDelta,
    ToolExecuting,
)
from weft.core.json import JsonObject
from weft.core.messages import ToolResult
from weft.core.turn import StopReason, Usage
from weft.dialects.dialect import ExchangeDialect, error_text, shortened

_REASONS: dict[StopReason, str] = {
    "max_tokens": "length",
    "refusal": "content_filter",
    "content_filter": "content_filter",
}
_MAX_LINE = 200


class OpenAIDialect(ExchangeDialect):
    """An exchange as one streamed chat completion.

    `usage` adds the chunk that `stream_options.include_usage` asks for, `show_tools` a line for each call and outcome.
    """

    name: ClassVar[str] = "openai"

    def __init__(
        self,
        session: str | None = None,
        *,
        model: str | None = None,
        usage: bool = False,
        show_tools: bool = False,
    ) -> None:
        super().__init__(session)
        self._named = model
        self._usage = usage
        self._show_tools = show_tools
        self._head: JsonObject = {}
        self._refusal = False
        self._sent: set[str] = set()  # fields of the delta that have text
        self._broken: set[str] = set()  # fields whose next text begins a new paragraph

    def _on_event(self, event: Event) -> None:
        match event.data:
            case TextDelta(text=text):
                self._delta("refusal" if self._refusal else "content", text)
            case ThinkingDelta(text=text):
                self._delta("reasoning_content", text)
            case ExchangeRequest(model=model):
                self._begin(event, model)
            case TextContentBlockStart(refusal=refusal):
                self._refusal = refusal
            case MessageStart():
                self._broken = set(self._sent)
            case ToolExecuting(name=name, summary=summary) if self._show_tools:
                self._line(f"{name}: {summary}" if summary else name)
            case ToolResult() as result if self._show_tools:
                self._line(f"{result.name or 'tool'}: {result.status}")
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                pass

    def _begin(self, event: Event, model: str) -> None:
        self._head = {
            "id": event.exchange or event.id,
            "object": "chat.completion.chunk",
            "created": int(event.time),
            "model": self._named or model or "weft",
        }
        self._sent, self._broken, self._refusal = set(), set(), False
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
        self._emit({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _end(self, response: ExchangeResponse) -> None:
        if response.status == "failed":
            code = response.error.code if response.error is not None else "internal"
            self._error(error_text(response.error), code)
            return
        self._chunk({}, "length" if response.status == "limit" else _REASONS.get(response.stop_reason, "stop"))
        if self._usage:
            self._emit({**self._head, "choices": [], "usage": encode_usage(response.usage, response.cost_usd)})

    def _error(self, message: str, code: str) -> None:
        self._emit({"error": {"message": message, "type": "server_error", "param": None, "code": code}})

    def _abort(self) -> None:
        self._error(self._abort_reason, "incomplete")

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
