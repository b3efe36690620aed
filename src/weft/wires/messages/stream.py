"""Messages: the stream of an answer as events."""

from typing import Any, ClassVar

import msgspec

from weft.core.json import JsonObject, as_int, as_object, encode_text, parse_strict
from weft.core.stop import StopReason
from weft.core.tools import ToolCall
from weft.core.usage import Usage
from weft.wires.arguments import wire_input
from weft.wires.blocks import OpenBlock
from weft.wires.decoder import Decoder
from weft.wires.faults import error_from_object
from weft.wires.messages.request import NAME
from weft.wires.request import legal_name
from weft.wires.writer import PARALLEL


class _Delta(msgspec.Struct):
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


class _Event(msgspec.Struct):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: JsonObject | None = None
    message: JsonObject | None = None
    usage: JsonObject | None = None
    error: Any = None


_events = msgspec.json.Decoder(_Event)


class MessagesDecoder(Decoder):
    wire = NAME
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

    def _set_up(self) -> None:
        self._content: dict[int, JsonObject] = {}
        self._pieces: dict[int, list[str]] = {}  # of the text, thinking or server-side arguments at an index
        self._calls: dict[int, OpenBlock] = {}

    def _read(self, data: bytes, event: str) -> None:
        read = self._decode(_events, data)
        if read is None:
            return
        kind = read.type or event
        if kind == "content_block_delta" and read.delta is not None:
            if not self.done:
                self._delta(read.index, read.delta)
        elif kind == "content_block_start" and read.content_block is not None:
            self._block_start(read.index, read.content_block)
        elif kind == "content_block_stop":
            self._block_stop(read.index)
        elif kind == "message_start" and read.message is not None:
            self.response_id, self.response_model = read.message.get("id"), read.message.get("model")
            self._count(as_object(read.message.get("usage")))
        elif kind == "message_delta":
            self._count(read.usage)
            if read.delta is not None and read.delta.stop_reason:
                self.provider_stop_reason = read.delta.stop_reason
        elif kind == "message_stop":
            self.done = True
        elif kind == "error" or read.error:
            self._fail(error_from_object({"error": read.error}))
        elif kind != "ping":
            self._ignore(data)

    def _block_start(self, index: int, block: JsonObject) -> None:
        if self.done:
            return
        self._content[index] = block
        match block.get("type"):
            case "tool_use":
                call = self._call(str(block.get("id") or ""), str(block.get("name") or ""))
                self._calls[index] = call
                if call.name and call.name != PARALLEL:
                    self._start(call)
            case "text" if isinstance(block.get("text"), str) and block["text"]:
                self._keep(index, self._text(block["text"]))
            case "thinking" if isinstance(block.get("thinking"), str) and block["thinking"]:
                self._keep(index, self._thinking(block["thinking"]))
            case _:
                pass

    def _delta(self, index: int, delta: _Delta) -> None:
        block = self._content.get(index)
        if block is None:
            return
        match delta.type:
            case "text_delta":
                if delta.text:
                    self._keep(index, self._text(delta.text))
            case "input_json_delta":
                if not delta.partial_json:
                    return
                if index in self._calls:
                    self._call_text(self._calls[index], delta.partial_json)
                else:
                    self._keep(index, delta.partial_json)
            case "thinking_delta":
                if delta.thinking:
                    self._keep(index, self._thinking(delta.thinking))
            case "signature_delta":
                block["signature"] = delta.signature
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta.citation]
                self._cite(delta.citation)
            case "compaction_delta":
                block["content"] = delta.content
                if delta.encrypted_content is not None:
                    block["encrypted_content"] = delta.encrypted_content
            case _:
                self._ignore(delta.type.encode("utf-8", "replace"))

    def _keep(self, index: int, piece: str) -> None:
        pieces = self._pieces.get(index)
        if pieces is None:
            self._pieces[index] = [piece]
        else:
            pieces.append(piece)

    def _block_stop(self, index: int) -> None:
        call = self._calls.get(index)
        if call is None:
            self._break()
            return
        if not call.text.strip():
            given = self._content[index].get("input")
            self._call_text(call, encode_text(given) if given else "{}")
        if call.started:
            self._stop(call)

    def _cite(self, citation: Any) -> None:
        cited = as_object(citation)
        if cited:
            title = cited.get("title") or cited.get("document_title") or cited.get("source") or ""
            self._source(str(title), cited.get("url"), cited.get("cited_text"))

    def _count(self, usage: JsonObject | None) -> None:
        """Figures are cumulative: a later one replaces an earlier one, a missing one changes nothing."""
        if not usage:
            return
        self.provider_usage = (self.provider_usage or {}) | {k: v for k, v in usage.items() if v is not None}
        self.usage = usage_of(self.provider_usage)

    def _complete(self) -> bool:
        return self.done and self.provider_stop_reason is not None

    def _native(self) -> list[JsonObject]:
        content: list[JsonObject] = []
        for index, block in sorted(self._content.items()):
            written = "".join(self._pieces.get(index, ()))
            if index in self._calls:
                content += [block | _call_fields(call) for call in self._calls[index].calls]
                continue
            if written and block.get("type") in ("text", "thinking"):
                block[block["type"]] = written
            elif written:
                block["input"] = _server_input(written)
            if not _is_unsendable(block):
                content.append(block)
        return content


def _call_fields(call: ToolCall) -> JsonObject:
    return {"id": call.wire_id or call.id, "name": legal_name(call.name), "input": wire_input(call)}


def usage_of(raw: JsonObject) -> Usage:
    output = as_int(raw.get("output_tokens"))
    reasoning = as_int(as_object(raw.get("output_tokens_details")).get("thinking_tokens"))
    if output is not None and reasoning:
        output = max(output - reasoning, 0)
    return Usage(
        input=as_int(raw.get("input_tokens")),
        cache_read=as_int(raw.get("cache_read_input_tokens")),
        cache_write=as_int(raw.get("cache_creation_input_tokens")),
        output=output,
        reasoning=reasoning,
    )


def _server_input(text: str) -> Any:
    try:
        return parse_strict(text)
    except ValueError:
        return {"INVALID_JSON": text}


def _is_unsendable(block: JsonObject) -> bool:
    """Blocks that the API gives out but does not take back: unsigned thinking, empty text."""
    match block.get("type"):
        case "thinking":
            return not block.get("signature")
        case "text":
            return not str(block.get("text") or "").strip()
        case _:
            return False
