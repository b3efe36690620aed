"""Events of tools that a provider runs itself, and of the sources that an answer cites."""

from heald.core.json import JsonObject
from heald.core.messages import Source
from heald.core.payload import StreamPayload


class ServerToolPayload(StreamPayload, frozen=True):
    """Reports the work of a provider while a model writes."""


class ServerToolCall(ServerToolPayload, frozen=True):
    """The provider runs a tool of its own, such as a web search. Nothing runs here."""

    type = "server_tool_call"
    message_id: str
    id: str
    name: str
    input: JsonObject = {}


class ServerToolResult(ServerToolPayload, frozen=True):
    """The outcome of a tool that the provider ran. `id` is the call's."""

    type = "server_tool_result"
    message_id: str
    id: str
    name: str
    text: str = ""
    """Its output as text, shortened. The provider keeps the whole one in the conversation."""
    sources: list[Source] = []
    is_error: bool = False


class CitationAdded(ServerToolPayload, frozen=True):
    """The answer cites a source. The finished message holds all of them in its `grounding` block."""

    type = "citation_added"
    message_id: str
    block: str
    """The text block that cites it; empty if the provider does not name one."""
    source: Source
    start: int | None = None
    """The first character of the block that the source supports, if the provider names it."""
    end: int | None = None
    """The character behind the last one that it supports."""
