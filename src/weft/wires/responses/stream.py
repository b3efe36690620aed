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
from weft.wires.responses.request import NAME, function_call
from weft.wires.writer import PARALLEL

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


class _Item:
    """An output item while it arrives: the provider's last word on it, and what we made of it."""

    def __init__(self, content: JsonObject) -> None:
        self.content = content
        self.call: OpenBlock | None = None
        self.said: list[str] = []  # of its text, thinking, or free-text input
        self.done = False


class ResponsesDecoder(Decoder):
    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "completed": "end_turn",
        "incomplete:content_filter": "content_filter",
    }

    def _set_up(self) -> None:
        self._items: list[_Item] = []
        self._at: dict[Any, _Item] = {}  # the latest item at an output index, or of an id where there is no index
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
                if isinstance(read.delta, str) and read.delta:
                    self._at_key(key).said.append(self._text(read.delta))
            case "response.function_call_arguments.delta":
                call = self._at_key(key).call
                if call is not None and isinstance(read.delta, str) and read.delta:
                    self._call_text(call, read.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                if isinstance(read.delta, str) and read.delta:
                    self._think(self._at_key(key), key, read)
            case "response.refusal.delta":
                if isinstance(read.delta, str) and read.delta:
                    self._at_key(key).said.append(self._refusal(read.delta))
            case "response.custom_tool_call_input.delta":
                if isinstance(read.delta, str) and read.delta:
                    self._free_input(self._at_key(key), read.delta)
            case "response.output_item.added" if read.item is not None:
                self._break()
                self._add(_key(read), read.item)
            case "response.function_call_arguments.done":
                call = self._at_key(key).call
                if call is not None and read.arguments is not None:
                    self._call_replace(call, _argument_text(read.arguments))
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

    def _at_key(self, key: Any) -> _Item:
        """The item that an event speaks of. One that was never announced begins here."""
        item = self._at.get(_hashable(key))
        return item if item is not None else self._add(key, {})

    def _add(self, key: Any, content: JsonObject) -> _Item:
        item = _Item(content)
        self._items.append(item)
        self._at[_hashable(key)] = item
        self._open_call(item)
        return item

    def _open_call(self, item: _Item) -> OpenBlock | None:
        """The call of an item that is one. It is announced as soon as it has a name."""
        content = item.content
        if content.get("type") not in ("function_call", "custom_tool_call"):
            return None
        name = str(content.get("name") or "")
        if item.call is None:
            item.call = self._call(str(content.get("call_id") or content.get("id") or ""), name)
        if not item.call.started:
            item.call.name = item.call.name or name
            if item.call.name and item.call.name != PARALLEL:
                self._call_text(item.call, "")
        return item.call

    def _item_done(self, key: Any, content: JsonObject) -> None:
        """The item as the provider stands by it: what the deltas left out is made up, what they said stays."""
        item = self._at.get(_hashable(key))
        if item is None or (item.done and _name_of(item.content) != _name_of(content)):
            item = self._add(key, content)
        item.content, item.done = content, True
        match content.get("type"):
            case "function_call":
                self._call_replace(cast(OpenBlock, self._open_call(item)), _argument_text(content.get("arguments")))
            case "custom_tool_call":
                self._open_call(item)
                self._free_input(item, str(content.get("input") or "")[len("".join(item.said)) :])
                self._call_text(cast(OpenBlock, item.call), '"}')
            case "message":
                self._message_done(item)
            case "reasoning" if not item.said:
                for number, part in enumerate(as_objects(content.get("summary") or content.get("content"))):
                    if isinstance(part.get("text"), str) and part["text"]:
                        self._think(item, key, _Event(delta=part["text"], summary_index=number))
            case "image_generation_call" if isinstance(content.get("result"), str):
                self._image(f"image/{content.get('output_format') or 'png'}", content["result"])
            case _:
                pass
        self._break()

    def _message_done(self, item: _Item) -> None:
        shown = "".join(item.said)
        for part in as_objects(item.content.get("content")):
            for note in as_objects(part.get("annotations")):
                self._annotate(note)
            whole = str(part.get("text") or part.get("refusal") or "")
            if shown.startswith(whole):
                shown = shown[len(whole) :]
            elif whole.startswith(shown):
                (self._refusal if part.get("type") == "refusal" else self._text)(whole[len(shown) :])
                shown = ""

    def _think(self, item: _Item, key: Any, read: _Event) -> None:
        """Summary parts are paragraphs: a blank line stands between two."""
        part = (key, read.summary_index, read.content_index)
        if self._part is not None and self._part != part:
            self._thinking("\n\n")
        self._part = part
        item.said.append(self._thinking(read.delta))

    def _free_input(self, item: _Item, text: str) -> None:
        """Free text as JSON arguments, `{"input": …}`, while it arrives."""
        if item.call is None:
            return
        if not item.said:
            self._call_text(item.call, '{"input":"')
        item.said.append(text)
        self._call_text(item.call, encode_text(text)[1:-1])

    def _annotate(self, note: Any) -> None:
        note = as_object(note)
        if note.get("type") == "url_citation":
            self._source(str(note.get("title") or ""), note.get("url"))

    def _end_response(self, response: JsonObject) -> None:
        self.response_id = self.response_id or response.get("id")
        self.response_model = self.response_model or response.get("model")
        if usage := as_object(response.get("usage")):
            self.provider_usage = usage
            self.usage = usage_of(usage)
        status = str(response.get("status") or "completed")
        for index, content in enumerate(as_objects(response.get("output"))):
            item = self._at.get(index)
            if item is None and any(i.content.get("id") == content.get("id") for i in self._items):
                continue
            if item is None or not item.done:  # only opened so far: this is its last word
                self._item_done(index, content)
        if status == "incomplete":
            reason = as_object(response.get("incomplete_details")).get("reason")
            status = f"incomplete:{reason}" if reason else status
        self.provider_stop_reason = status
        self.done = True
        if status in ("failed", "cancelled"):
            self._fail(error_from_object({"error": response.get("error") or {"message": f"response {status}"}}))

    def _stop_reason(self, raw: str) -> StopReason:
        """Whatever made it incomplete, it is not to be trusted as whole."""
        return (
            "max_tokens" if raw.startswith("incomplete") and raw not in self.stop_reasons else super()._stop_reason(raw)
        )

    def _complete(self) -> bool:
        return self.done and self.provider_stop_reason is not None

    def _native(self) -> list[JsonObject]:
        items: list[JsonObject] = []
        for item in self._items:
            if item.call is None:
                items += [item.content] if item.content else []
            elif item.call.name == PARALLEL:
                items += [function_call(call, call.id) for call in item.call.calls]
            else:
                items += [_with_call(item.content, call) for call in item.call.calls]
        return items


def _with_call(content: JsonObject, call: ToolCall) -> JsonObject:
    content = content | {"call_id": call.wire_id or call.id, "name": legal_name(call.name)}
    if content.get("type") == "function_call" and (call.invalid or not isinstance(content.get("arguments"), str)):
        content["arguments"] = encode_text(wire_input(call))
    return content


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
    return read.output_index if read.output_index is not None else (read.item or {}).get("id")


def _hashable(key: Any) -> Any:
    return key if isinstance(key, int | str) else None


def _name_of(content: JsonObject) -> Any:
    return content.get("call_id") or content.get("id")


def _argument_text(arguments: Any) -> str:
    """Arguments are a string by the API's word, and an object in some servers'."""
    return arguments if isinstance(arguments, str) else encode_text(as_object(arguments))
