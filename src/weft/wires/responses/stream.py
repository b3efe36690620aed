"""Responses: the stream of an answer as events."""

from typing import Any, ClassVar, cast

import msgspec

from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.core.stop import StopReason
from weft.core.tools import ToolCall
from weft.core.usage import Usage
from weft.wires.arguments import wire_input
from weft.wires.blocks import OpenBlock
from weft.wires.counting import disjoint
from weft.wires.decoder import Decoder
from weft.wires.faults import error_from_object
from weft.wires.request import legal_name
from weft.wires.responses.request import NAME

_TERMINAL = ("response.completed", "response.incomplete", "response.failed")


class _Event(msgspec.Struct):
    type: str = ""
    delta: Any = None
    output_index: Any = None
    item_id: Any = None
    summary_index: Any = None
    content_index: Any = None
    item: JsonObject | None = None
    arguments: Any = None
    input: Any = None
    annotation: Any = None
    response: JsonObject | None = None
    error: Any = None
    message: Any = None
    code: Any = None


_events = msgspec.json.Decoder(_Event)


class ResponsesDecoder(Decoder):
    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "completed": "end_turn",
        "incomplete:max_output_tokens": "max_tokens",
        "incomplete:max_tokens": "max_tokens",
        "incomplete:content_filter": "content_filter",
        "incomplete": "max_tokens",
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._items: dict[Any, JsonObject] = {}  # by output index, or by item id where there is none
        self._calls: dict[Any, OpenBlock] = {}
        self._written: dict[Any, OpenBlock] = {}  # our block of an item's text or thinking
        self._raw_inputs: dict[Any, list[str]] = {}  # of calls to tools that take free text
        self._part: Any = None  # the summary or content part that thinking comes from now

    def _read(self, data: bytes, event: str) -> None:
        read = self._decode(_events, data)
        if read is None:
            return
        kind = read.type or event
        if self.done and kind not in _TERMINAL:
            return
        key = read.item_id if read.output_index is None else read.output_index
        match kind:
            case "response.output_text.delta":
                if read.delta:
                    self._text(read.delta)
                    self._written.setdefault(key, cast(OpenBlock, self._current))
            case "response.function_call_arguments.delta":
                if read.delta and key in self._calls:
                    self._call_text(self._calls[key], read.delta)
            case "response.custom_tool_call_input.delta":
                if read.delta and key in self._calls:
                    self._raw_input(key, read.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                if read.delta:
                    self._think(key, read)
            case "response.refusal.delta":
                if read.delta:
                    self._refusal(read.delta)
                    self._written.setdefault(key, cast(OpenBlock, self._current))
            case "response.output_item.added" if read.item is not None:
                self._item_added(_key(read), read.item)
            case "response.function_call_arguments.done":
                if key in self._calls and isinstance(read.arguments, str):
                    self._call_replace(self._calls[key], read.arguments)
            case "response.output_item.done" if read.item is not None:
                self._item_done(_key(read), read.item)
            case "response.output_text.annotation.added":
                self._annotate(read.annotation)
            case "response.created" | "response.in_progress" | "response.queued" if read.response is not None:
                self.response_id, self.response_model = read.response.get("id"), read.response.get("model")
            case "response.completed" | "response.incomplete" | "response.failed" if read.response is not None:
                self._end_response(read.response)
            case "error":
                self._fail(error_from_object({"error": read.error or msgspec.to_builtins(read)}))
            case _:
                if not kind.startswith("response.") and kind not in ("keepalive", "ping"):
                    self._ignore(data)

    def _item_added(self, key: Any, item: JsonObject) -> None:
        self._items[key] = item
        self._break()
        if item.get("type") in ("function_call", "custom_tool_call"):
            self._call_item(key, item)

    def _call_item(self, key: Any, item: JsonObject) -> OpenBlock:
        call = self._calls.get(key)
        if call is None:
            call = self._call(str(item.get("call_id") or item.get("id") or ""), str(item.get("name") or ""))
            self._calls[key] = call
            if call.name:
                self._start(call)
        return call

    def _item_done(self, key: Any, item: JsonObject) -> None:
        """The item as the provider stands by it: what the deltas left out is made up, what they said stays."""
        self._items[key] = item
        match item.get("type"):
            case "function_call":
                self._call_replace(self._call_item(key, item), str(item.get("arguments") or ""))
            case "custom_tool_call":
                call = self._call_item(key, item)
                self._raw_input(key, str(item.get("input") or "")[len("".join(self._raw_inputs.get(key, ()))) :])
                self._call_text(call, '"}')
            case "message":
                self._message_done(key, item)
            case "reasoning":
                if key not in self._written:
                    self._reasoning_done(key, item)
            case "image_generation_call" if isinstance(item.get("result"), str):
                self._image(f"image/{item.get('output_format') or 'png'}", item["result"])
            case _:
                pass
        self._break()

    def _message_done(self, key: Any, item: JsonObject) -> None:
        for part in as_objects(item.get("content")):
            for note in as_objects(part.get("annotations")):
                self._annotate(note)
            said = str(part.get("text") or part.get("refusal") or "")
            say = self._refusal if part.get("type") == "refusal" else self._text
            written = self._written.get(key)
            shown = written.text if written is not None else ""
            if said.startswith(shown) and len(said) > len(shown):
                say(said[len(shown) :])
            self._break()

    def _reasoning_done(self, key: Any, item: JsonObject) -> None:
        for number, part in enumerate(as_objects(item.get("summary") or item.get("content"))):
            if part.get("text"):
                self._think(key, _Event(delta=part["text"], summary_index=number))

    def _think(self, key: Any, read: _Event) -> None:
        """Summary parts are paragraphs: a blank line stands between two."""
        part = (key, read.summary_index, read.content_index)
        if self._part is not None and self._part != part and self._thought():
            self._thinking("\n\n")
        self._part = part
        self._thinking(read.delta)
        self._written.setdefault(key, cast(OpenBlock, self._current))

    def _thought(self) -> bool:
        return any(block.kind == "thinking" for block in self._blocks)

    def _raw_input(self, key: Any, text: str) -> None:
        """Free text as JSON arguments, `{"input": …}`, while it arrives."""
        if key not in self._raw_inputs:
            self._raw_inputs[key] = []
            self._call_text(self._calls[key], '{"input":"')
        self._raw_inputs[key].append(text)
        self._call_text(self._calls[key], encode_text(text)[1:-1])

    def _annotate(self, note: Any) -> None:
        note = as_object(note)
        if note.get("type") == "url_citation":
            self._source(str(note.get("title") or ""), note.get("url"))

    def _end_response(self, response: JsonObject) -> None:
        self.response_id = self.response_id or response.get("id")
        self.response_model = self.response_model or response.get("model")
        if usage := as_object(response.get("usage")):
            self.provider_usage = usage
            self.usage = usage_of(self.provider_usage)
        status = str(response.get("status") or "completed")
        for index, item in enumerate(as_objects(response.get("output"))):
            if index not in self._items and not any(i.get("id") == item.get("id") for i in self._items.values()):
                self._item_done(index, item)
        if status == "incomplete":
            reason = as_object(response.get("incomplete_details")).get("reason")
            status = f"incomplete:{reason}" if reason else status
        self.provider_stop_reason = status
        self.done = True
        if status in ("failed", "cancelled"):
            self._fail(error_from_object({"error": response.get("error") or {"message": f"response {status}"}}))

    def _complete(self) -> bool:
        return self.done and self.provider_stop_reason is not None

    def _native(self, calls: list[tuple[OpenBlock, ToolCall]]) -> list[JsonObject]:
        by_block = {id(block): call for block, call in calls}
        items: list[JsonObject] = []
        for key, item in sorted(self._items.items(), key=lambda pair: _order(pair[0])):
            if key in self._calls:
                call = by_block[id(self._calls[key])]
                item = item | {"call_id": call.wire_id or call.id, "name": legal_name(call.name)}
                if item.get("type") == "function_call" and call.invalid is not None:
                    item["arguments"] = encode_text(wire_input(call))
            items.append(item)
        return items


def usage_of(raw: JsonObject) -> Usage:
    inward = as_object(raw.get("input_tokens_details"))
    return disjoint(
        prompt=as_int(raw.get("input_tokens")),
        completion=as_int(raw.get("output_tokens")),
        total=as_int(raw.get("total_tokens")),
        cache_read=as_int(inward.get("cached_tokens")),
        cache_write=as_int(inward.get("cache_write_tokens")),
        reasoning=as_int(as_object(raw.get("output_tokens_details")).get("reasoning_tokens")),
    )


def _key(read: _Event) -> Any:
    if read.output_index is not None:
        return read.output_index
    return (read.item or {}).get("id")


def _order(key: Any) -> tuple[int, int]:
    return (key, 0) if isinstance(key, int) else (1 << 30, 0)
