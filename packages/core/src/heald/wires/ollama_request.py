"""Writes requests of Ollama's chat API.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""

from collections.abc import Sequence
from typing import cast

from heald.core.errors import InvalidRequest
from heald.core.json import JsonObject
from heald.core.messages import File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.wires.documents import read_text_document
from heald.wires.features import WireFeatures
from heald.wires.finished_call import replayable_input
from heald.wires.history import History, native_echo, split_result
from heald.wires.rendering import render
from heald.wires.request import TurnRequest, legal_name, offered_tools, resolve_effort, without_none

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


def request_path(model: str) -> str:  # noqa: ARG001
    return "/api/chat"


def build_request(request: TurnRequest) -> JsonObject:
    settings = request.settings
    return without_none(
        model=request.model,
        messages=_encode_messages(request),
        stream=True,
        tools=[_encode_tool(tool) for tool in offered_tools(request)] or None,
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
    calls = [encode_call(call) for call in message.tool_calls]
    return without_none(role="assistant", content=message.text, tool_calls=calls or None)


def encode_call(call: ToolCall) -> JsonObject:
    return {"function": {"name": legal_name(call.name), "arguments": replayable_input(call)}}


def _encode_result(result: ToolResult) -> JsonObject:
    text, media = split_result(result)
    return _attach_media({"role": "tool", "tool_name": legal_name(result.name)}, text, media)


def _encode_user(message: Message) -> JsonObject:
    text = "\n\n".join(block.text for block in message.content if isinstance(block, Text))
    return _attach_media({"role": "user"}, text, [b for b in message.content if isinstance(b, Image | File)])


def check_media(part: Image | File) -> None:
    """Raise InvalidRequest for a picture without data, and for a document that is not text."""
    if isinstance(part, Image) and not part.data:
        raise InvalidRequest("The ollama wire carries pictures as data and not by URL; send the data of the picture.")
    if isinstance(part, File) and read_text_document(part) is None:
        unsupported = "documents by URL" if part.url or part.file_id else part.media_type
        raise InvalidRequest(
            f"The ollama wire carries text files and not {unsupported}; send the text, or pictures of the pages."
        )


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
