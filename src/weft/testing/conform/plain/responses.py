"""OpenAI Responses, read plainly.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from weft.core.json import JsonObject, as_int, as_object, as_objects
from weft.testing.conform.plain.reader import OpenCall, Reader
from weft.testing.conform.verdict import quoted

_TERMINAL = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}


class ResponsesReader(Reader):
    finishes = frozenset({"completed", "incomplete:max_output_tokens", "incomplete:content_filter"})
    truncated = "incomplete:max_output_tokens"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._began = False
        self._number = -1
        self._items: list[JsonObject] = []
        self._done: set[int] = set()
        self._by_item: dict[int, OpenCall] = {}

    def take(self, data: JsonObject, event: str) -> None:
        kind = str(data.get("type") or "")
        self.named(kind, event)
        if kind == "error":
            self.failed(data.get("error") or data)
            return
        self._count_event(data)
        if not self._began and kind != "response.created":
            self.fault("order", f"{kind} came before response.created")
        self._began = True
        response = as_object(data.get("response"))
        if response:
            self._envelope(response)
        match kind:
            case "response.output_item.added":
                self._added(data, as_object(data.get("item")))
            case "response.output_item.done":
                self._item_done(data, as_object(data.get("item")))
            case "response.output_text.delta" | "response.refusal.delta":
                self._place(data)
                self.text.append(str(data.get("delta") or ""))
            case "response.function_call_arguments.delta":
                call = self._by_item.get(self._place(data))
                if call is not None:
                    call.pieces.append(str(data.get("delta") or ""))
            case "response.completed" | "response.incomplete" | "response.failed":
                self._ended(kind, response)
            case _:
                pass

    def end(self) -> None:
        if not self.ended:
            self.fault("terminal", "no response.completed, response.incomplete or response.failed", "F10")
        if self.tokens is not None:
            self.sum_up(self.tokens.total, self.tokens.input, self.tokens.output)
        if len(self._done) < len(self._items):
            self.fault("order", "an output item has no response.output_item.done")
        if not any(item.get("type") == "message" for item in self._items):
            self.role = "assistant"  # only messages have one

    def _count_event(self, data: JsonObject) -> None:
        number = as_int(data.get("sequence_number"))
        if number is None:
            self.fault("order", "an event has no sequence_number")
            return
        if number <= self._number:
            self.fault("order", "sequence_number does not grow")
        self._number = number

    def _envelope(self, response: JsonObject) -> None:
        self.require("envelope", response, "the response", id=str, model=str)
        if response.get("object") != "response":
            self.fault("envelope", "the response's object is not “response”")
        response_id = str(response.get("id") or "")
        if self._id and response_id and response_id != self._id:
            self.fault("envelope", "events of one answer have different response ids")
        self._id = self._id or response_id

    def _added(self, data: JsonObject, item: JsonObject) -> None:
        if data.get("output_index") != len(self._items):
            self.fault("order", f"output item {len(self._items)} has the index {data.get('output_index')}")
        self._items.append(item)
        self.require("envelope", item, "an output item", id=str, type=str)
        if item.get("type") == "message":
            self.role = item.get("role")
        if item.get("type") != "function_call":
            return
        call = OpenCall(str(item.get("call_id") or ""), str(item.get("name") or ""))
        if not call.name:
            self.fault("call-fields", "a call begins without its name", "T10")
        self.calls.append(call)
        self._by_item[len(self._items) - 1] = call

    def _item_done(self, data: JsonObject, item: JsonObject) -> None:
        place = self._place(data)
        self._done.add(place)
        call = self._by_item.get(place)
        if call is None:
            return
        if call.id and item.get("call_id") != call.id:
            self.fault("call-ids", "a call has another id when it is done", "T08")
        final = str(item.get("arguments") or "")
        if final != call.arguments:
            self.fault("arguments", "the arguments of a done call are not those of its deltas", "T21")
        call.pieces = [final]

    def _place(self, data: JsonObject) -> int:
        """The item that an event belongs to."""
        place = as_int(data.get("output_index"))
        if place is None or not 0 <= place < len(self._items):
            self.fault("order", f"{data.get('type')} belongs to no output item")
            return -1
        own = as_object(data.get("item")).get("id") if "item" in data else data.get("item_id")
        if own != self._items[place].get("id"):
            self.fault("order", f"{data.get('type')} names another item than its output_index")
        return place

    def _ended(self, kind: str, response: JsonObject) -> None:
        self.ended = True
        status = str(response.get("status") or "")
        if status != _TERMINAL[kind]:
            self.fault("finish", f"{kind} with the status {quoted(status, 40)}")
        if kind == "response.failed":
            self.failed(response.get("error") or "the response failed")
            return
        reason = as_object(response.get("incomplete_details")).get("reason")
        self.finish = f"incomplete:{reason}" if kind == "response.incomplete" else "completed"
        listed = len(as_objects(response.get("output")))
        if listed != len(self._items):
            self.fault("order", f"{kind} lists {listed} of {len(self._items)} output items")
        usage = as_object(response.get("usage"))
        if usage:
            self.tokens = self.count(usage, "input_tokens", "output_tokens")
            self.count_reasoning(usage.get("output_tokens_details"))
