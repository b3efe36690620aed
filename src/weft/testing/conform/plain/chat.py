"""Chat Completions, read plainly.

https://platform.openai.com/docs/api-reference/chat-streaming
"""

from typing import Any

from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.testing.conform.plain.frames import Frame
from weft.testing.conform.plain.reader import OpenCall, Reader


class ChatReader(Reader):
    finishes = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
    truncated = "length"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._by_index: dict[int, OpenCall] = {}

    def frame(self, frame: Frame) -> None:
        if frame.data != "[DONE]":
            super().frame(frame)
            return
        if self.ended:
            self.fault("after-end", "a second [DONE]", "F13")
        self.ended = True

    def take(self, data: JsonObject, event: str) -> None:
        if data.get("error"):
            self.failed(data["error"])
            return
        if not isinstance(data.get("choices"), list):
            self.fault("envelope", "a chunk has no list of choices", "T15")
        choices = as_objects(data.get("choices"))
        if choices or data.get("usage"):
            self._envelope(data)
        for choice in choices:
            if choice.get("index") == 0:
                self._choice(choice)
            else:
                self.fault("envelope", "a choice other than number 0, though one was asked for")
        usage = as_object(data.get("usage"))
        if usage:
            self.tokens = self.count(usage, "prompt_tokens", "completion_tokens")
            self.count_reasoning(usage.get("completion_tokens_details"))

    def end(self) -> None:
        if not self.ended:
            self.fault("done-marker", "no [DONE]", "F10")
        if self.tokens is not None:
            self.sum_up(self.tokens.total, self.tokens.input, self.tokens.output)
        indexes = [call.index for call in self.calls if call.index is not None]
        if indexes and sorted(set(indexes)) != list(range(len(set(indexes)))):
            self.fault("call-index", f"indexes {', '.join(map(str, sorted(set(indexes))))}", "T05")

    def _envelope(self, chunk: JsonObject) -> None:
        self.require("envelope", chunk, "a chunk", id=str, created=int, model=str)
        if chunk.get("object") != "chat.completion.chunk":
            self.fault("envelope", "a chunk's object is not “chat.completion.chunk”")
        chunk_id = str(chunk.get("id") or "")
        if self._id and chunk_id and chunk_id != self._id:
            self.fault("envelope", "chunks of one answer have different ids")
        self._id = self._id or chunk_id

    def _choice(self, choice: JsonObject) -> None:
        delta = as_object(choice.get("delta"))
        self.role = self.role or delta.get("role")
        content = delta.get("content") or delta.get("refusal")
        calls = as_objects(delta.get("tool_calls"))
        if self.finish and (content or calls):
            self.fault("after-end", "content after the finish reason", "T12")
        if isinstance(content, str):
            self.text.append(content)
        elif content:
            self.fault("envelope", "content that is no string")
        for call in calls:
            self._call(call)
        if delta.get("function_call"):
            self.fault("call-fields", "a call in the old field function_call")
        finish = choice.get("finish_reason")
        if not finish:
            return
        if self.finish:
            self.fault("finish", "the finish reason came twice", "T14")
        self.finish = str(finish)

    def _call(self, delta: JsonObject) -> None:
        function = as_object(delta.get("function"))
        call_id, name = str(delta.get("id") or ""), str(function.get("name") or "")
        index = as_int(delta.get("index"))
        if index is None:
            self.fault("call-index", "a call has no index", "T04")
        call = self._begun(index, call_id, name if function.get("arguments") else "")
        if call is None:
            call = self._begin(index, call_id, name, delta)
        elif name:
            self._more_name(call, name)
        call.id = call.id or call_id
        self._arguments(call, function.get("arguments"))

    def _begun(self, index: int | None, call_id: str, name: str) -> OpenCall | None:
        """The call that a fragment continues. Only the index says so; the rest is guessed where it lies."""
        if index is None:
            known = next((call for call in self.calls if call.id == call_id), None) if call_id else None
            return known if call_id or name else next(reversed(self.calls), None)
        call = self._by_index.get(index)
        if call is None:
            return None
        renamed = bool(call_id and call.id and call_id != call.id)
        again = bool(name and not call_id and _is_whole(call))
        if renamed or again:
            self.fault("call-index", f"index {index} stands for two calls", "T02")
            return None
        return call

    def _begin(self, index: int | None, call_id: str, name: str, delta: JsonObject) -> OpenCall:
        call = OpenCall(call_id, name, index=index)
        self.calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if not name:
            self.fault("call-fields", "a call begins without its name", "T10")
        if delta.get("type") != "function":
            self.fault("call-fields", "a call begins without the type “function”", "T16")
        return call

    def _more_name(self, call: OpenCall, name: str) -> None:
        if name == call.name:
            self.fault("call-fields", "a call's name is sent again with later fragments", "T09")
            return
        if call.name:
            self.fault("call-fields", "a call's name comes in pieces", "T09")
        call.name += name

    def _arguments(self, call: OpenCall, arguments: Any) -> None:
        if isinstance(arguments, str):
            call.pieces.append(arguments)
        elif arguments is not None:
            self.fault("arguments", "arguments that are no string", "V08")
            call.pieces.append(encode_text(arguments))


def _is_whole(call: OpenCall) -> bool:
    return call.arguments.rstrip().endswith("}")
