"""Gemini generateContent, streamed as server-sent events or as one JSON array.

Request: https://ai.google.dev/api/generate-content
Thought signatures: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

import re
from typing import Any, ClassVar, cast
from urllib.parse import quote

import msgspec

from weft.core.errors import GarbledStream
from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from weft.core.turn import StopReason, Usage
from weft.wires.decoder import Decoder
from weft.wires.errors import error_from_object
from weft.wires.history import History, native_echo, render, split_result
from weft.wires.json_path import PathArguments
from weft.wires.request import TurnRequest, legal_name, resolve_budget, resolve_effort, without_none
from weft.wires.writer import OpenBlock, replayable_input

NAME = "gemini"

_LEVELS = {"none": "minimal", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "high"}
_NO_SIGNATURE = "skip_thought_signature_validator"
_GEMINI_3 = re.compile(r"gemini-(?:[3-9]|\d\d)")


# --- request ------------------------------------------------------------------------------------------------------


def request_path(model: str) -> str:
    return f"/models/{quote(model, safe='/-._~@')}:streamGenerateContent?alt=sse"


def build_request(request: TurnRequest) -> JsonObject:
    settings = request.settings
    return without_none(
        contents=_encode_messages(request),
        systemInstruction={"parts": [{"text": settings.system}]} if settings.system else None,
        tools=[{"functionDeclarations": [_encode_tool(tool) for tool in request.tools]}] if request.tools else None,
        toolConfig=_encode_tool_choice(settings.tool_choice) if request.tools else None,
        generationConfig=without_none(
            temperature=settings.temperature,
            topP=settings.top_p,
            maxOutputTokens=settings.max_output_tokens,
            stopSequences=settings.stop_sequences or None,
            thinkingConfig=_encode_reasoning(request),
            responseMimeType="application/json" if settings.output_schema else None,
            responseJsonSchema=settings.output_schema,
        )
        or None,
    )


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, contents: list[JsonObject]) -> None:
        if message.role == "assistant":
            role, parts = "model", _encode_assistant(message, history, request)
        elif message.role == "tool":
            role, parts = "user", _encode_results(message, history, contents, request)
        else:
            role, parts = "user", [_encode_part(block) for block in message.content]
        if parts and contents and contents[-1]["role"] == role:
            contents[-1] = {"role": role, "parts": [*contents[-1]["parts"], *parts]}
        elif parts:
            contents.append({"role": role, "parts": parts})

    return render(
        request.messages,
        History(NAME, request.provider, request.model),
        write,
        cache=request.cache,
        user_first=True,
    )


def _encode_assistant(message: Message, history: History, request: TurnRequest) -> list[JsonObject]:
    native = native_echo(message, history)
    if native is not None:
        return _echo_native(cast("list[JsonObject]", native), message, history)
    parts: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            parts.append({"text": block.text})
        elif isinstance(block, ToolCall):
            call = {"functionCall": {"name": legal_name(block.name), "args": replayable_input(block)}}
            parts.append(call | ({"thoughtSignature": _NO_SIGNATURE} if _GEMINI_3.search(request.model) else {}))
    return parts


def _echo_native(native: list[JsonObject], message: Message, history: History) -> list[JsonObject]:
    """The parts as they were received, each with its signature. Only ids that would clash change."""
    calls = iter(message.tool_calls)
    parts: list[JsonObject] = []
    for part in native:
        function = as_object(part.get("functionCall"))
        if function:
            wire_id = history.ids[next(calls).id]
            if function.get("id") and function["id"] != wire_id:
                part = part | {"functionCall": function | {"id": wire_id}}
        parts.append(part)
    return parts


def _encode_results(
    message: Message, history: History, contents: list[JsonObject], request: TurnRequest
) -> list[JsonObject]:
    """One response a call. Images and files are put inside it from Gemini 3 on, and after it before that."""
    given_ids = _call_ids(contents)
    parts: list[JsonObject] = []
    attached: list[JsonObject] = []
    for result in cast("list[ToolResult]", message.content):
        text, media = split_result(result)
        response: JsonObject = {
            "name": legal_name(result.name),
            "response": {"error" if result.is_error else "output": text},
        }
        if history.ids[result.id] in given_ids:
            response["id"] = history.ids[result.id]
        shown = [_encode_part(part) for part in media]
        if shown and _GEMINI_3.search(request.model):
            response["parts"] = shown
        elif shown:
            attached += [{"text": f"Attached to the result of {result.name}:"}, *shown]
        parts.append({"functionResponse": response})
    return [*parts, *attached]


def _call_ids(contents: list[JsonObject]) -> set[str]:
    """The ids in the previous message: only a call that has an id is answered with one."""
    parts = as_objects(contents[-1]["parts"]) if contents else []
    return {as_object(part.get("functionCall")).get("id", "") for part in parts}


def _encode_part(block: Block) -> JsonObject:
    match block:
        case Image(media_type=media_type, url=str(url)) | File(media_type=media_type, url=str(url)):
            return {"fileData": {"mimeType": media_type, "fileUri": url}}
        case Image(media_type=media_type, data=data) | File(media_type=media_type, data=data):
            return {"inlineData": {"mimeType": media_type, "data": data or ""}}
        case _:
            return {"text": getattr(block, "text", "")}


def _encode_tool(tool: ToolDefinition) -> JsonObject:
    declaration: JsonObject = {"name": tool.name, "description": tool.description}
    if tool.input_schema.get("properties"):
        declaration["parametersJsonSchema"] = tool.input_schema
    return declaration


def _encode_tool_choice(choice: str) -> JsonObject:
    modes = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
    if choice in modes:
        return {"functionCallingConfig": {"mode": modes[choice]}}
    return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice]}}


def _encode_reasoning(request: TurnRequest) -> JsonObject | None:
    reason = request.settings.reasoning
    if reason is None:
        return None
    config: JsonObject = {"includeThoughts": True} if reason.visible else {}
    effort = resolve_effort(reason)
    if _GEMINI_3.search(request.model) and reason.budget is None:
        if effort is not None:
            config["thinkingLevel"] = _LEVELS[effort]
    elif (budget := resolve_budget(reason)) is not None:
        config["thinkingBudget"] = budget
        if budget == 0:
            config.pop("includeThoughts", None)
    return config or None


# --- stream -------------------------------------------------------------------------------------------------------


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
        self._calls: dict[int, OpenBlock] = {}  # by place in _parts
        self._partial: tuple[int, PathArguments] | None = None  # the call whose arguments come in pieces

    def _read_event(self, data: bytes, event: str) -> None:
        chunk = self._decode(_chunks, data)
        if chunk is None:
            return
        if chunk.usageMetadata:
            self.provider_usage = (self.provider_usage or {}) | chunk.usageMetadata
            self.usage = parse_usage(self.provider_usage)
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
                self._read_candidate(candidate)

    def _read_candidate(self, candidate: _Candidate) -> None:
        if candidate.content is not None:
            for part in candidate.content.parts or ():
                self._read_part(part)
        if candidate.finishReason and candidate.finishReason != "FINISH_REASON_UNSPECIFIED":
            self.provider_stop_reason = str(candidate.finishReason)
            if self.provider_stop_reason in self.malformed:
                reason = candidate.finishMessage or self.provider_stop_reason
                self._fail(GarbledStream(f"The model wrote a call that its own API refused: {reason}"))
        if candidate.groundingMetadata or candidate.citationMetadata:
            self._read_sources(candidate)

    def _read_part(self, part: JsonObject) -> None:
        if isinstance(part.get("functionCall"), dict):
            self._read_call(part, as_object(part["functionCall"]))
            return
        self._close_partial_call()
        text = part.get("text")
        if isinstance(text, str):
            self._read_text(part, text)
            return
        self._close_block()
        self._parts.append(part)
        inline = as_object(part.get("inlineData"))
        if inline:
            self._add_image(str(inline.get("mimeType") or "image/png"), str(inline.get("data") or ""))

    def _read_text(self, part: JsonObject, text: str) -> None:
        """Join the pieces of one text; a signature ends the piece that holds it."""
        if text:
            text = (self._add_thinking if part.get("thought") else self._add_text)(text)
        place = len(self._parts) - 1
        last = self._parts[place] if self._parts else {}
        mergeable = place in self._texts and "thoughtSignature" not in last
        if mergeable and last.get("thought") == part.get("thought") and (text or "thoughtSignature" not in part):
            self._texts[place].append(text)
            last |= {name: value for name, value in part.items() if name != "text"}
            return
        self._parts.append(dict(part))
        self._texts[place + 1] = [text]

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
        kept = {name: value for name, value in function.items() if name in ("id", "name")}
        self._parts.append(part | {"functionCall": kept})
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
        for chunk in as_objects(as_object(candidate.groundingMetadata).get("groundingChunks")):
            web = as_object(chunk.get("web") or chunk.get("retrievedContext"))
            if web:
                self._add_source(str(web.get("title") or ""), web.get("uri"))
        citations = as_object(candidate.citationMetadata)
        for source in as_objects(citations.get("citationSources") or citations.get("citations")):
            self._add_source(str(source.get("title") or ""), source.get("uri"))

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


def parse_usage(raw: JsonObject) -> Usage:
    prompt, read = as_int(raw.get("promptTokenCount")), as_int(raw.get("cachedContentTokenCount"))
    if prompt is not None:
        prompt = max(prompt - (read or 0), 0) + (as_int(raw.get("toolUsePromptTokenCount")) or 0)
    return Usage(
        input=prompt,
        cache_read=read,
        output=as_int(raw.get("candidatesTokenCount")),
        reasoning=as_int(raw.get("thoughtsTokenCount")),
    )


def _merge_call(part: JsonObject, call: ToolCall) -> JsonObject:
    function = as_object(part["functionCall"])
    changed: JsonObject = {"name": legal_name(call.name)}
    if "args" in function or replayable_input(call):
        changed["args"] = replayable_input(call)
    if function.get("id"):
        changed["id"] = call.wire_id or call.id
    return part | {"functionCall": function | changed}
