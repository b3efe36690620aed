"""Amazon Bedrock Converse.

Request and stream: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from typing import Any, ClassVar, cast
from urllib.parse import quote

import msgspec

from weft.core.json import JsonObject, as_int, as_object, as_objects, encode_text
from weft.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from weft.core.turn import StopReason, Usage
from weft.wires.amazon_framing import AmazonEventParser
from weft.wires.audio import describe_unsent, is_audio
from weft.wires.decoder import Decoder
from weft.wires.errors import error_from_object
from weft.wires.framing import StreamFraming
from weft.wires.history import History, native_echo, render, result_parts
from weft.wires.output_schema import anthropic_schema
from weft.wires.request import TurnRequest, legal_name, resolve_budget, resolve_effort, without_none
from weft.wires.writer import OpenBlock, replayable_input

NAME = "converse"

_CACHE_POINT = {"cachePoint": {"type": "default"}}
_IMAGE_FORMATS = ("png", "jpeg", "gif", "webp")
_DOCUMENT_FORMATS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_CACHED_MODELS = ("claude", "nova")
_LEAST_BUDGET = 1024


# --- request ------------------------------------------------------------------------------------------------------


def request_path(model: str) -> str:
    return f"/model/{quote(model, safe='')}/converse-stream"


def build_request(request: TurnRequest) -> JsonObject:
    settings = request.settings
    marks = settings.cache and any(name in request.model for name in _CACHED_MODELS)
    thinking = _encode_reasoning(request)
    thinks = thinking is not None and thinking["thinking"]["type"] == "enabled"
    config = without_none(
        maxTokens=settings.max_output_tokens,
        temperature=None if thinks else settings.temperature,
        topP=None if thinks else settings.top_p,
        stopSequences=settings.stop_sequences or None,
    )
    return without_none(
        messages=_encode_messages(request),
        system=[{"text": settings.system}, *([_CACHE_POINT] if marks else [])] if settings.system else None,
        inferenceConfig=config or None,
        toolConfig=_encode_tools(request) if request.tools else None,
        outputConfig=_encode_format(settings.output_schema) if settings.output_schema else None,
        additionalModelRequestFields=thinking,
    )


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if message.role == "assistant":
            role, content = "assistant", _encode_assistant(message, history)
        else:
            role, content = "user", [_encode_part(block, history) for block in message.content]
        if content and messages and messages[-1]["role"] == role:
            messages[-1] = {"role": role, "content": [*messages[-1]["content"], *content]}
        elif content:
            messages.append({"role": role, "content": content})

    origin = History(NAME, request.provider, request.model)
    return render(request.messages, origin, write, cache=request.cache, user_first=True)


def _encode_assistant(message: Message, history: History) -> list[JsonObject]:
    native = native_echo(message, history)
    if native is not None:
        calls = iter(message.tool_calls)
        return [_with_id(block, history, calls) for block in cast("list[JsonObject]", native)]
    content: list[JsonObject] = []
    for block in message.content:
        if isinstance(block, Text):
            content.append({"text": block.text})
        elif isinstance(block, ToolCall):
            content.append(_encode_call(block, history.ids[block.id]))
    return content


def _with_id(block: JsonObject, history: History, calls: Any) -> JsonObject:
    """Return a block as it was received. Only the id of a call that would clash changes."""
    if "toolUse" not in block:
        return block
    return {"toolUse": block["toolUse"] | {"toolUseId": history.ids[next(calls).id]}}


def _encode_call(call: ToolCall, wire_id: str) -> JsonObject:
    return {"toolUse": {"toolUseId": wire_id, "name": legal_name(call.name), "input": replayable_input(call)}}


def _encode_part(block: Block, history: History) -> JsonObject:
    if not isinstance(block, ToolResult):
        return _encode_content(block)
    content = [_encode_content(part) for part in result_parts(block)]
    status = {"status": "error"} if block.is_error else {}
    return {"toolResult": {"toolUseId": history.ids[block.id], "content": content} | status}


def _encode_content(block: Block) -> JsonObject:
    match block:
        case Image(media_type=media_type, data=str(data)) if _subtype(media_type) in _IMAGE_FORMATS:
            return {"image": {"format": _subtype(media_type), "source": {"bytes": data}}}
        case File() if is_audio(block):
            return {"text": describe_unsent(block)}
        case File(media_type=media_type, data=str(data), name=name) if media_type in _DOCUMENT_FORMATS:
            document = {"format": _DOCUMENT_FORMATS[media_type], "name": _document_name(name)}
            return {"document": document | {"source": {"bytes": data}}}
        case Image(media_type=media_type, url=url) | File(media_type=media_type, url=url):
            return {"text": f"[not shown: {media_type} {url or ''}]".replace(" ]", "]")}
        case _:
            return {"text": getattr(block, "text", "")}


def _subtype(media_type: str) -> str:
    return media_type.removeprefix("image/").replace("jpg", "jpeg")


def _document_name(name: str | None) -> str:
    """Return a name that the API accepts: letters, digits, single spaces, hyphens and brackets."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "-()[]") else " " for char in name or "file")
    return " ".join(kept.split())[:200] or "file"


def _encode_tools(request: TurnRequest) -> JsonObject:
    tools = [_encode_tool(tool) for tool in request.tools]
    choice = request.settings.tool_choice
    kinds: dict[str, JsonObject] = {"required": {"any": {}}, "auto": {"auto": {}}, "none": {"auto": {}}}
    return {"tools": tools, "toolChoice": kinds.get(choice, {"tool": {"name": choice}})}


def _encode_tool(tool: ToolDefinition) -> JsonObject:
    schema: JsonObject = {"type": "object"} | tool.input_schema
    spec = {"name": tool.name, "description": tool.description or tool.name, "inputSchema": {"json": schema}}
    return {"toolSpec": spec}


def _encode_format(schema: JsonObject) -> JsonObject:
    written = anthropic_schema(schema) or schema
    structure = {"jsonSchema": {"schema": encode_text(written), "name": "output"}}
    return {"textFormat": {"type": "json_schema", "structure": structure}}


def _encode_reasoning(request: TurnRequest) -> JsonObject | None:
    """Request thinking from Claude, the only family whose field is documented for this API."""
    reason = request.settings.reasoning
    if reason is None or "claude" not in request.model:
        return None
    if resolve_effort(reason) == "none":
        return {"thinking": {"type": "disabled"}}
    limit = request.settings.max_output_tokens
    budget = max(resolve_budget(reason) or _LEAST_BUDGET, _LEAST_BUDGET)
    if limit is not None and limit <= _LEAST_BUDGET:
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled", "budget_tokens": budget if limit is None else min(budget, limit - 1)}}


# --- stream -------------------------------------------------------------------------------------------------------


class _ConverseEvent(msgspec.Struct):
    contentBlockIndex: int = 0  # noqa: N815
    start: JsonObject | None = None
    delta: JsonObject | None = None
    stopReason: str | None = None  # noqa: N815
    usage: JsonObject | None = None
    error: Any = None


_events = msgspec.json.Decoder(_ConverseEvent)


class ConverseDecoder(Decoder):
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
                self.usage = parse_usage(as_object(read.usage))
                self.done = self.provider_stop_reason is not None
            case "exception":
                self._fail(error_from_object({"error": read.error}))
            case "messageStart" | "contentBlockStop":
                pass
            case _:
                self._ignore(data)

    def _read_start(self, index: int, start: JsonObject) -> None:
        use = as_object(start.get("toolUse"))
        if not use or use.get("type") == "server_tool_use":
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
        elif (call := self._calls.get(index)) is not None and "toolUse" in delta:
            self._add_arguments(call, str(as_object(delta["toolUse"]).get("input") or ""))
        elif "reasoningContent" in delta:
            self._read_reasoning(index, as_object(delta["reasoningContent"]))
        elif "citation" in delta:
            self._read_citation(as_object(delta["citation"]))

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
        self._add_source(title, web.get("url"), " ".join(quotes) or None)

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


def parse_usage(raw: JsonObject) -> Usage:
    """Usage in disjoint buckets: this API counts cached input apart from `inputTokens`."""
    return Usage(
        input=as_int(raw.get("inputTokens")),
        cache_read=as_int(raw.get("cacheReadInputTokens")),
        cache_write=as_int(raw.get("cacheWriteInputTokens")),
        output=as_int(raw.get("outputTokens")),
    )
