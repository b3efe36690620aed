"""loop: the four server-sent events `content_delta`, `tool_call_start`, `tool_call_result` and `done`.

    content_delta     {"delta": "Hello"}
    tool_call_start   {"id": "call_1", "name": "weather", "arguments": {"city": "Oslo"}}
    tool_call_result  {"id": "call_1", "result": "3 °C", "is_error": false}
    done              {}

Text cannot be retracted. A dropped attempt is followed by one delta with a blank line and `"reset": n`: a client that
knows the field removes the last n characters and the blank line, others show a new paragraph. An exchange that did not
complete also ends with `done`, which then has a `status` and its reason.
"""

from typing import ClassVar

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, MessageDiscarded, MessageStart, TextDelta
from heald.core.json import JsonObject
from heald.core.messages import ToolCall, ToolResult
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.texts import error_text, result_text


class LoopDialect(ExchangeDialect):
    """An exchange as text deltas, calls with their results, and one `done`."""

    name: ClassVar[str] = "loop"

    def __init__(self, session: str | None = None) -> None:
        super().__init__(session)
        self._sent = 0  # characters of the open message

    def _on_event(self, event: Event) -> None:
        match event.data:
            case TextDelta(text=text):
                if text:
                    self._sent += len(text)
                    self._emit({"delta": text}, "content_delta")
            case MessageStart():
                self._sent = 0
            case MessageDiscarded(error=error):
                if self._sent and error.code != "cancelled":
                    self._emit({"delta": "\n\n", "reset": self._sent}, "content_delta")
                self._sent = 0
            case ToolCall() as call:
                client_call = self._calls.begin(call.id, call.name)
                self._emit({"id": client_call.id, "name": call.name, "arguments": call.input}, "tool_call_start")
            case ToolResult() as result:
                self._result(result)
            case ExchangeResponse() as response:
                self._emit(_done(response), "done")
            case _:
                pass

    def _result(self, result: ToolResult) -> None:
        call = self._calls.end(result.id)
        if call is not None:
            frame = {"id": call.id, "result": result_text(result), "is_error": bool(result.is_error)}
            self._emit(frame, "tool_call_result")

    def _abort(self) -> None:
        for call in self._calls.drop():
            self._emit({"id": call.id, "result": self._abort_reason, "is_error": True}, "tool_call_result")
        self._emit({"status": "interrupted", "error": self._abort_reason}, "done")


def _done(response: ExchangeResponse) -> JsonObject:
    if response.status == "completed":
        return {}
    done: JsonObject = {"status": response.status}
    if response.status == "failed":
        done["error"] = error_text(response.error)
    elif response.note is not None:
        done["note"] = response.note
    return done
