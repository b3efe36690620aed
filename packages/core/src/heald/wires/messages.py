"""Reads streams of Anthropic Messages.

https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from typing import Any, ClassVar, Literal

import msgspec

from heald.core.errors import GarbledStream
from heald.core.json import JsonObject, as_int, as_list, as_object, as_objects, encode_text
from heald.core.messages import CitedRange, ToolCall
from heald.core.turn import StopReason, Usage
from heald.wires import messages_request
from heald.wires.decoder import UNREADABLE, Decoder
from heald.wires.event_order import NO_INDEX, BlockOrder
from heald.wires.finished_call import replayable_input
from heald.wires.messages_request import CONTAINER, NAME, is_programmatic
from heald.wires.messages_usage import parse_usage
from heald.wires.open_block import OpenBlock
from heald.wires.request import legal_name
from heald.wires.server_tools import ServerCall, parse_server_input, read_messages_result
from heald.wires.wire import Wire
from heald.wires.writer import PARALLEL


class _Delta(msgspec.Struct, gc=False):
    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    signature: str = ""
    citation: Any = None
    content: Any = None
    encrypted_content: Any = None
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Any = None
    container: Any = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    index: int = NO_INDEX
    delta: _Delta | None = None
    content_block: JsonObject | None = None
    message: JsonObject | None = None
    usage: JsonObject | None = None
    error: Any = None


class _TextDelta(msgspec.Struct, gc=False):
    type: Literal["text_delta"]
    text: str


class _TextEvent(msgspec.Struct, gc=False):
    """An event that is nothing but a piece of text."""

    type: Literal["content_block_delta"]
    index: int
    delta: _TextDelta


_events = msgspec.json.Decoder(_Event)
_text_events = msgspec.json.Decoder(_TextEvent)


_READ_LATER = frozenset(
    ("text", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "mcp_tool_listing", "compaction", "")
)
"""Blocks whose content comes in deltas, or holds nothing for a reader."""


class MessagesDecoder(Decoder):
    __slots__ = ("_calls", "_container", "_content", "_explanations", "_has_final_usage", "_order", "_pieces")

    wire = NAME
    needs_terminal = True
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "model_context_window_exceeded": "max_tokens",
        "stop_sequence": "stop_sequence",
        "refusal": "refusal",
        "pause_turn": "pause_turn",
        "compaction": "pause_turn",
    }

    def _init_state(self) -> None:
        self._content: dict[int, JsonObject] = {}
        self._pieces: dict[int, list[str]] = {}  # of the text, thinking or server-side arguments at an index
        self._calls: dict[int, OpenBlock] = {}
        self._order = BlockOrder()
        self._has_final_usage = False
        self._container: JsonObject = {}
        self._explanations: list[str] = []  # of a refusal

    def _is_complete(self) -> bool:
        """A message with a stop reason and its final usage is complete, also where `message_stop` is missing."""
        return super()._is_complete() or (self.provider_stop_reason is not None and self._has_final_usage)

    def _read_event(self, data: bytes, event: str) -> None:
        try:
            read = _events.decode(data)
        except UNREADABLE:
            read = self._decode_slowly(_events, data)
        if read is None:
            return
        kind = read.type or event
        if kind == "content_block_delta" and read.delta is not None:
            if not self.done:
                order, index = self._order, read.index
                self._read_delta(index if index == order.open else order.find(index), read.delta)
        elif kind == "content_block_start" and read.content_block is not None:
            if not self.done:
                index = self._order.start(read.index, read.content_block, self._has_content(self._order.open))
                if index is not None:
                    self._read_block_start(index, read.content_block)
        elif kind == "content_block_stop":
            if (index := self._order.stop(read.index)) is not None:
                self._read_block_stop(index)
        elif kind == "message_start" and read.message is not None:
            self._start_message(read.message)
        elif kind == "message_delta":
            self._read_usage(read.usage)
            self._has_final_usage = bool(read.usage)
            if read.delta is not None and read.delta.stop_reason:
                self.provider_stop_reason = read.delta.stop_reason
            if read.delta is not None:
                self._read_stop_details(read.delta.stop_details, read.delta.container)
        elif kind == "message_stop":
            self.done = True
        elif read.type == "message":  # an answer that was not streamed
            self._read_message(message := self._parse_object(data))
            self.provider_stop_reason = str(message.get("stop_reason") or "end_turn")
            self.done = True
        elif kind != "ping" and not self._fail_if_error(data):
            self._ignore(data)

    def _read_text_only(self, data: bytes) -> str | None:
        try:
            read = _text_events.decode(data)
        except UNREADABLE:
            return None
        return read.delta.text if read.index == self._order.open else None

    def _add_open_text(self, text: str) -> None:
        assert self._order.open is not None
        self._append_piece(self._order.open, self._add_text(text))

    def _start_message(self, message: JsonObject) -> None:
        if self._content:
            raise GarbledStream("The stream began once more in the middle of the message; try again.")
        if self.response_id is None:
            self._read_message(message)

    def _read_message(self, message: JsonObject) -> None:
        """Read the head of a message. Its blocks, if it has any, precede the streamed ones."""
        self.response_id, self.response_model = message.get("id"), message.get("model")
        self._read_usage(as_object(message.get("usage")))
        if isinstance(message.get("stop_reason"), str):
            self.provider_stop_reason = message["stop_reason"]
        blocks = as_objects(message.get("content"))
        for index, block in enumerate(blocks, NO_INDEX - len(blocks)):
            self._read_block_start(index, block)
            for citation in as_list(block.get("citations")):
                self._read_citation(citation)
            self._read_block_stop(index)
        self._read_stop_details(message.get("stop_details"), message.get("container"))

    def _read_stop_details(self, details: Any, container: Any) -> None:
        """Read the container of the message's code, and the explanation of a refusal."""
        if container is not None:
            self._container = as_object(container)
        explanation = as_object(details).get("explanation")
        if isinstance(explanation, str) and explanation and explanation not in self._explanations:
            self._explanations.append(explanation)
            self._add_refusal(explanation)

    def _read_block_start(self, index: int, block: JsonObject) -> None:
        self._content[index] = block
        match block.get("type"):
            case "tool_use":
                call = self._start_call(str(block.get("id") or ""), str(block.get("name") or ""))
                self._calls[index] = call
                if call.name and call.name != PARALLEL:
                    self._announce(call)
            case "text" if isinstance(block.get("text"), str) and block["text"]:
                self._append_piece(index, self._add_text(block["text"]))
            case "thinking" if isinstance(block.get("thinking"), str) and block["thinking"]:
                self._append_piece(index, self._add_thinking(block["thinking"]))
            case "fallback":
                declined, answered = (as_object(block.get(side)).get("model") for side in ("from", "to"))
                self._note(f"The model {declined} declined, and {answered} continued the answer.")
            case "container_upload":
                self._note(f"The provider stored the file {block.get('file_id')} in the container of its code.")
            case kind:
                if (result := read_messages_result(block)) is not None:
                    self._add_server_result(result)
                elif isinstance(kind, str) and kind not in _READ_LATER:
                    self._note(f"The answer holds a block of the type {kind}, which Heald does not show.")

    def _read_delta(self, index: int, delta: _Delta) -> None:
        block = self._content[index]
        match delta.type:
            case "text_delta":
                if delta.text:
                    self._append_piece(index, self._add_text(delta.text))
            case "input_json_delta":
                if not delta.partial_json:
                    return
                if index in self._calls:
                    self._add_arguments(self._calls[index], delta.partial_json)
                else:
                    self._append_piece(index, delta.partial_json)
            case "thinking_delta":
                if delta.thinking:
                    self._append_piece(index, self._add_thinking(delta.thinking))
            case "signature_delta":
                block["signature"] = delta.signature
            case "citations_delta":
                block["citations"] = [*as_list(block.get("citations")), delta.citation]
                self._read_citation(delta.citation)
            case "compaction_delta":
                block["content"] = delta.content
                if delta.encrypted_content is not None:
                    block["encrypted_content"] = delta.encrypted_content
            case _:
                self._ignore(delta.type.encode("utf-8", "replace"))

    def _has_content(self, index: int | None) -> bool:
        return index in self._pieces or (index in self._calls and bool(self._calls[index].parts))

    def _append_piece(self, index: int, piece: str) -> None:
        pieces = self._pieces.get(index)
        if pieces is None:
            self._pieces[index] = [piece]
        else:
            pieces.append(piece)

    def _read_block_stop(self, index: int) -> None:
        call = self._calls.get(index)
        if call is None:
            self._close_block()
            self._report_server_call(index)
            return
        if not call.text.strip():
            arguments = self._content[index].get("input")
            self._add_arguments(call, encode_text(arguments) if arguments else "{}")
        if call.started:
            self._close(call)

    def _report_server_call(self, index: int) -> None:
        """Emit the call of a tool that the provider runs, once its arguments are complete."""
        block = self._content.get(index, {})
        if block.get("type") not in ("server_tool_use", "mcp_tool_use"):
            return
        written = "".join(self._pieces.get(index, ()))
        arguments = parse_server_input(written) if written else block.get("input")
        self._add_server_call(
            ServerCall(str(block.get("id") or ""), str(block.get("name") or ""), as_object(arguments))
        )

    def _read_citation(self, citation: Any) -> None:
        cited = as_object(citation)
        if cited:
            title = cited.get("title") or cited.get("document_title") or cited.get("source") or ""
            self._add_source(str(title), cited.get("url"), cited.get("cited_text"), _cited_range(cited))

    def _read_usage(self, usage: JsonObject | None) -> None:
        """Merge cumulative figures: a later one replaces an earlier one, a missing one changes nothing."""
        if not usage:
            return
        if self.provider_usage is None:
            self.provider_usage = {}
        for name, figure in usage.items():
            if figure is not None:
                self.provider_usage[name] = figure
        self._usage = None

    def _parse_usage(self, reported: JsonObject) -> Usage:
        return parse_usage(reported)

    def _build_native(self) -> list[JsonObject]:
        content: list[JsonObject] = []
        for index, block in sorted(self._content.items()):
            written = "".join(self._pieces.get(index, ()))
            if index in self._calls:
                content += [block | _call_fields(call) for call in self._calls[index].calls]
                continue
            if written and block.get("type") in ("text", "thinking"):
                block[block["type"]] = written
            elif written:
                block["input"] = parse_server_input(written)
            if not _is_unsendable(block):
                content.append(block)
        if any(is_programmatic(block) for block in content) and self._container.get("id"):
            content.append({"type": CONTAINER, "id": self._container["id"]})
        return content


_RANGES: dict[str, Literal["page", "character", "block"]] = {
    "page_number": "page",
    "char_index": "character",
    "block_index": "block",
}


def _cited_range(citation: JsonObject) -> CitedRange | None:
    """Return the pages, characters or blocks of a document that are cited."""
    for name, unit in _RANGES.items():
        start, end = as_int(citation.get(f"start_{name}")), as_int(citation.get(f"end_{name}"))
        if start is not None and end is not None:
            return CitedRange(unit, start, end)
    return None


def _call_fields(call: ToolCall) -> JsonObject:
    return {"id": call.wire_id or call.id, "name": legal_name(call.name), "input": replayable_input(call)}


def _is_unsendable(block: JsonObject) -> bool:
    """Blocks that the API sends but does not accept back: unsigned thinking, empty text."""
    match block.get("type"):
        case "thinking":
            return not block.get("signature")
        case "text":
            return not str(block.get("text") or "").strip()
        case _:
            return False


WIRE = Wire(
    name=NAME,
    request_path=messages_request.request_path,
    encode_request=messages_request.build_request,
    decoder=MessagesDecoder,
    features=messages_request.FEATURES,
    encode_headers=messages_request.build_headers,
    headers={"anthropic-version": "2023-06-01"},
    key_header="x-api-key",
    encode_count=messages_request.encode_count,
)
