"""Reads streams of Gemini generateContent: server-sent events, or one JSON array.

Stream: https://ai.google.dev/api/generate-content
Thought signatures: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

from typing import Any, ClassVar, Literal, cast

import msgspec

from heald.core.errors import GarbledStream
from heald.core.json import JsonObject, as_int, as_list, as_object, as_objects, encode_text
from heald.core.messages import File, Source, ToolCall
from heald.core.turn import StopReason, TokenLogprob, Usage
from heald.wires import gemini_request
from heald.wires.decoder import UNREADABLE, Decoder
from heald.wires.errors import error_from_object
from heald.wires.finished_call import replayable_input
from heald.wires.gemini_request import NAME
from heald.wires.gemini_usage import parse_usage
from heald.wires.json_path import PathArguments
from heald.wires.open_block import OpenBlock
from heald.wires.request import legal_name
from heald.wires.server_tools import (
    ServerCall,
    ServerResult,
    read_gemini_part,
    read_gemini_queries,
    read_gemini_source,
)
from heald.wires.text_only import restrict
from heald.wires.wire import Wire


class _Content(msgspec.Struct, gc=False):
    parts: list[JsonObject] | None = None


class _Candidate(msgspec.Struct, gc=False):
    index: Any = 0
    content: _Content | None = None
    finishReason: Any = None  # noqa: N815
    finishMessage: Any = None  # noqa: N815
    groundingMetadata: Any = None  # noqa: N815
    citationMetadata: Any = None  # noqa: N815
    urlContextMetadata: Any = None  # noqa: N815


class _Chunk(msgspec.Struct, gc=False):
    candidates: list[_Candidate] | None = None
    usageMetadata: JsonObject | None = None  # noqa: N815
    promptFeedback: Any = None  # noqa: N815
    responseId: Any = None  # noqa: N815
    modelVersion: Any = None  # noqa: N815
    error: Any = None


class _TextPart(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    text: str


class _Piece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    jsonPath: str  # noqa: N815
    stringValue: str  # noqa: N815
    willContinue: Literal[True]  # noqa: N815


class _PieceCall(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    partialArgs: tuple[_Piece]  # noqa: N815
    willContinue: Literal[True]  # noqa: N815


class _PiecePart(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """More of a string in the arguments of a call."""

    functionCall: _PieceCall  # noqa: N815


def _chunks_with(part: Any) -> "msgspec.json.Decoder[Any]":
    """Return the decoder of chunks that hold nothing but one such part."""
    content = restrict(_Content, {"parts": tuple[part]})
    candidate = restrict(_Candidate, {"content": content}, {"index": Literal[0, None]})
    allowed = {"usageMetadata": JsonObject | None, "responseId": Any, "modelVersion": Any}
    return msgspec.json.Decoder(restrict(_Chunk, {"candidates": tuple[candidate]}, allowed))


_chunks = msgspec.json.Decoder(_Chunk)
_text_chunks, _piece_chunks = _chunks_with(_TextPart), _chunks_with(_PiecePart)


class GeminiDecoder(Decoder):
    __slots__ = ("_calls", "_fetched", "_partial", "_parts", "_plain", "_queries", "_texts")

    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {  # pyrefly: ignore[bad-assignment]
        "STOP": "end_turn",
        "MAX_TOKENS": "max_tokens",
        **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT"), "content_filter"),
        **dict.fromkeys(("SPII", "MODEL_ARMOR", "IMAGE_SAFETY", "IMAGE_RECITATION"), "content_filter"),
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
    }
    malformed: ClassVar[frozenset[str]] = frozenset(
        {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"}
    )

    def _init_state(self) -> None:
        self._parts: list[JsonObject] = []
        self._texts: dict[int, list[str]] = {}  # pieces of the text of a part, by its place in _parts
        self._plain: tuple[int, list[str]] = (-1, [])  # the last part that holds nothing but text: place and pieces
        self._calls: dict[int, OpenBlock] = {}  # by place in _parts
        self._fetched: set[str] = set()  # addresses
        self._queries: list[str] = []  # of searches, which each chunk may repeat
        self._partial: tuple[int, PathArguments] | None = None  # the call whose arguments come in pieces

    def _read_event(self, data: bytes, event: str) -> None:
        try:
            chunk = _chunks.decode(data)
        except UNREADABLE:
            chunk = self._decode_slowly(_chunks, data)
        if chunk is None:
            return
        if chunk.usageMetadata:
            self.provider_usage = usage = self.provider_usage or {}
            usage.update(chunk.usageMetadata)
            self._usage = None
        if chunk.error:
            self._fail(error_from_object({"error": chunk.error}))
            return
        if self.response_id is None or self.response_model is None:
            self.response_id = self.response_id or chunk.responseId
            self.response_model = self.response_model or chunk.modelVersion
        if chunk.promptFeedback and not chunk.candidates:
            blocked = as_object(chunk.promptFeedback).get("blockReason")
            if isinstance(blocked, str):
                self.provider_stop_reason = blocked if blocked in self.stop_reasons else "PROHIBITED_CONTENT"
                if isinstance(words := as_object(chunk.promptFeedback).get("blockReasonMessage"), str) and words:
                    self._note(f"The provider blocked the request: {words}")
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self._read_candidate(candidate)
        if chunk.candidates is None and chunk.usageMetadata is None and chunk.promptFeedback is None:
            self._fail_if_error(data)

    def _has_open_text(self) -> bool:
        if self._partial is not None:
            return self._partial[1].open_path is not None
        return self._plain[0] == len(self._parts) - 1 and super()._has_open_text()

    def _read_text_only(self, data: bytes) -> str | None:
        if self.response_id is None or self.response_model is None:
            return None  # the event may bring them
        partial = self._partial
        try:
            chunk = (_text_chunks if partial is None else _piece_chunks).decode(data)
        except UNREADABLE:
            return None
        part = chunk.candidates[0].content.parts[0]
        if partial is None:
            text: str = part.text
        elif part.functionCall.partialArgs[0].jsonPath == partial[1].open_path:
            text = part.functionCall.partialArgs[0].stringValue
        else:
            return None
        if chunk.usageMetadata:
            self.provider_usage = usage = self.provider_usage or {}
            usage.update(chunk.usageMetadata)
            self._usage = None
        return text

    def _add_open_text(self, text: str) -> None:
        if self._partial is None:
            self._plain[1].append(self._add_text(text))
            return
        place, arguments = self._partial
        if written := arguments.grow(text):
            self._add_arguments(self._calls[place], written)

    def _parse_usage(self, reported: JsonObject) -> Usage:
        return parse_usage(reported, len(self._queries))

    def _parse_logprobs(self, event: JsonObject) -> list[TokenLogprob]:
        from heald.wires.logprobs import parse_gemini_logprobs

        results = (as_object(candidate.get("logprobsResult")) for candidate in as_objects(event.get("candidates")))
        return [logprob for result in results for logprob in parse_gemini_logprobs(result)]

    def _read_candidate(self, candidate: _Candidate) -> None:
        if candidate.content is not None:
            for part in candidate.content.parts or ():
                text = part.get("text")
                if len(part) == 1 and text and type(text) is str and self._plain[0] == len(self._parts) - 1 >= 0:
                    self._plain[1].append(self._add_text(text))  # more of the last part, which is plain text
                else:
                    self._read_part(part)
        if candidate.finishReason and candidate.finishReason != "FINISH_REASON_UNSPECIFIED":
            self.provider_stop_reason = str(candidate.finishReason)
            if self.provider_stop_reason in self.malformed:
                reason = candidate.finishMessage or self.provider_stop_reason
                self._fail(GarbledStream(f"The model wrote a call that its own API refused: {reason}"))
            elif candidate.finishMessage and self._stop_reason(self.provider_stop_reason) == "content_filter":
                self._note(f"The provider stopped the answer: {candidate.finishMessage}")
        if candidate.groundingMetadata or candidate.citationMetadata:
            self._read_sources(candidate)
        if candidate.urlContextMetadata:
            self._read_fetched(as_objects(as_object(candidate.urlContextMetadata).get("urlMetadata")))

    def _read_part(self, part: JsonObject) -> None:
        if "functionCall" in part and isinstance(part["functionCall"], dict):
            self._read_call(part, as_object(part["functionCall"]))
            return
        if self._partial is not None:
            self._close_partial_call()
        text = part.get("text")
        if isinstance(text, str):
            self._read_text(part, text)
            return
        self._close_block()
        self._parts.append(part)
        match read_gemini_part(part):
            case ServerCall() as call:
                self._add_server_call(call)
            case ServerResult() as result:
                self._add_server_result(result)
            case None:
                pass
        transcription = as_object(part.get("audioTranscription")).get("text")
        if isinstance(transcription, str) and transcription:
            self._add_text(transcription)
        if (stored := as_object(part.get("fileData"))) and isinstance(stored.get("fileUri"), str):
            kind = str(stored.get("mimeType") or "application/octet-stream")
            self._media.append(File(media_type=kind, url=stored["fileUri"]))
        inline = as_object(part.get("inlineData"))
        if inline:
            self._add_media(str(inline.get("mimeType") or "image/png"), str(inline.get("data") or ""))

    def _read_text(self, part: JsonObject, text: str) -> None:
        """Join the pieces of one text; a signature ends the piece that holds it."""
        place = len(self._parts) - 1
        if text:
            text = (self._add_thinking if part.get("thought") else self._add_text)(text)
        last = self._parts[place] if self._parts else {}
        mergeable = place in self._texts and "thoughtSignature" not in last
        if mergeable and last.get("thought") == part.get("thought") and (text or "thoughtSignature" not in part):
            self._texts[place].append(text)
            last |= {name: value for name, value in part.items() if name != "text"}
        else:
            place += 1
            self._parts.append(dict(part))
            self._texts[place] = [text]
        self._plain = (place if len(self._parts[place]) == 1 else -1), self._texts[place]

    def _read_call(self, part: JsonObject, function: JsonObject) -> None:
        if "partialArgs" in function or (self._partial is not None and "name" not in function):
            self._read_partial_call(part, function)
            return
        if "willContinue" in function and "args" not in function:
            self._open_partial_call(part, function)
            return
        self._close_partial_call()
        call = self._start_call(str(function.get("id") or ""), str(function.get("name") or ""))
        self._calls[len(self._parts)] = call
        self._parts.append(part)
        self._add_arguments(call, encode_text(function.get("args") or {}))

    def _open_partial_call(self, part: JsonObject, function: JsonObject) -> None:
        self._close_partial_call()
        call = self._start_call(str(function.get("id") or ""), str(function.get("name") or ""))
        place = len(self._parts)
        self._calls[place] = call
        header = {name: value for name, value in function.items() if name in ("id", "name")}
        self._parts.append(part | {"functionCall": header})
        self._partial = (place, PathArguments())
        if call.name:
            self._announce(call)

    def _read_partial_call(self, part: JsonObject, function: JsonObject) -> None:
        if self._partial is None or function.get("name"):
            self._open_partial_call(part, function)
        place, arguments = cast("tuple[int, PathArguments]", self._partial)
        for piece in as_objects(function.get("partialArgs")):
            if text := arguments.add(piece):
                self._add_arguments(self._calls[place], text)
        if "thoughtSignature" in part:
            self._parts[place]["thoughtSignature"] = part["thoughtSignature"]
        if not function.get("willContinue") and not function.get("partialArgs"):
            self._close_partial_call()

    def _close_partial_call(self) -> None:
        """End a call whose arguments are streamed. Its last piece may lack a terminator: any other part ends it too."""
        if self._partial is None:
            return
        place, arguments = self._partial
        self._partial = None
        call = self._calls[place]
        if arguments.in_order:
            self._add_arguments(call, arguments.close())
        else:
            self._replace_arguments(call, encode_text(arguments.value))

    def _read_sources(self, candidate: _Candidate) -> None:
        queries = [query for query in read_gemini_queries(candidate.groundingMetadata) if query not in self._queries]
        if queries:
            self._queries += queries
            self._usage = None
            self._add_server_call(ServerCall("", "web_search", {"queries": queries}))
        grounding = as_object(candidate.groundingMetadata)
        sources = [read_gemini_source(chunk) for chunk in as_objects(grounding.get("groundingChunks"))]
        for source in sources:
            if source is not None:
                self._add_source(source.title, source.url, source.quote, source.range)
        for support in as_objects(grounding.get("groundingSupports")):
            span = self._find_span(as_object(support.get("segment")))
            for place in as_list(support.get("groundingChunkIndices")) if span is not None else ():
                source = sources[place] if isinstance(place, int) and 0 <= place < len(sources) else None
                if source is not None and span is not None:
                    self._add_source(source.title, source.url, source.quote, source.range, span)
        citations = as_object(candidate.citationMetadata)
        for source in as_objects(citations.get("citationSources") or citations.get("citations")):
            self._add_source(str(source.get("title") or ""), source.get("uri"))

    def _find_span(self, segment: JsonObject) -> tuple[int, int] | None:
        """Return the characters of the last text that a segment names by its bytes; None if they are not its text."""
        block = self._last_text()
        if block is None:
            return None
        text = block.text
        first, behind = as_int(segment.get("startIndex")) or 0, as_int(segment.get("endIndex")) or 0
        encoded = text.encode(errors="surrogatepass")
        start, end = (len(encoded[:offset].decode(errors="replace")) for offset in (max(first, 0), max(behind, 0)))
        return (start, end) if segment.get("text") and text[start:end] == segment["text"] else None

    def _read_fetched(self, fetched: list[JsonObject]) -> None:
        """Read the addresses that the provider fetched, and whether it could. Each chunk may repeat them."""
        for entry in fetched:
            url, status = str(entry.get("retrievedUrl") or ""), str(entry.get("urlRetrievalStatus") or "")
            if not url or url in self._fetched:
                continue
            self._fetched.add(url)
            outcome = status.removeprefix("URL_RETRIEVAL_STATUS_").lower()
            is_error = outcome not in ("", "success", "unspecified")
            source = () if is_error else (Source(url, url),)
            self._add_server_call(ServerCall("", "web_fetch", {"url": url}))
            self._add_server_result(ServerResult("", "web_fetch", outcome, source, is_error))

    def _flush(self) -> None:
        self._close_partial_call()

    def _build_native(self) -> list[JsonObject]:
        parts: list[JsonObject] = []
        for place, part in enumerate(self._parts):
            if place in self._texts:
                text = "".join(self._texts[place])
                if text or "thoughtSignature" in part:
                    parts.append(part | {"text": text})
            elif place in self._calls:
                parts += [_merge_call(part, call) for call in self._calls[place].calls]
            else:
                parts.append(part)
        return parts


def _merge_call(part: JsonObject, call: ToolCall) -> JsonObject:
    function = as_object(part["functionCall"])
    changed: JsonObject = {"name": legal_name(call.name)}
    if "args" in function or replayable_input(call):
        changed["args"] = replayable_input(call)
    if function.get("id"):
        changed["id"] = call.wire_id or call.id
    return part | {"functionCall": function | changed}


WIRE = Wire(
    name=NAME,
    request_path=gemini_request.request_path,
    encode_request=gemini_request.build_request,
    decoder=GeminiDecoder,
    features=gemini_request.FEATURES,
    key_header="x-goog-api-key",
    attempts=5,
    encode_count=gemini_request.encode_count,
)
