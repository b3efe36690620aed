"""Ollama's own chat, read plainly.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""

from weft.core.json import JsonObject, as_object, as_objects, encode_text
from weft.testing.conform.plain.frames import read_lines
from weft.testing.conform.plain.reader import OpenCall, Reader, Tokens


class OllamaReader(Reader):
    finishes = frozenset({"stop", "length"})
    truncated = "length"
    cut = staticmethod(read_lines)
    wants_ids = False

    def take(self, data: JsonObject, event: str) -> None:
        if data.get("error"):
            self.failed(data["error"])
            return
        self.require("envelope", data, "a line", model=str, created_at=str, message=dict, done=bool)
        message = as_object(data.get("message"))
        self.role = self.role or message.get("role")
        self.text.append(str(message.get("content") or ""))
        for call in as_objects(message.get("tool_calls")):
            self._call(as_object(call.get("function")), str(call.get("id") or ""))
        if data.get("done") is not True:
            return
        self.ended = True
        self.finish = str(data.get("done_reason") or "")
        counted = self.count(data, "prompt_eval_count", "eval_count")
        self.tokens = Tokens(counted.input, counted.output)

    def end(self) -> None:
        if not self.ended:
            self.fault("terminal", "no line with done: true", "F10")

    def _call(self, function: JsonObject, call_id: str) -> None:
        arguments = function.get("arguments")
        call = OpenCall(call_id, str(function.get("name") or ""))
        self.calls.append(call)
        if isinstance(arguments, str):
            self.fault("arguments", "arguments that are a string", "V08")
            call.pieces.append(arguments)
        else:
            call.pieces.append("{}" if arguments is None else encode_text(arguments))
