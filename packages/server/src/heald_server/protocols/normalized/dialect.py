"""normalized: the provider-neutral events `text`, `reasoning`, `tool_call`, `usage`, `error` and `end`.

    {"type": "text", "text": "Hello"}
    {"type": "reasoning", "text": "The user greets me."}
    {"type": "tool_call", "id": "call_1", "name": "weather", "args": "{\"city\":\"Oslo\"}"}
    {"type": "usage", "inputTokens": 20, "outputTokens": 5, "cost": 0.0001}
    {"type": "error", "error": "rate_limited", "message": "…"}
    {"type": "end"}

Each exchange has one `usage` and one `end`. The agent itself runs the calls. Text cannot be retracted: a dropped
attempt is followed by a blank line with `"reset": n`, for text and for reasoning; a client that knows the field removes
the last n characters of that kind and the blank line.
"""

from typing import ClassVar, Literal

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, MessageDiscarded, MessageStart, TextDelta, ThinkingDelta
from heald.core.json import JsonObject, encode_text
from heald.core.messages import ToolCall
from heald.core.turn import Usage
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.texts import CANCELLED, error_code, error_text


class NormalizedDialect(ExchangeDialect):
    """An exchange as one provider stream."""

    name: ClassVar[str] = "normalized"

    def __init__(self, session: str | None = None) -> None:
        super().__init__(session)
        self._sent: dict[str, int] = {}  # characters of the open message, by kind

    def _on_event(self, event: Event) -> None:
        match event.data:
            case TextDelta(text=text):
                self._delta("text", text)
            case ThinkingDelta(text=text):
                self._delta("reasoning", text)
            case MessageStart():
                self._sent = {}
            case MessageDiscarded(error=error):
                self._discard(is_cancelled=error.code == "cancelled")
            case ToolCall() as call:
                args = call.invalid.raw if call.invalid is not None else encode_text(call.input)
                self._emit({"type": "tool_call", "id": call.id, "name": call.name, "args": args})
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                pass

    def _delta(self, kind: Literal["text", "reasoning"], text: str) -> None:
        if text:
            self._sent[kind] = self._sent.get(kind, 0) + len(text)
            self._emit({"type": kind, "text": text})

    def _discard(self, *, is_cancelled: bool) -> None:
        sent, self._sent = self._sent, {}
        for kind, length in sent.items():
            if not is_cancelled:
                self._emit({"type": kind, "text": "\n\n", "reset": length})

    def _end(self, response: ExchangeResponse) -> None:
        self._emit(_usage(response.usage, response.cost_usd))
        if response.status == "failed":
            message = error_text(response.error)
            self._emit({"type": "error", "error": error_code(response.error), "message": message})
        elif response.status == "cancelled":
            self._emit({"type": "error", "error": "cancelled", "message": CANCELLED})
        self._emit({"type": "end"} if response.status == "completed" else {"type": "end", "status": response.status})

    def _abort(self) -> None:
        self._emit({"type": "error", "error": "incomplete", "message": self._abort_reason})
        self._emit({"type": "end", "status": "interrupted"})


def _usage(usage: Usage, cost: float | None) -> JsonObject:
    counts = {"inputTokens": usage.total_input or 0, "outputTokens": usage.total_output or 0}
    return {"type": "usage", **counts} | ({} if cost is None else {"cost": cost})
