"""Reads answers of Ollama."""

from msgspec.structs import replace

from heald.core.json import JsonObject, as_object, as_objects, encode_text
from heald_check.conform.framing import split_lines
from heald_check.conform.reader import StrictReader
from heald_check.conform.reading import ReadCall


class OllamaReader(StrictReader):
    """Ollama (https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion)."""

    finishes = frozenset({"stop", "length"})
    truncated = "length"
    split = staticmethod(split_lines)
    wants_ids = False

    def read_event(self, data: JsonObject, event: str) -> None:
        if data.get("error"):
            self.set_error(data["error"])
            return
        self.require("envelope", data, "a line", model=str, created_at=str, message=dict, done=bool)
        message = as_object(data.get("message"))
        self.role = self.role or message.get("role")
        self.text.append(str(message.get("content") or ""))
        for call in as_objects(message.get("tool_calls")):
            self._read_call(as_object(call.get("function")), str(call.get("id") or ""))
        if data.get("done") is not True:
            return
        self.ended = True
        self.finish = str(data.get("done_reason") or "")
        self.tokens = replace(self.read_usage(data, "prompt_eval_count", "eval_count"), total=None)

    def end(self) -> None:
        if not self.ended:
            self.add_fault("terminal", "no line with done: true", "F10")

    def _read_call(self, function: JsonObject, call_id: str) -> None:
        arguments = function.get("arguments")
        call = ReadCall(call_id, str(function.get("name") or ""))
        self.calls.append(call)
        if isinstance(arguments, str):
            self.add_fault("arguments", "arguments that are a string", "V08")
            call.pieces.append(arguments)
        else:
            call.pieces.append("{}" if arguments is None else encode_text(arguments))
