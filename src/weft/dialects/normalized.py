"""normalized: the events that an orchestrator reads from any provider: `text, reasoning, tool_call, usage, error, end`.

    {"type": "text", "text": "Hello"}
    {"type": "reasoning", "text": "The user greets me."}
    {"type": "tool_call", "id": "call_1", "name": "weather", "args": "{\"city\":\"Oslo\"}"}
    {"type": "usage", "inputTokens": 20, "outputTokens": 5, "cost": 0.0001}
    {"type": "error", "error": "rate_limited", "message": "…"}
    {"type": "end"}

One `usage` and one `end` an exchange. The calls were made and answered by the agent itself. Text cannot be taken back:
after a dropped attempt comes a blank line with `"reset": n`, for text and for reasoning. Whoever knows it forgets the
last n characters of that kind and the blank line.
"""

from typing import ClassVar, Literal

from weft.core.envelope import Event
from weft.core.events import ExchangeResponse, MessageDiscarded, MessageStart, TextDelta, ThinkingDelta
from weft.core.json import JsonObject, encode_text
from weft.core.tools import ToolCall
from weft.core.usage import Usage
from weft.dialects.dialect import ExchangeDialect
from weft.dialects.sentences import CANCELLED, error_text


class NormalizedDialect(ExchangeDialect):
    """An exchange as one provider stream."""

    name: ClassVar[str] = "normalized"

    def __init__(self, session: str | None = None) -> None:
        super().__init__(session)
        self._said: dict[str, int] = {}  # characters of the open message, by kind

    def _hear(self, event: Event) -> None:
        match event.data:
            case TextDelta(text=text):
                self._delta("text", text)
            case ThinkingDelta(text=text):
                self._delta("reasoning", text)
            case MessageStart():
                self._said = {}
            case MessageDiscarded(error=error):
                self._discard(kept=error.code == "cancelled")
            case ToolCall() as call:
                args = call.invalid.raw if call.invalid is not None else encode_text(call.input)
                self._say({"type": "tool_call", "id": call.id, "name": call.name, "args": args})
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                pass

    def _delta(self, kind: Literal["text", "reasoning"], text: str) -> None:
        if text:
            self._said[kind] = self._said.get(kind, 0) + len(text)
            self._say({"type": kind, "text": text})

    def _discard(self, *, kept: bool) -> None:
        said, self._said = self._said, {}
        for kind, length in said.items():
            if not kept:
                self._say({"type": kind, "text": "\n\n", "reset": length})

    def _end(self, response: ExchangeResponse) -> None:
        self._say(_usage(response.usage, response.cost_usd))
        if response.status == "failed":
            code = response.error.code if response.error is not None else "internal"
            self._say({"type": "error", "error": code, "message": error_text(response.error)})
        elif response.status == "cancelled":
            self._say({"type": "error", "error": "cancelled", "message": CANCELLED})
        self._say({"type": "end"} if response.status == "completed" else {"type": "end", "status": response.status})

    def _abandon(self) -> None:
        self._say({"type": "error", "error": "incomplete", "message": self._cut})
        self._say({"type": "end", "status": "interrupted"})


def _usage(usage: Usage, cost: float | None) -> JsonObject:
    said: JsonObject = {
        "type": "usage",
        "inputTokens": usage.total_input or 0,
        "outputTokens": usage.total_output or 0,
    }
    return said if cost is None else said | {"cost": cost}
