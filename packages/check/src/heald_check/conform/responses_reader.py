"""Reads answers of the Responses API."""

from heald.core.json import JsonObject, as_int, as_object, as_objects
from heald_check.conform.excerpt import quoted
from heald_check.conform.reader import StrictReader
from heald_check.conform.reading import ReadCall

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
        item_id = as_object(data.get("item")).get("id") if "item" in data else data.get("item_id")
        if item_id != self._items[index].get("id"):
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
