"""Reads streams of OpenAI Responses.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, cast

import msgspec

from heald.core.errors import GarbledStream
from heald.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from heald.core.messages import ToolCall
from heald.core.turn import StopReason, TokenLogprob
from heald.wires import responses_request
from heald.wires.audio import STREAMED_AUDIO
from heald.wires.client_items import (
    NOT_RUN,
    describe_open,
    find_open,
    is_client_item,
    read_client_call,
    read_client_output,
)
from heald.wires.decoder import UNREADABLE, Decoder
from heald.wires.errors import error_from_object
from heald.wires.event_order import EventNumbers
from heald.wires.finished_call import replayable_input
from heald.wires.open_block import OpenBlock, replace_halves
from heald.wires.request import legal_name
from heald.wires.responses_request import NAME, encode_call
from heald.wires.responses_usage import parse_usage
from heald.wires.server_tools import ServerCall, ServerResult, read_provider_item, read_responses_item
from heald.wires.wire import Wire
from heald.wires.writer import PARALLEL

_DIFFERS = "The text that was streamed differs from the finished text; parts were lost or came twice. Try again."
_REPLACED = "The text that was streamed differed from the finished text twice; this is the finished text."
_UNSHOWN = frozenset(
    (
        *("compaction", "additional_tools", "mcp_list_tools", "mcp_approval_response"),
        *("function_call_output", "custom_tool_call_output"),
    )
)
"""Items that hold nothing for a reader. Like all items, they are sent back."""
_TERMINAL = ("response.completed", "response.incomplete", "response.failed")


class _Event(msgspec.Struct, gc=False):
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
    object: Any = None
    sequence_number: Any = None


class _TextEvent(msgspec.Struct, gc=False):
    """An event that is nothing but a piece of text."""

    type: Literal["response.output_text.delta"]
    delta: str
    output_index: int
    sequence_number: int | None = None


_events = msgspec.json.Decoder(_Event)
_text_events = msgspec.json.Decoder(_TextEvent)


class _Item:
    """An output item while it arrives: its last known content, and the block that was made of it."""

    def __init__(self, content: JsonObject) -> None:
        self.content = content
        self.call: OpenBlock | None = None
        self.pieces: list[str] = []  # of its text, thinking, or free-text input
        self.done = False


class ResponsesDecoder(Decoder):
    __slots__ = ("_at", "_items", "_next_number", "_numbers", "_text_at", "_thinking_part")

    wire = NAME
    needs_terminal = True
    stop_reasons: ClassVar[dict[str, StopReason]] = {  # pyrefly: ignore[bad-assignment]
        "completed": "end_turn",
        **dict.fromkeys(("incomplete:max_output_tokens", "incomplete:max_tokens"), "max_tokens"),
        "incomplete:content_filter": "content_filter",
    }

    def _init_state(self) -> None:
        self._items: list[_Item] = []
        self._at: dict[Any, _Item] = {}  # the latest item at an output index, or of an id where there is no index
        self._text_at: Any = None  # the place of the item that the last piece of text was of
        self._thinking_part: Any = None  # the summary or content part that thinking comes from now
        self._numbers = EventNumbers()
        self._next_number = -1

    def _read_event(self, data: bytes, event: str) -> None:
        try:
            read = _events.decode(data)
        except UNREADABLE:
            read = self._decode_slowly(_events, data)
        if read is None:
            return
        kind = read.type or event
        if read.sequence_number == self._next_number:
            self._next_number += 1
        elif read.sequence_number is not None and kind != "error":
            if not self._numbers.accept(read.sequence_number, self._next_number, data):
                return
            self._next_number = self._numbers.next
        if self.done and kind not in _TERMINAL:
            return
        key = read.item_id if read.output_index is None else read.output_index
        if read.object == "response":  # an answer that was not streamed
            self._read_end(self._parse_object(data))
        elif (reader := self._readers.get(kind)) is not None:
            reader(self, read, key)
        elif kind.startswith("response.") or kind in ("keepalive", "ping"):
            return
        elif not self._fail_if_error(data):
            self._ignore(data)

    def _on_text(self, read: _Event, key: Any) -> None:
        if read.delta and type(read.delta) is str:
            self._text_at = key
            self._add_open_text(read.delta)

    def _on_arguments(self, read: _Event, key: Any) -> None:
        call = self._item_at(key).call
        if call is not None and isinstance(read.delta, str) and read.delta:
            self._add_arguments(call, read.delta)

    def _on_reasoning(self, read: _Event, key: Any) -> None:
        if isinstance(read.delta, str) and read.delta:
            self._read_reasoning(self._item_at(key), key, read)

    def _on_refusal(self, read: _Event, key: Any) -> None:
        if isinstance(read.delta, str) and read.delta:
            if self._waits_for_text:
                self.held_back += len(read.delta)
            self._item_at(key).pieces.append(read.delta if self._waits_for_text else self._add_refusal(read.delta))

    def _on_transcript(self, read: _Event, key: Any) -> None:
        if isinstance(read.delta, str) and read.delta:
            self._add_text(read.delta)

    def _on_audio(self, read: _Event, key: Any) -> None:
        if isinstance(read.delta, str) and read.delta:
            self._add_media(STREAMED_AUDIO, read.delta)

    def _on_free_input(self, read: _Event, key: Any) -> None:
        if isinstance(read.delta, str) and read.delta:
            self._add_free_input(self._item_at(key), read.delta)

    def _on_item(self, read: _Event, key: Any) -> None:
        if read.item is not None:
            self._close_block()
            self._add_item(_item_key(read), read.item)

    def _on_item_done(self, read: _Event, key: Any) -> None:
        if read.item is not None:
            self._read_item_done(_item_key(read), read.item)

    def _on_arguments_done(self, read: _Event, key: Any) -> None:
        call = self._item_at(key).call
        if call is not None and read.arguments is not None:
            self._replace_arguments(call, _argument_text(read.arguments))

    def _on_annotation(self, read: _Event, key: Any) -> None:
        self._read_annotation(read.annotation)

    def _on_begin(self, read: _Event, key: Any) -> None:
        if read.response is not None:
            self.response_id, self.response_model = read.response.get("id"), read.response.get("model")

    def _on_end(self, read: _Event, key: Any) -> None:
        if read.response is not None:
            self._read_end(read.response, read.type.removeprefix("response."))

    def _on_error(self, read: _Event, key: Any) -> None:
        self._fail(error_from_object({"error": read.error} if read.error else msgspec.to_builtins(read)))

    # pyrefly: ignore[bad-assignment]
    _readers: ClassVar[dict[str, Callable[["ResponsesDecoder", _Event, Any], None]]] = {
        "response.created": _on_begin,
        "response.in_progress": _on_begin,
        "response.queued": _on_begin,
        "response.output_item.added": _on_item,
        "response.output_text.delta": _on_text,
        "response.output_text.annotation.added": _on_annotation,
        "response.refusal.delta": _on_refusal,
        "response.audio.delta": _on_audio,
        "response.audio.transcript.delta": _on_transcript,
        "response.reasoning_summary_text.delta": _on_reasoning,
        "response.reasoning_text.delta": _on_reasoning,
        "response.function_call_arguments.delta": _on_arguments,
        "response.function_call_arguments.done": _on_arguments_done,
        "response.custom_tool_call_input.delta": _on_free_input,
        "response.output_item.done": _on_item_done,
        **dict.fromkeys(_TERMINAL, _on_end),
        "error": _on_error,
    }
    """The readers of events by type. All others of the API bring nothing new."""

    def _read_text_only(self, data: bytes) -> str | None:
        try:
            read = _text_events.decode(data)
        except UNREADABLE:
            return None
        number = read.sequence_number
        if read.output_index != self._text_at or number not in (self._next_number, None):
            return None
        if number is not None:
            self._next_number += 1
        return read.delta

    def _add_open_text(self, text: str) -> None:
        item = self._item_at(self._text_at)
        if self._waits_for_text:
            self.held_back += len(text)
            item.pieces.append(text)
        else:
            item.pieces.append(self._add_text(text))

    def _parse_logprobs(self, event: JsonObject) -> list[TokenLogprob]:
        from heald.wires.logprobs import parse_openai_logprobs

        if event.get("type") == "response.output_text.delta":
            return parse_openai_logprobs(event.get("logprobs"))
        if event.get("object") != "response":
            return []
        parts = (part for item in as_objects(event.get("output")) for part in as_objects(item.get("content")))
        return [logprob for part in parts for logprob in parse_openai_logprobs(part.get("logprobs"))]

    def _item_at(self, key: Any) -> _Item:
        """The item that an event refers to. One that was never announced is added."""
        item = self._at.get(key if type(key) is int else _hashable(key))
        return item if item is not None else self._add_item(key, {})

    def _add_item(self, key: Any, content: JsonObject) -> _Item:
        item = _Item(content)
        self._items.append(item)
        self._at[_hashable(key)] = item
        self._open_call(item)
        return item

    def _open_call(self, item: _Item) -> OpenBlock | None:
        """The call of an item, if it is one. It is announced as soon as it has a name."""
        content = item.content
        if content.get("type") not in ("function_call", "custom_tool_call"):
            return None
        name = str(content.get("name") or "")
        if item.call is None:
            item.call = self._start_call(str(content.get("call_id") or content.get("id") or ""), name)
        if not item.call.started:
            item.call.name = item.call.name or name
            if item.call.name and item.call.name != PARALLEL:
                self._add_arguments(item.call, "")
        return item.call

    def _read_item_done(self, key: Any, content: JsonObject) -> None:
        """Read a finished item: emit what the deltas left out, keep what they sent."""
        item = self._at.get(_hashable(key))
        if item is None or (item.done and _item_id(item.content) != _item_id(content)):
            item = self._add_item(key, content)
        item.content, item.done = content, True
        match content.get("type"):
            case "function_call":
                self._replace_arguments(
                    cast(OpenBlock, self._open_call(item)), _argument_text(content.get("arguments"))
                )
            case "custom_tool_call":
                self._open_call(item)
                self._add_free_input(item, str(content.get("input") or "")[len("".join(item.pieces)) :])
                self._add_arguments(cast(OpenBlock, item.call), '"}')
            case "message":
                self._read_message_done(item)
            case "reasoning" if not item.pieces:
                for number, part in enumerate(as_objects(content.get("summary") or content.get("content"))):
                    if isinstance(part.get("text"), str) and part["text"]:
                        self._read_reasoning(item, key, _Event(delta=part["text"], summary_index=number))
            case _:
                self._read_server_tool(content)
        self._close_block()

    def _read_server_tool(self, content: JsonObject) -> None:
        """Read a finished call of a tool that the provider ran."""
        if is_client_item(content):
            self._add_server_call(read_client_call(content))
        elif (output := read_client_output(content)) is not None:
            self._add_server_result(output)
        elif (call_and_result := read_responses_item(content)) is not None:
            self._add_server_call(call_and_result[0])
            self._add_server_result(call_and_result[1])
        elif isinstance(provider_item := read_provider_item(content), ServerCall):
            self._add_server_call(provider_item)
        elif provider_item is not None:
            self._add_server_result(self._pair_search(provider_item, content))
        else:
            self._note_unshown(content)
        if content.get("type") == "image_generation_call" and isinstance(content.get("result"), str):
            self._add_media(f"image/{content.get('output_format') or 'png'}", content["result"])

    def _pair_search(self, result: ServerResult, content: JsonObject) -> ServerResult:
        """Give the result of a search for tools the id of the search: those that the provider runs have no call id."""
        searches = [item.content.get("id") for item in self._items if item.content.get("type") == "tool_search_call"]
        if content.get("call_id") or not searches:
            return result
        return msgspec.structs.replace(result, id=str(searches[-1] or ""))

    def _note_unshown(self, content: JsonObject) -> None:
        """Say that an item is not shown, or that the tools of an MCP server could not be listed."""
        kind = content.get("type")
        if kind == "mcp_list_tools" and content.get("error"):
            self._note(f"The MCP server {content.get('server_label')} did not list its tools: {content['error']}")
        elif isinstance(kind, str) and kind and kind not in _UNSHOWN and kind != "reasoning":
            self._note(f"The answer holds an item of the type {kind}, which Heald does not show.")

    def _read_message_done(self, item: _Item) -> None:
        if self._current is not None and self._current.half:
            self._close_block()  # with U+FFFD in place of the half, as in the finished text below
            item.pieces.append("\ufffd")
        streamed = "".join(item.pieces)
        if self._waits_for_text:
            self._add_finished_text(item, streamed)
            return
        for part in as_objects(item.content.get("content")):
            whole = str(part.get("text") or part.get("refusal") or "")
            if self._has_surrogates:
                whole = replace_halves(whole)
            if streamed.startswith(whole):
                streamed = streamed[len(whole) :]
            elif whole.startswith(streamed):
                (self._add_refusal if part.get("type") == "refusal" else self._add_text)(whole[len(streamed) :])
                streamed = ""
            else:
                raise GarbledStream(_DIFFERS, text_differs=True)
            for note in as_objects(part.get("annotations")):
                self._read_annotation(note)
        if streamed:
            raise GarbledStream(_DIFFERS, text_differs=True)

    def _add_finished_text(self, item: _Item, streamed: str) -> None:
        """Add the finished text of a message, whatever was streamed. A note says if they differ."""
        whole = ""
        for part in as_objects(item.content.get("content")):
            text = str(part.get("text") or part.get("refusal") or "")
            if text:
                (self._add_refusal if part.get("type") == "refusal" else self._add_text)(text)
            for note in as_objects(part.get("annotations")):
                self._read_annotation(note)
            whole += text
        if streamed and streamed != whole:
            self._note(_REPLACED)

    def _read_reasoning(self, item: _Item, key: Any, read: _Event) -> None:
        """Add thinking. Summary parts are paragraphs, separated by a blank line."""
        part = (key, read.summary_index, read.content_index)
        if self._thinking_part is not None and self._thinking_part != part:
            self._add_thinking("\n\n")
        self._thinking_part = part
        item.pieces.append(self._add_thinking(read.delta))

    def _add_free_input(self, item: _Item, text: str) -> None:
        """Add free text as JSON arguments, `{"input": …}`, while it arrives."""
        if item.call is None:
            return
        if not item.pieces:
            self._add_arguments(item.call, '{"input":"')
        item.pieces.append(text)
        self._add_arguments(item.call, encode_text(text)[1:-1])

    def _read_annotation(self, note: Any) -> None:
        note = as_object(note)
        match note.get("type"):
            case "url_citation":
                span = as_int(note.get("start_index")), as_int(note.get("end_index"))
                self._add_source(str(note.get("title") or ""), note.get("url"), span=span)
            case "file_citation" | "container_file_citation" if note.get("filename"):
                self._add_source(str(note["filename"]), None)
            case "file_path" if note.get("file_id"):
                self._add_source(str(note["file_id"]), None)
            case _:
                pass

    def _read_end(self, response: JsonObject, status: str = "completed") -> None:
        """Read the finished response. `status` is that of its event, for a response that has none."""
        self.response_id = self.response_id or response.get("id")
        self.response_model = self.response_model or response.get("model")
        if usage := as_object(response.get("usage")):
            self.provider_usage = usage
        status = str(response.get("status") or status or "completed")
        for index, content in enumerate(as_objects(response.get("output"))):
            item = self._at.get(index)
            if item is None and any(i.content.get("id") == content.get("id") for i in self._items):
                continue
            if item is None or not item.done:  # only announced so far: this is its final content
                self._read_item_done(index, content)
        if self.provider_usage is not None:
            self.usage = parse_usage(response, [item.content for item in self._items])
        if status == "incomplete":
            reason = as_object(response.get("incomplete_details")).get("reason")
            status = f"incomplete:{reason}" if reason else status
        self.provider_stop_reason = status
        self.done = True
        if self._numbers.gap is not None and not response.get("output"):  # nothing shows what was lost
            raise self._numbers.gap
        if status in ("failed", "cancelled"):
            self._fail(error_from_object({"error": response.get("error") or {"message": f"response {status}"}}))

    def _flush(self) -> None:
        for item in find_open([item.content for item in self._items]):
            call = read_client_call(item)
            self._add_server_result(ServerResult(call.id, call.name, NOT_RUN, (), True))
            self._note(describe_open(item))

    def _build_native(self) -> list[JsonObject]:
        items: list[JsonObject] = []
        for item in self._items:
            if item.call is None:
                items += [item.content] if item.content else []
            elif item.call.name == PARALLEL:
                items += [encode_call(call, call.id) for call in item.call.calls]
            else:
                items += [_merge_call(item.content, call) for call in item.call.calls]
        return items


def _merge_call(content: JsonObject, call: ToolCall) -> JsonObject:
    content = content | {"call_id": call.wire_id or call.id, "name": legal_name(call.name)}
    if content.get("type") == "function_call" and (call.invalid or not isinstance(content.get("arguments"), str)):
        content["arguments"] = encode_text(replayable_input(call))
    return content


def _item_key(read: _Event) -> Any:
    return read.output_index if read.output_index is not None else (read.item or {}).get("id")


def _hashable(key: Any) -> Any:
    return key if isinstance(key, int | str) else None


def _item_id(content: JsonObject) -> Any:
    return content.get("call_id") or content.get("id")


def _argument_text(arguments: Any) -> str:
    """Arguments as text: a string in the API's documentation, an object on some servers."""
    return arguments if isinstance(arguments, str) else encode_text(as_object(arguments))


WIRE = Wire(
    name=NAME,
    request_path=responses_request.request_path,
    encode_request=responses_request.build_request,
    decoder=ResponsesDecoder,
    features=responses_request.FEATURES,
    encode_count=responses_request.encode_count,
    encode_compaction=responses_request.encode_compaction,
)
