"""The marks of prompt caching in requests of Chat Completions, for gateways that pass them on to Claude models.

A mark stands on a text part: https://openrouter.ai/docs/features/prompt-caching
"""

from typing import Any, cast

import msgspec

from heald.core.json import JsonObject, as_object, loads
from heald.wires.cache_marks import LOOK_BACK


def mark_messages(messages: list[JsonObject], mark: JsonObject) -> None:
    """Mark the system prompt and the end of the conversation, and where the previous request ended if many blocks
    have come since. Messages may be bytes; those that are marked become values."""
    last = len(messages) - 1
    if last > 0 and _value(messages[last])["role"] == "assistant":  # an answer that continues
        last -= 1
    if last < 0:
        return
    place, blocks = last, 0
    while place > 0 and (message := _value(messages[place]))["role"] != "assistant":
        place, blocks = place - 1, blocks + _count_blocks(message)
    if place > 0 and blocks + _count_blocks(_value(messages[place])) >= LOOK_BACK:
        messages[place - 1] = _marked(_value(messages[place - 1]), mark)
    messages[last] = _marked(_value(messages[last]), mark)
    first = _value(messages[0])
    if last > 0 and first["role"] in ("system", "developer"):
        messages[0] = _marked(first, mark)


def _value(message: Any) -> JsonObject:
    return as_object(loads(bytes(message))) if isinstance(message, msgspec.Raw) else message


def _count_blocks(message: JsonObject) -> int:
    content: Any = message.get("content")
    parts = len(cast("list[Any]", content)) if isinstance(content, list) else 1 if content else 0
    return parts + len(message.get("tool_calls") or ()) + len(message.get("reasoning_details") or ())


def _marked(message: JsonObject, mark: JsonObject) -> JsonObject:
    """Return a message with a mark on its last text; unchanged if it has none."""
    content: Any = message["content"]
    parts: list[JsonObject] = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    for place in range(len(parts) - 1, -1, -1):
        if parts[place].get("type") == "text" and parts[place].get("text"):
            parts[place] = parts[place] | mark
            return message | {"content": parts}
    return message
