"""Reads streams of Amazon Bedrock Converse.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from typing import Any, ClassVar, Literal

import msgspec

from heald.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from heald.core.messages import CitedRange
from heald.core.turn import StopReason, Usage
from heald.wires import converse_request
from heald.wires.amazon_framing import AmazonEventParser
from heald.wires.audio import check_converse_audio
from heald.wires.converse_request import NAME
from heald.wires.decoder import Decoder
from heald.wires.errors import error_from_object
from heald.wires.finished_call import replayable_input
from heald.wires.framing import StreamFraming
from heald.wires.open_block import OpenBlock
from heald.wires.server_tools import ServerCall, ServerResult, parse_server_input
from heald.wires.service_tier import read_tier
from heald.wires.usage_counts import as_count
from heald.wires.wire import Wire
from heald.wires.writer import join_base64

_SHOWN = frozenset(("text", "json"))


class _ConverseEvent(msgspec.Struct):
    contentBlockIndex: int = 0  # noqa: N815
    start: JsonObject | None = None
    delta: JsonObject | None = None
    stopReason: str | None = None  # noqa: N815
    usage: JsonObject | None = None
    serviceTier: Any = None  # noqa: N815
    error: Any = None


_events = msgspec.json.Decoder(_ConverseEvent)


class ConverseDecoder(Decoder):
    __slots__ = ("_calls", "_content", "_pictures", "_server_calls", "_server_results")

    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "model_context_window_exceeded": "max_tokens",
        "stop_sequence": "stop_sequence",
        "guardrail_intervened": "content_filter",
        "content_filtered": "content_filter",
    }

    def _init_state(self) -> None:
        self._content: dict[int, JsonObject] = {}  # the blocks in the form of the API, by index
        self._calls: dict[int, OpenBlock] = {}
        self._pictures: dict[int, tuple[str, list[str]]] = {}  # the format and the pieces of the data
        self._server_calls: dict[int, tuple[str, str, list[str]]] = {}
        self._server_results: dict[int, tuple[str, str, list[str], bool]] = {}

    def _new_framing(self) -> StreamFraming:
        return AmazonEventParser()

    def _read_event(self, data: bytes, event: str) -> None:
        if self.done:
            return
        read = self._decode(_events, data)
        if read is None:
            return
        match event:
            case "contentBlockDelta" if read.delta is not None:
                self._read_delta(read.contentBlockIndex, read.delta)
            case "contentBlockStart" if read.start is not None:
                self._read_start(read.contentBlockIndex, read.start)
            case "messageStop":
                self.provider_stop_reason = read.stopReason or "end_turn"
            case "metadata":
                self.provider_usage = read.usage
                self.usage = parse_usage(as_object(read.usage), read_tier(as_object(read.serviceTier).get("type")))
                self.done = self.provider_stop_reason is not None
            case "exception":
                self._fail(error_from_object({"error": read.error}))
            case "contentBlockStop":
                self._report_server_tool(read.contentBlockIndex)
            case "messageStart":
                pass
            case _:
                self._ignore(data)

    def _read_start(self, index: int, start: JsonObject) -> None:
        use = as_object(start.get("toolUse"))
        outcome = as_object(start.get("toolResult"))
        if use.get("type") == "server_tool_use":
            self._server_calls[index] = (str(use.get("toolUseId") or ""), str(use.get("name") or ""), [])
            return
        if outcome:
            failed = outcome.get("status") == "error"
            self._server_results[index] = (
                str(outcome.get("toolUseId") or ""),
                str(outcome.get("type") or ""),
                [],
                failed,
            )
            return
        if picture := as_object(start.get("image")):
            self._pictures[index] = (str(picture.get("format") or "png"), [])
        if not use:
            return
        call = self._start_call(str(use.get("toolUseId") or ""), str(use.get("name") or ""))
        self._announce(call)
        self._calls[index] = call
        self._content[index] = {"toolUse": {"toolUseId": call.wire_id or call.call_id, "name": call.name}}

    def _read_delta(self, index: int, delta: JsonObject) -> None:
        if isinstance(text := delta.get("text"), str):
            self._add_text(text)
            block = self._content.setdefault(index, {"text": ""})
            block["text"] = block.get("text", "") + text
        elif index in self._server_calls and "toolUse" in delta:
            self._server_calls[index][2].append(str(as_object(delta["toolUse"]).get("input") or ""))
        elif index in self._server_results and "toolResult" in delta:
            self._server_results[index][2].extend(_result_texts(delta["toolResult"]))
        elif (call := self._calls.get(index)) is not None and "toolUse" in delta:
            self._add_arguments(call, str(as_object(delta["toolUse"]).get("input") or ""))
        elif "reasoningContent" in delta:
            self._read_reasoning(index, as_object(delta["reasoningContent"]))
        elif "citation" in delta:
            self._read_citation(as_object(delta["citation"]))
        elif "image" in delta:
            self._read_picture(index, as_object(delta["image"]))

    def _read_picture(self, index: int, delta: JsonObject) -> None:
        data = as_object(delta.get("source")).get("bytes")
        if isinstance(data, str) and data:
            self._pictures.setdefault(index, ("png", []))[1].append(data)
        elif delta.get("error"):
            self._note(f"The provider made no picture: {as_object(delta['error']).get('message')}")

    def _report_server_tool(self, index: int) -> None:
        """Emit the picture, or the call or result of a tool that the provider runs, when its block ends."""
        if index in self._pictures:
            kind, data = self._pictures.pop(index)
            if data:
                self._add_media(f"image/{kind}", join_base64(data))
        if index in self._server_calls:
            call_id, name, pieces = self._server_calls.pop(index)
            self._add_server_call(ServerCall(call_id, name, parse_server_input("".join(pieces))))
        elif index in self._server_results:
            call_id, name, texts, failed = self._server_results.pop(index)
            self._add_server_result(ServerResult(call_id, name, "\n".join(texts), (), failed))

    def _read_reasoning(self, index: int, delta: JsonObject) -> None:
        block = self._content.setdefault(index, {"reasoningContent": {}})
        content = as_object(block.get("reasoningContent"))
        if "redactedContent" in delta:
            block["reasoningContent"] = {"redactedContent": delta["redactedContent"]}
            return
        text = dict(as_object(content.get("reasoningText"))) or {"text": ""}
        if delta.get("text"):
            self._add_thinking(str(delta["text"]))
            text["text"] += str(delta["text"])
        if delta.get("signature"):
            text["signature"] = text.get("signature", "") + str(delta["signature"])
        block["reasoningContent"] = {"reasoningText": text}

    def _read_citation(self, citation: JsonObject) -> None:
        web = as_object(as_object(citation.get("location")).get("web"))
        quotes = [str(part["text"]) for part in as_objects(citation.get("sourceContent")) if part.get("text")]
        title = str(citation.get("title") or citation.get("source") or "")
        self._add_source(title, web.get("url"), " ".join(quotes) or None, _cited_range(citation))

    def _build_native(self) -> list[JsonObject]:
        content: list[JsonObject] = []
        for index in sorted(self._content):
            block = self._content[index]
            call = self._calls.get(index)
            if call is not None and call.calls:
                block = {"toolUse": block["toolUse"] | {"input": replayable_input(call.calls[0])}}
            if block.get("text") != "":
                content.append(block)
        return content


_RANGES: dict[str, Literal["page", "character", "block"]] = {
    "documentPage": "page",
    "documentChar": "character",
    "documentChunk": "block",
    "searchResultLocation": "block",
}


def _cited_range(citation: JsonObject) -> CitedRange | None:
    """Return the pages, characters or chunks of a document that are cited."""
    for name, unit in _RANGES.items():
        place = as_object(as_object(citation.get("location")).get(name))
        start, end = as_int(place.get("start")), as_int(place.get("end"))
        if start is not None and end is not None:
            return CitedRange(unit, start, end)
    return None


def _result_texts(delta: Any) -> list[str]:
    parts = as_objects(delta) if isinstance(delta, list) else [as_object(delta)]
    return [
        str(part["text"]) if "text" in part else encode_text(part["json"]) for part in parts if part.keys() & _SHOWN
    ]


def parse_usage(raw: JsonObject, tier: str | None = None) -> Usage:
    """Usage in disjoint buckets: this API counts cached input apart from `inputTokens`."""
    stored = as_objects(raw.get("cacheDetails"))
    long = sum(as_count(part.get("inputTokens")) or 0 for part in stored if part.get("ttl") == "1h")
    return Usage(
        input=as_count(raw.get("inputTokens")),
        cache_read=as_count(raw.get("cacheReadInputTokens")),
        cache_write=as_count(raw.get("cacheWriteInputTokens")),
        output=as_count(raw.get("outputTokens")),
        cache_write_1h=long or None,
        tier=tier,
    )


WIRE = Wire(
    name=NAME,
    request_path=converse_request.request_path,
    encode_request=converse_request.build_request,
    decoder=ConverseDecoder,
    features=converse_request.FEATURES,
    check_audio=check_converse_audio,
    check_media=converse_request.check_media,
    encode_count=converse_request.encode_count,
)
