"""The places of the marks that the prompt cache of Claude models needs.

A mark ends a prefix that is stored. The next request finds it if fewer than `LOOK_BACK` blocks lie between that mark
and one of its own, so a longer turn needs a second mark where the previous request ended.

https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
"""

from collections.abc import Callable

from heald.core.json import JsonObject
from heald.core.turn import Settings

LOOK_BACK = 20
MarkContent = Callable[[list[JsonObject]], list[JsonObject]]
"""Returns the content of a message with a mark at its end."""


def cache_control(settings: Settings) -> JsonObject:
    """Return the member that marks a block in the API of Anthropic; empty without caching."""
    if not settings.cache:
        return {}
    return {"cache_control": {"type": "ephemeral"} | mark_ttl(settings)}


def mark_ttl(settings: Settings) -> JsonObject:
    return {"ttl": "1h"} if settings.cache_ttl in ("1h", "24h") else {}


def mark_history(messages: list[JsonObject], mark: MarkContent) -> None:
    """Mark the last user message, and the one before it if the turn between them was long. Roles alternate."""
    last = len(messages) - 1
    if last >= 0 and messages[last]["role"] == "assistant":  # an answer that continues
        last -= 1
    if last < 0:
        return
    added = sum(len(message["content"]) for message in messages[max(last - 1, 0) : last + 1])
    messages[last] = _marked(messages[last], mark)
    if last >= 2 and added >= LOOK_BACK:
        messages[last - 2] = _marked(messages[last - 2], mark)


def _marked(message: JsonObject, mark: MarkContent) -> JsonObject:
    return message | {"content": mark(message["content"])}
