"""generateContent: the stream of an answer as events."""

from typing import Any, ClassVar, cast

import msgspec

from weft.core.errors import GarbledStream
from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.core.stop import StopReason
from weft.core.tools import ToolCall
from weft.core.usage import Usage
from weft.wires.arguments import wire_input
from weft.wires.blocks import OpenBlock
from weft.wires.decoder import Decoder
from weft.wires.faults import error_from_object
from weft.wires.framing import EventsOrArray, Framing
from weft.wires.gemini.request import NAME
from weft.wires.json_path import PathArguments
from weft.wires.request import legal_name


class _Content(msgspec.Struct):
    parts: list[JsonObject] | None = None


class _Candidate(msgspec.Struct):
    index: Any = 0
    content: _Content | None = None
    finishReason: Any = None  # noqa: N815
    finishMessage: Any = None  # noqa: N815
    groundingMetadata: Any = None  # noqa: N815
    citationMetadata: Any = None  # noqa: N815


class _Chunk(msgspec.Struct):
    candidates: list[_Candidate] | None = None
    usageMetadata: JsonObject | None = None  # noqa: N815
    promptFeedback: Any = None  # noqa: N815
    responseId: Any = None  # noqa: N815
    modelVersion: Any = None  # noqa: N815
    error: Any = None


_chunks = msgspec.json.Decoder(_Chunk)


class GeminiDecoder(Decoder):
    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "STOP": "end_turn",
        "MAX_TOKENS": "max_tokens",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "LANGUAGE": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
        "MODEL_ARMOR": "content_filter",
    }
    malformed: ClassVar[frozenset[str]] = frozenset(
        {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"}
    )

    def _set_up(self) -> None:
        self._parts: list[JsonObject] = []
        self._texts: dict[int, list[str]] = {}  # pieces of the text of a part, by its place in _parts
        self._calls: dict[int, OpenBlock] = {}  # by place in _parts
        self._streamed: tuple[int, PathArguments] | None = None  # the call whose arguments come in pieces

    def _new_framing(self) -> Framing:
        return EventsOrArray()

    def _read(self, data: bytes, event: str) -> None:
        chunk = self._decode(_chunks, data)
        if chunk is None:
            return
        if chunk.usageMetadata:
            self.provider_usage = (self.provider_usage or {}) | chunk.usageMetadata
            self.usage = usage_of(self.provider_usage)
        if chunk.error:
            self._fail(error_from_object({"error": chunk.error}))
            return
        self.response_id = self.response_id or chunk.responseId
        self.response_model = self.response_model or chunk.modelVersion
        if chunk.promptFeedback and not chunk.candidates:
            blocked = as_object(chunk.promptFeedback).get("blockReason")
            if isinstance(blocked, str):
                self.provider_stop_reason = blocked if blocked in self.stop_reasons else "PROHIBITED_CONTENT"
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self._candidate(candidate)

    def _candidate(self, candidate: _Candidate) -> None:
        if candidate.content is not None:
            for part in candidate.content.parts or ():
                self._take(part)
        if candidate.finishReason and candidate.finishReason != "FINISH_REASON_UNSPECIFIED":
            self.provider_stop_reason = str(candidate.finishReason)
            if self.provider_stop_reason in self.malformed:
                why = candidate.finishMessage or self.provider_stop_reason
                self._fail(GarbledStream(f"The model wrote a call that its own API refused: {why}"))
        if candidate.groundingMetadata or candidate.citationMetadata:
            self._ground(candidate)

    def _take(self, part: JsonObject) -> None:
        if isinstance(part.get("functionCall"), dict):
            self._function(part, as_object(part["functionCall"]))
            return
        self._end_streamed()
        text = part.get("text")
        if isinstance(text, str):
            self._text_part(part, text)
            return
        self._break()
        self._parts.append(part)
        inline = as_object(part.get("inlineData"))
        if inline:
            self._image(str(inline.get("mimeType") or "image/png"), str(inline.get("data") or ""))

    def _text_part(self, part: JsonObject, text: str) -> None:
        """Pieces of one text are joined; a signature ends the piece it stands on."""
        if text:
            text = (self._thinking if part.get("thought") else self._text)(text)
        place = len(self._parts) - 1
        last = self._parts[place] if self._parts else {}
        mergeable = place in self._texts and "thoughtSignature" not in last
        if mergeable and last.get("thought") == part.get("thought") and (text or "thoughtSignature" not in part):
            self._texts[place].append(text)
            last |= {name: value for name, value in part.items() if name != "text"}
            return
        self._parts.append(dict(part))
        self._texts[place + 1] = [text]

    def _function(self, part: JsonObject, function: JsonObject) -> None:
        if "partialArgs" in function or (self._streamed is not None and "name" not in function):
            self._stream_call(part, function)
            return
        if "willContinue" in function and "args" not in function:
            self._open_streamed(part, function)
            return
        self._end_streamed()
        call = self._call(str(function.get("id") or ""), str(function.get("name") or ""))
        self._calls[len(self._parts)] = call
        self._parts.append(part)
        self._call_text(call, encode_text(function.get("args") or {}))

    def _open_streamed(self, part: JsonObject, function: JsonObject) -> None:
        self._end_streamed()
        call = self._call(str(function.get("id") or ""), str(function.get("name") or ""))
        place = len(self._parts)
        self._calls[place] = call
        kept = {name: value for name, value in function.items() if name in ("id", "name")}
        self._parts.append(part | {"functionCall": kept})
        self._streamed = (place, PathArguments())
        if call.name:
            self._start(call)

    def _stream_call(self, part: JsonObject, function: JsonObject) -> None:
        if self._streamed is None or function.get("name"):
            self._open_streamed(part, function)
        place, arguments = cast("tuple[int, PathArguments]", self._streamed)
        for piece in as_objects(function.get("partialArgs")):
            if text := arguments.add(piece):
                self._call_text(self._calls[place], text)
        if "thoughtSignature" in part:
            self._parts[place]["thoughtSignature"] = part["thoughtSignature"]
        if not function.get("willContinue") and not function.get("partialArgs"):
            self._end_streamed()

    def _end_streamed(self) -> None:
        """The last piece may lack its terminator: anything that follows ends the call as well."""
        if self._streamed is None:
            return
        place, arguments = self._streamed
        self._streamed = None
        call = self._calls[place]
        if arguments.in_order:
            self._call_text(call, arguments.close())
        else:
            self._call_replace(call, encode_text(arguments.value))

    def _ground(self, candidate: _Candidate) -> None:
        for chunk in as_objects(as_object(candidate.groundingMetadata).get("groundingChunks")):
            web = as_object(chunk.get("web") or chunk.get("retrievedContext"))
            if web:
                self._source(str(web.get("title") or ""), web.get("uri"))
        citations = as_object(candidate.citationMetadata)
        for source in as_objects(citations.get("citationSources") or citations.get("citations")):
            self._source(str(source.get("title") or ""), source.get("uri"))

    def _end(self) -> None:
        self._end_streamed()

    def _native(self) -> list[JsonObject]:
        parts: list[JsonObject] = []
        for place, part in enumerate(self._parts):
            if place in self._texts:
                text = "".join(self._texts[place])
                if text or "thoughtSignature" in part:
                    parts.append(part | {"text": text})
            elif place in self._calls:
                parts += [_with_call(part, call) for call in self._calls[place].calls]
            else:
                parts.append(part)
        return parts


def _with_call(part: JsonObject, call: ToolCall) -> JsonObject:
    function = as_object(part["functionCall"])
    changed: JsonObject = {"name": legal_name(call.name)}
    if "args" in function or wire_input(call):
        changed["args"] = wire_input(call)
    if function.get("id"):
        changed["id"] = call.wire_id or call.id
    return part | {"functionCall": function | changed}


def usage_of(raw: JsonObject) -> Usage:
    prompt, read = as_int(raw.get("promptTokenCount")), as_int(raw.get("cachedContentTokenCount"))
    if prompt is not None:
        prompt = max(prompt - (read or 0), 0) + (as_int(raw.get("toolUsePromptTokenCount")) or 0)
    return Usage(
        input=prompt,
        cache_read=read,
        output=as_int(raw.get("candidatesTokenCount")),
        reasoning=as_int(raw.get("thoughtsTokenCount")),
    )
