"""Messages in the JSON of the GenAI semantic conventions: `{role, parts}`. Pictures and files are named, not copied."""

from typing import Any

from heald.core.json import JsonObject, encode_text
from heald.core.messages import Block, File, Image, Message, Reasoning, Text, ToolCall, ToolResult


def trace_message(message: Message, finish_reason: str | None = None) -> JsonObject:
    """A message as an item of `gen_ai.input.messages` or, with a finish reason, of `gen_ai.output.messages`."""
    parts = [part for block in message.content if (part := _part(block)) is not None]
    traced: JsonObject = {"role": message.role, "parts": parts}
    return traced if finish_reason is None else traced | {"finish_reason": finish_reason}


def trace_arguments(call: ToolCall) -> str:
    return encode_text(call.input)


def trace_result(result: ToolResult) -> str:
    return encode_text(_response(result))


def _part(block: Block) -> JsonObject | None:
    match block:
        case Text(text=text):
            return {"type": "text", "content": text}
        case Reasoning(text=text):
            return {"type": "reasoning", "content": text}
        case ToolCall(id=call, name=name, input=arguments):
            return {"type": "tool_call", "id": call, "name": name, "arguments": arguments}
        case ToolResult(id=call):
            return {"type": "tool_call_response", "id": call, "response": _response(block)}
        case Image(media_type=kind, url=url):
            return _file("image", kind, url)
        case File(media_type=kind, url=url):
            return _file("file", kind, url)
        case _:
            return None


def _response(result: ToolResult) -> Any:
    if isinstance(result.content, str):
        return result.content
    return [part.text if isinstance(part, Text) else _part(part) for part in result.content]


def _file(kind: str, media_type: str, url: str | None) -> JsonObject:
    if url is not None:
        return {"type": "uri", "modality": kind, "mime_type": media_type, "uri": url}
    return {"type": "blob", "modality": kind, "mime_type": media_type}
