"""Strict readers of the OpenAI streams: Chat Completions and Responses."""

from typing import Any

from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.testing.conform.reader import RawFrame, ReadCall, StrictReader, quoted


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
            self.add_fault("envelope", "content that is no string")
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
            known = next((call for call in self.calls if call.id == call_id), None) if call_id else None
            return known if call_id or name else next(reversed(self.calls), None)
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
            self.add_fault("arguments", "arguments that are no string", "V08")
            call.pieces.append(encode_text(arguments))


_TERMINAL = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}


class ResponsesReader(StrictReader):
    """Responses (https://platform.openai.com/docs/api-reference/responses-streaming)."""

    finishes = frozenset({"completed", "incomplete:max_output_tokens", "incomplete:content_filter"})
    truncated = "incomplete:max_output_tokens"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._began = False
        self._number = -1
        self._items: list[JsonObject] = []
        self._done: set[int] = set()
        self._by_item: dict[int, ReadCall] = {}

    def read_event(self, data: JsonObject, event: str) -> None:
        kind = str(data.get("type") or "")
        self.check_event_name(kind, event)
        if kind == "error":
            self.set_error(data.get("error") or data)
            return
        self._check_sequence(data)
        if not self._began and kind != "response.created":
            self.add_fault("order", f"{kind} came before response.created")
        self._began = True
        response = as_object(data.get("response"))
        if response:
            self._check_envelope(response)
        match kind:
            case "response.output_item.added":
                self._add_item(data, as_object(data.get("item")))
            case "response.output_item.done":
                self._finish_item(data, as_object(data.get("item")))
            case "response.output_text.delta" | "response.refusal.delta":
                self._item_index(data)
                self.text.append(str(data.get("delta") or ""))
            case "response.function_call_arguments.delta":
                call = self._by_item.get(self._item_index(data))
                if call is not None:
                    call.pieces.append(str(data.get("delta") or ""))
            case "response.completed" | "response.incomplete" | "response.failed":
                self._finish_response(kind, response)
            case _:
                pass

    def end(self) -> None:
        if not self.ended:
            self.add_fault("terminal", "no response.completed, response.incomplete or response.failed", "F10")
        if self.tokens is not None:
            self.check_total(self.tokens.total, self.tokens.input, self.tokens.output)
        if len(self._done) < len(self._items):
            self.add_fault("order", "an output item has no response.output_item.done")
        if not any(item.get("type") == "message" for item in self._items):
            self.role = "assistant"  # only messages have one

    def _check_sequence(self, data: JsonObject) -> None:
        number = as_int(data.get("sequence_number"))
        if number is None:
            self.add_fault("order", "an event has no sequence_number")
            return
        if number <= self._number:
            self.add_fault("order", "sequence_number does not grow")
        self._number = number

    def _check_envelope(self, response: JsonObject) -> None:
        self.require("envelope", response, "the response", id=str, model=str)
        if response.get("object") != "response":
            self.add_fault("envelope", "the response's object is not “response”")
        self._id = self.check_same_id(self._id, response, "events of one answer have different response ids")

    def _add_item(self, data: JsonObject, item: JsonObject) -> None:
        if data.get("output_index") != len(self._items):
            self.add_fault("order", f"output item {len(self._items)} has the index {data.get('output_index')}")
        self._items.append(item)
        self.require("envelope", item, "an output item", id=str, type=str)
        if item.get("type") == "message":
            self.role = item.get("role")
        if item.get("type") != "function_call":
            return
        call = ReadCall(str(item.get("call_id") or ""), str(item.get("name") or ""))
        if not call.name:
            self.add_fault("call-fields", "a call begins without its name", "T10")
        self.calls.append(call)
        self._by_item[len(self._items) - 1] = call

    def _finish_item(self, data: JsonObject, item: JsonObject) -> None:
        index = self._item_index(data)
        self._done.add(index)
        call = self._by_item.get(index)
        if call is None:
            return
        if call.id and item.get("call_id") != call.id:
            self.add_fault("call-ids", "a call has another id when it is done", "T08")
        final = str(item.get("arguments") or "")
        if final != call.arguments:
            self.add_fault("arguments", "the arguments of a done call are not those of its deltas", "T21")
        call.pieces = [final]

    def _item_index(self, data: JsonObject) -> int:
        """Return the index of the item that an event belongs to."""
        index = as_int(data.get("output_index"))
        if index is None or not 0 <= index < len(self._items):
            self.add_fault("order", f"{data.get('type')} belongs to no output item")
            return -1
        own = as_object(data.get("item")).get("id") if "item" in data else data.get("item_id")
        if own != self._items[index].get("id"):
            self.add_fault("order", f"{data.get('type')} names another item than its output_index")
        return index

    def _finish_response(self, kind: str, response: JsonObject) -> None:
        self.ended = True
        status = str(response.get("status") or "")
        if status != _TERMINAL[kind]:
            self.add_fault("finish", f"{kind} with the status {quoted(status, 40)}")
        if kind == "response.failed":
            self.set_error(response.get("error") or "the response failed")
            return
        reason = as_object(response.get("incomplete_details")).get("reason")
        self.finish = f"incomplete:{reason}" if kind == "response.incomplete" else "completed"
        listed = len(as_objects(response.get("output")))
        if listed != len(self._items):
            self.add_fault("order", f"{kind} lists {listed} of {len(self._items)} output items")
        usage = as_object(response.get("usage"))
        if usage:
            self.tokens = self.read_usage(usage, "input_tokens", "output_tokens")
            self.check_reasoning(usage.get("output_tokens_details"))
