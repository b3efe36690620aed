"""Reads answers of Chat Completions."""

from typing import Any

from heald.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from heald_check.conform.framing import RawFrame
from heald_check.conform.reader import StrictReader
from heald_check.conform.reading import ReadCall


class ChatReader(StrictReader):
    """Chat Completions (https://platform.openai.com/docs/api-reference/chat-streaming)."""

    finishes = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
    truncated = "length"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._by_index: dict[int, ReadCall] = {}

    def read_frame(self, frame: RawFrame) -> None:
        if frame.data != "[DONE]":
            super().read_frame(frame)
            return
        if self.ended:
            self.add_fault("after-end", "a second [DONE]", "F13")
        self.ended = True

    def read_event(self, data: JsonObject, event: str) -> None:
        if data.get("error"):
            self.set_error(data["error"])
            return
        if not isinstance(data.get("choices"), list):
            self.add_fault("envelope", "a chunk has no list of choices", "T15")
        choices = as_objects(data.get("choices"))
        if choices or data.get("usage"):
            self._check_envelope(data)
        for choice in choices:
            if choice.get("index") == 0:
                self._read_choice(choice)
            else:
                self.add_fault("envelope", "a choice other than number 0, though one was asked for")
        usage = as_object(data.get("usage"))
        if usage:
            self.tokens = self.read_usage(usage, "prompt_tokens", "completion_tokens")
            self.check_reasoning(usage.get("completion_tokens_details"))

    def end(self) -> None:
        if not self.ended:
            self.add_fault("done-marker", "no [DONE]", "F10")
        if self.tokens is not None:
            self.check_total(self.tokens.total, self.tokens.input, self.tokens.output)
        indexes = [call.index for call in self.calls if call.index is not None]
        if indexes and sorted(set(indexes)) != list(range(len(set(indexes)))):
            self.add_fault("call-index", f"indexes {', '.join(map(str, sorted(set(indexes))))}", "T05")

    def _check_envelope(self, chunk: JsonObject) -> None:
        self.require("envelope", chunk, "a chunk", id=str, created=int, model=str)
        if chunk.get("object") != "chat.completion.chunk":
            self.add_fault("envelope", "a chunk's object is not “chat.completion.chunk”")
        self._id = self.check_same_id(self._id, chunk, "chunks of one answer have different ids")

    def _read_choice(self, choice: JsonObject) -> None:
        delta = as_object(choice.get("delta"))
        self.role = self.role or delta.get("role")
        content = delta.get("content") or delta.get("refusal")
        calls = as_objects(delta.get("tool_calls"))
        if self.finish and (content or calls):
            self.add_fault("after-end", "content after the finish reason", "T12")
        if isinstance(content, str):
            self.text.append(content)
        elif content:
            self.add_fault("envelope", "content that is not a string")
        for call in calls:
            self._read_call(call)
        if delta.get("function_call"):
            self.add_fault("call-fields", "a call in the old field function_call")
        finish = choice.get("finish_reason")
        if not finish:
            return
        if self.finish:
            self.add_fault("finish", "the finish reason came twice", "T14")
        self.finish = str(finish)

    def _read_call(self, delta: JsonObject) -> None:
        function = as_object(delta.get("function"))
        call_id, name = str(delta.get("id") or ""), str(function.get("name") or "")
        index = as_int(delta.get("index"))
        if index is None:
            self.add_fault("call-index", "a call has no index", "T04")
        call = self._find_call(index, call_id, name if function.get("arguments") else "")
        if call is None:
            call = self._start_call(index, call_id, name, delta)
        elif name:
            self._extend_name(call, name)
        call.id = call.id or call_id
        self._add_arguments(call, function.get("arguments"))

    def _find_call(self, index: int | None, call_id: str, name: str) -> ReadCall | None:
        """Return the call that a fragment continues. The index decides; without one it is guessed."""
        if index is None:
            named = next((call for call in self.calls if call.id == call_id), None) if call_id else None
            return named if call_id or name else next(reversed(self.calls), None)
        call = self._by_index.get(index)
        if call is None:
            return None
        has_other_id = bool(call_id and call.id and call_id != call.id)
        starts_over = bool(name and not call_id and call.arguments.rstrip().endswith("}"))
        if has_other_id or starts_over:
            self.add_fault("call-index", f"index {index} stands for two calls", "T02")
            return None
        return call

    def _start_call(self, index: int | None, call_id: str, name: str, delta: JsonObject) -> ReadCall:
        call = ReadCall(call_id, name, index=index)
        self.calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if not name:
            self.add_fault("call-fields", "a call begins without its name", "T10")
        if delta.get("type") != "function":
            self.add_fault("call-fields", "a call begins without the type “function”", "T16")
        return call

    def _extend_name(self, call: ReadCall, name: str) -> None:
        if name == call.name:
            self.add_fault("call-fields", "a call's name is sent again with later fragments", "T09")
            return
        if call.name:
            self.add_fault("call-fields", "a call's name comes in pieces", "T09")
        call.name += name

    def _add_arguments(self, call: ReadCall, arguments: Any) -> None:
        if isinstance(arguments, str):
            call.pieces.append(arguments)
        elif arguments is not None:
            self.add_fault("arguments", "arguments that are not a string", "V08")
            call.pieces.append(encode_text(arguments))
