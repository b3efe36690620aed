"""loop: the four server-sent events of a small agent page: `content_delta, tool_call_start, tool_call_result, done`.

    content_delta     {"delta": "Hello"}
    tool_call_start   {"id": "call_1", "name": "weather", "arguments": {"city": "Oslo"}}
    tool_call_result  {"id": "call_1", "result": "3 °C", "is_error": false}
    done              {}

Text cannot be taken back here. After a dropped attempt comes one delta with a blank line and `"reset": n`: whoever
knows it forgets the last n characters and the blank line, everyone else sees a new paragraph. An exchange that did not
complete ends with `done` too, with its `status` and what there is to say about it.
"""

from typing import ClassVar

from weft.core.envelope import Event
from weft.core.events import ExchangeRequest, ExchangeResponse, MessageDiscarded, MessageStart, TextDelta
from weft.core.json import JsonObject
from weft.core.tools import ToolCall, ToolResult
from weft.dialects.calls import Calls
from weft.dialects.dialect import ExchangeDialect
from weft.dialects.sentences import error_text, result_text


class LoopDialect(ExchangeDialect):
    """An exchange as text deltas, calls with their results, and one `done`."""

    name: ClassVar[str] = "loop"

    def __init__(self, session: str | None = None) -> None:
        super().__init__(session)
        self._calls = Calls()
        self._said = 0  # characters of the open message

    def _hear(self, event: Event) -> None:
        match event.data:
            case TextDelta(text=text):
                if text:
                    self._said += len(text)
                    self._say({"delta": text}, "content_delta")
            case ExchangeRequest():
                self._calls = Calls()
            case MessageStart():
                self._said = 0
            case MessageDiscarded(error=error):
                if self._said and error.code != "cancelled":
                    self._say({"delta": "\n\n", "reset": self._said}, "content_delta")
                self._said = 0
            case ToolCall() as call:
                shown = self._calls.begin(call.id, call.name)
                self._say({"id": shown.id, "name": call.name, "arguments": call.input}, "tool_call_start")
            case ToolResult() as result:
                self._result(result)
            case ExchangeResponse() as response:
                self._say(_done(response), "done")
            case _:
                pass

    def _result(self, result: ToolResult) -> None:
        call = self._calls.end(result.id)
        if call is not None:
            said = {"id": call.id, "result": result_text(result), "is_error": bool(result.is_error)}
            self._say(said, "tool_call_result")

    def _abandon(self) -> None:
        for call in self._calls.drop():
            self._say({"id": call.id, "result": self._cut, "is_error": True}, "tool_call_result")
        self._say({"status": "interrupted", "error": self._cut}, "done")


def _done(response: ExchangeResponse) -> JsonObject:
    if response.status == "completed":
        return {}
    done: JsonObject = {"status": response.status}
    if response.status == "failed":
        done["error"] = error_text(response.error)
    elif response.note is not None:
        done["note"] = response.note
    return done
