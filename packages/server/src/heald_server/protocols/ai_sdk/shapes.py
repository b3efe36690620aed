"""Bodies and responses of `/api/chat`, as types. The OpenAPI document is made from them; the endpoints read bodies
themselves, because such clients send more than is described here."""

from typing import Any, Literal

import msgspec

from heald.core.json import JsonObject


class ChatBody(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a chat page: plain messages, or UI messages of the Vercel AI SDK."""

    messages: list[JsonObject] | None = None
    """The whole conversation; one message is added to the conversation of that name."""
    message: JsonObject | None = None
    """The last message, instead of all."""
    id: str | None = None
    """The name of the conversation."""
    model: str | None = None
    system: str | None = None
    """Instructions that follow the server's own; UI messages only."""
    tools: list[Any] | dict[str, Any] | None = None
    """Tools that the page runs, in a list or by their names; UI messages only."""
    trigger: str | None = None
    messageId: str | None = None  # noqa: N815


class ChatView(msgspec.Struct, frozen=True, kw_only=True):
    """A chat as UI messages of the Vercel AI SDK."""

    id: str
    session: str
    messages: list[JsonObject]


class ChatPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    dialect: str = "loop"


class LoopFrame(msgspec.Struct, frozen=True, kw_only=True):
    """The data of `content_delta`, `tool_call_start`, `tool_call_result`, `done` or `error`."""

    content: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None


class UIMessageChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a UI message stream, version 1."""

    type: str


class ChatSocketRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    type: Literal["send", "resume", "abort"]
    request_id: str
    id: str | None = None
    messages: list[JsonObject] = []
    body: JsonObject | None = None


class ChatSocketFrame(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    type: Literal["start", "chunk", "end", "error"]
    request_id: str
    sequence: int | None = None
    chunk: JsonObject | None = None
    error_text: str | None = None
