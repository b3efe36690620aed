"""Messages, content blocks and the shapes of tools: the neutral form of a conversation.

`ToolCall` and `ToolResult` are both blocks of a message and the payloads of the events `tool_call` and `tool_result`,
so the object that is streamed, stored and sent back is the same one.
"""

from functools import cache
from typing import Any, Literal

import msgspec

from heald.core.json import JsonObject, decode
from heald.core.payload import StreamPayload
from heald.core.short_text import quote
from heald.core.typed_decoder import build_decoder


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag="text"):
    """Text of a message."""

    text: str
    refusal: bool = False
    """The model declined with this text."""


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning"):
    """Readable thinking. Encrypted thinking is in the message's native content."""

    text: str


ImageDetail = Literal["auto", "low", "high", "original"]


class Image(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="image"):
    """An image: base64 data with its media type, a URL, or the id of a file at the provider."""

    media_type: str = "image/png"
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    """The id of an uploaded file. It is valid at the provider that has the file."""
    detail: ImageDetail | None = None
    """How closely the model looks at it, which decides its tokens, if the API can be told."""


class File(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="file"):
    """A document such as a PDF: base64 data with its media type, a URL, or the id of a file at the provider."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None
    file_id: str | None = None
    """The id of an uploaded file. It is valid at the provider that has the file."""


class CitedRange(msgspec.Struct, frozen=True):
    """The part of a source that an answer cites, as the provider counts: pages from 1, characters and blocks from 0.
    `end` is exclusive."""

    unit: Literal["page", "character", "block"]
    start: int
    end: int


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """A source that an answer cites."""

    title: str
    url: str | None = None
    quote: str | None = None
    range: CitedRange | None = None


class Grounding(msgspec.Struct, frozen=True, tag="grounding"):
    """The sources that an answer cites."""

    sources: list[Source]


ToolStatus = Literal["ok", "error", "denied", "cancelled", "timeout", "interrupted", "unknown_tool", "invalid_input"]

InvalidReason = Literal["malformed", "truncated", "filtered", "refused", "disabled"]

ResultPart = Text | Image | File


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a model sees it. `input_schema` is a JSON Schema of type object."""

    name: str
    description: str = ""
    input_schema: JsonObject = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    strict: bool = False


class InvalidCall(msgspec.Struct, frozen=True):
    """Why a call must not run, and its argument text."""

    reason: InvalidReason
    message: str
    raw: str


class ToolCall(StreamPayload, frozen=True, kw_only=True, omit_defaults=True, tag="tool_use"):
    """One request of a model to run a tool. With `invalid` set it never runs."""

    type = "tool_call"

    id: str
    """Unique in the session."""
    name: str
    input: JsonObject
    wire_id: str | None = None
    """The provider's id, if ours differs."""
    invalid: InvalidCall | None = None
    form: str | None = None
    """The form of a call that the model wrote as text, such as `hermes`. None: the API reported the call."""
    parent: str | None = None
    """The id of the call whose program made this one. No message holds such a call, and the model sees its result only
    as far as the program prints it."""


class WholeResult(msgspec.Struct, frozen=True):
    """A result that is larger than what the model is sent at once."""

    handle: str
    """Names it in `read_result`."""
    characters: int
    blob: str
    """The SHA-256 of its text. A stored session has a blob of this name."""


class ToolResult(StreamPayload, frozen=True, kw_only=True, omit_defaults=True, tag="tool_result"):
    """The one outcome of a call; `id` is the call's."""

    type = "tool_result"

    id: str
    status: ToolStatus
    content: str | list[ResultPart]
    name: str = ""
    truncated: bool = False
    is_error: bool | None = None
    """Whether the model should treat it as a failure. It follows from the status by default."""
    summary: str = ""
    """One line for display. The model does not see it."""
    data: JsonObject | None = None
    """The outcome for programs, where the tool has one. The model does not see it."""
    whole: WholeResult | None = None
    """The whole text, if the content is its first page. The model sees its handle."""

    def __post_init__(self) -> None:
        if self.is_error is None:
            msgspec.structs.force_setattr(self, "is_error", self.status != "ok")

    @property
    def text(self) -> str:
        """The textual part of the content."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Role = Literal["user", "assistant", "tool"]

Block = Text | Reasoning | Image | File | ToolCall | ToolResult | Grounding


class Native(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An assistant message exactly as its provider sent it.

    It is sent back to its origin only: signatures and encrypted reasoning are valid nowhere else.
    """

    wire: str
    provider: str
    model: str
    content: Any


_is_call = ToolCall.__instancecheck__


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A message of a conversation: its role, and blocks of text, pictures, files, calls and results."""

    role: Role
    """Who it is from: `user`, `assistant`, or `tool` for results."""
    content: list[Block]
    """The blocks, in order."""
    id: str = ""
    """The id of a message of the model."""
    native: Native | None = None
    """The message as its provider sent it, to be sent back exactly."""
    said: str | None = None
    """The user's original text, if the content was made from it. Models never see it."""
    structured: JsonObject | None = msgspec.field(default=None, name="design")
    """The request as data, for models that are programs; no wire sends it. Stored as `design`."""
    timestamp: float | None = None
    """When the message was sent or completed, in milliseconds since 1970, or the time that the caller gave. Messages of
    results have none. Models never see it."""

    @property
    def text(self) -> str:
        """The text of the message."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def words(self) -> str:
        """The text for display: the user's original text, if there is one."""
        return self.text if self.said is None else self.said

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls in the content."""
        calls: Any = filter(_is_call, self.content)  # asked for ten times in a turn, so without a loop
        return list(calls)

    @property
    def tool_results(self) -> list[ToolResult]:
        """The results of calls in the content."""
        return [block for block in self.content if isinstance(block, ToolResult)]

    def __repr__(self) -> str:
        return f"<Message {self.role}: {', '.join(map(_describe_block, self.content)) or 'empty'}>"


def _describe_block(block: Block) -> str:
    """Return a block as a short text, for `repr`."""
    match block:
        case Text():
            return quote(block.text)
        case ToolCall():
            return f"call {block.name}({quote(str(block.input))[1:-1]})"
        case ToolResult():
            return f"{block.status} {quote(block.text)}"
        case _:
            return type(block).__name__


def user_message(*content: str | Text | Image | File) -> Message:
    """A user message of texts, images and files."""
    return Message(role="user", content=[Text(part) if isinstance(part, str) else part for part in content])


def assistant(text: str) -> Message:
    return Message(role="assistant", content=[Text(text)])


def tool_results(results: list[ToolResult]) -> Message:
    return Message(role="tool", content=list(results))


@cache
def _message_decoder() -> msgspec.json.Decoder[list[Message]]:
    return build_decoder(list[Message])


def decode_messages(data: bytes) -> list[Message]:
    return decode(_message_decoder(), data)
