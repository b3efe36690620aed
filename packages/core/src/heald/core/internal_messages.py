"""Writes messages in the form of internal messages, which other programs read and store."""

from collections.abc import Iterable, Sequence
from typing import Any

from heald.core.json import JsonObject
from heald.core.message_forms import read_messages
from heald.core.messages import (
    Block,
    File,
    Grounding,
    Image,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)


def to_internal_messages(messages: Iterable[Message]) -> list[JsonObject]:
    """Convert messages, such as `agent.messages`, to internal messages."""
    return [_internal(message) for message in messages]


def _internal(message: Message) -> JsonObject:
    internal: JsonObject = {"role": message.role, "content": [_internal_block(block) for block in message.content]}
    return internal if message.timestamp is None else internal | {"timestamp": message.timestamp}


def _internal_block(block: Block) -> JsonObject:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Reasoning(text=text):
            return {"type": "reasoning", "text": text}
        case ToolCall():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case ToolResult(content=content):
            converted = content if isinstance(content, str) else [_internal_block(part) for part in content]
            result: JsonObject = {"type": "tool_result", "tool_use_id": block.id, "content": converted}
            return (
                result | ({"name": block.name} if block.name else {}) | ({"is_error": True} if block.is_error else {})
            )
        case Grounding(sources=sources):
            return {"type": "grounding", "sources": [_named(title=s.title, url=s.url, quote=s.quote) for s in sources]}
        case Image():
            return _named(type="image", media_type=block.media_type, data=block.data, url=block.url)
        case File():
            return _named(type="file", media_type=block.media_type, data=block.data, url=block.url, name=block.name)


def _named(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def convert_session_to_internal(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Convert chat messages `{role, content, timestamp}` to internal messages."""
    return to_internal_messages(read_messages(messages))


def convert_internal_to_session(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Convert internal messages to chat messages: the texts of user and assistant. Calls and results are left out."""
    chat: list[JsonObject] = []
    for message in read_messages(messages):
        if message.text:
            entry: JsonObject = {"role": message.role, "content": message.text}
            chat.append(entry if message.timestamp is None else entry | {"timestamp": message.timestamp})
    return chat
