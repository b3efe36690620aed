"""Ollama's chat API, streamed as JSON lines.

Request and stream: https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import msgspec

from weft.core.json import JsonObject, encode_text
from weft.core.messages import File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from weft.core.turn import StopReason, Usage
from weft.wires.decoder import Decoder
from weft.wires.documents import read_text_document
from weft.wires.errors import error_from_object
from weft.wires.features import WireFeatures
from weft.wires.framing import JsonLinesParser, StreamFraming
from weft.wires.history import History, native_echo, split_result
from weft.wires.rendering import render
from weft.wires.request import TurnRequest, legal_name, resolve_effort, without_none
from weft.wires.writer import replayable_input

NAME = "ollama"

FEATURES: WireFeatures = {
    "temperature": "options.temperature",
    "top_p": "options.top_p",
    "max_output_tokens": "options.num_predict",
    "stop_sequences": "options.stop",
    "seed": "options.seed",
    "logprobs": "logprobs, top_logprobs",
    "effort": "think",
    "strict_output": "format",
    "cache_ttl": "keep_alive",
    "image_input": "images",
    "text_documents": "content",
}


# --- request ------------------------------------------------------------------------------------------------------


def request_path(model: str) -> str:  # noqa: ARG001
    return "/api/chat"


def build_request(request: TurnRequest) -> JsonObject:
    settings = request.settings
    return without_none(
        model=request.model,
        messages=_encode_messages(request),
        stream=True,
        tools=[_encode_tool(tool) for tool in request.tools] or None,
        think=_encode_reasoning(request),
        format=settings.output_schema,
        logprobs=True if settings.top_logprobs is not None else None,
        top_logprobs=settings.top_logprobs or None,
        keep_alive=settings.cache_ttl,
        options=without_none(
            num_ctx=request.context_size,
            temperature=settings.temperature,
            top_p=settings.top_p,
            num_predict=settings.max_output_tokens,
            stop=settings.stop_sequences or None,
            seed=settings.seed,
        )
        or None,
    )


def _encode_messages(request: TurnRequest) -> list[JsonObject]:
    def write(message: Message, history: History, messages: list[JsonObject]) -> None:
        if message.role == "tool":
            messages += [_encode_result(cast(ToolResult, block)) for block in message.content]
        elif message.role == "user":
            messages.append(_encode_user(message))
        else:
            native = native_echo(message, history)
            encoded = cast(JsonObject, native) if native is not None else _encode_assistant(message)
            if encoded.get("content") or encoded.get("tool_calls"):
                messages.append(encoded)

    messages = render(request, NAME, write)
    if not request.settings.system:
        return messages
    return [{"role": "system", "content": request.settings.system}, *messages]


def _encode_assistant(message: Message) -> JsonObject:
    calls = [_encode_call(call) for call in message.tool_calls]
    return without_none(role="assistant", content=message.text, tool_calls=calls or None)


def _encode_call(call: ToolCall) -> JsonObject:
    return {"function": {"name": legal_name(call.name), "arguments": replayable_input(call)}}


def _encode_result(result: ToolResult) -> JsonObject:
    text, media = split_result(result)
    return _attach_media({"role": "tool", "tool_name": legal_name(result.name)}, text, media)


def _encode_user(message: Message) -> JsonObject:
    text = "\n\n".join(block.text for block in message.content if isinstance(block, Text))
    return _attach_media({"role": "user"}, text, [b for b in message.content if isinstance(b, Image | File)])


def _attach_media(message: JsonObject, text: str, media: Sequence[Image | File]) -> JsonObject:
    """Attach images, which the API accepts as data only. A text file is a part of the text; others are mentioned."""
    images = [part.data for part in media if isinstance(part, Image) and part.data]
    for part in media:
        name = part.name if isinstance(part, File) else None
        document = read_text_document(part) if isinstance(part, File) else None
        if document is not None:
            text += f"\n\nFile {name or ''}:\n{document}"
        elif part.url or part.file_id or isinstance(part, File):
            text += f"\n\n[not shown: {part.media_type} {part.url or name or ''}]"
    return message | {"content": text} | ({"images": images} if images else {})


def _encode_tool(tool: ToolDefinition) -> JsonObject:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _encode_reasoning(request: TurnRequest) -> bool | str | None:
    reason = request.settings.reasoning
    effort = resolve_effort(reason) if reason is not None else None
    if effort is None:
        return None
    if "gpt-oss" not in request.model:
        return effort != "none"
    return "high" if effort in ("xhigh", "max") else "low" if effort in ("none", "minimal") else effort


# --- stream -------------------------------------------------------------------------------------------------------


class _Function(msgspec.Struct):
    name: str = ""
    arguments: Any = None


class _Call(msgspec.Struct):
    id: Any = None
    function: _Function | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(msgspec.Struct):
    model: str | None = None
    message: _Message | None = None
    done: bool = False
    done_reason: str | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_count: int | None = None
    prompt_eval_duration: int | None = None
    eval_count: int | None = None
    eval_duration: int | None = None
    error: Any = None


_COUNTED = [name for name in _Line.__struct_fields__ if name.endswith(("_duration", "_count"))]

_lines = msgspec.json.Decoder(_Line)


class OllamaDecoder(Decoder):
    wire = NAME
    needs_terminal = True
    stop_reasons: ClassVar[dict[str, StopReason]] = {"stop": "end_turn", "length": "max_tokens"}

    def _new_framing(self) -> StreamFraming:
        return JsonLinesParser()

    def _read_event(self, data: bytes, event: str) -> None:
        line = self._decode(_lines, data)
        if line is None:
            return
        if line.error:
            self._fail(error_from_object({"error": line.error}))
            return
        if line.message is None and line.model is None and not line.done:
            self._ignore(data)
        self.response_model = self.response_model or line.model
        if line.message is not None and not self.done:
            self._read_message(line.message)
        if line.done:
            self.done = True
            self.provider_stop_reason = line.done_reason or "stop"
            self.provider_usage = without_none(**{name: getattr(line, name) for name in _COUNTED})
            self.usage = parse_usage(self.provider_usage)

    def _read_message(self, message: _Message) -> None:
        if message.thinking:
            self._add_thinking(message.thinking)
        if message.content:
            self._add_model_text(message.content)
        if message.tool_calls:
            self._end_text_calls()
        for call in message.tool_calls or ():
            function = call.function or _Function()
            block = self._start_call(str(call.id or ""), function.name)
            self._add_arguments(block, encode_text(function.arguments or {}))

    def _flush(self) -> None:
        self._end_text_calls()

    def _build_native(self) -> JsonObject:
        text, thinking = (
            "".join(block.text for block in self._blocks if block.kind == kind) for kind in ("text", "thinking")
        )
        return without_none(
            role="assistant",
            content=text,
            thinking=thinking or None,
            tool_calls=[_encode_call(call) for block in self._blocks for call in block.calls] or None,
        )


def parse_usage(raw: JsonObject) -> Usage:
    return Usage(input=raw.get("prompt_eval_count"), output=raw.get("eval_count"))
