"""The shapes of tools: what can be called, a call, and its one outcome.

`ToolCall` and `ToolResult` are at once blocks of a message and the payloads of the events `tool_call` and
`tool_result`, so that what was shown, what is stored and what is sent back are the same object.
"""

from typing import Literal

import msgspec

from weft.core.content import File, Image, Text
from weft.core.json import JsonObject
from weft.core.payload import StreamPayload

ToolStatus = Literal["ok", "error", "denied", "cancelled", "timeout", "interrupted", "unknown_tool", "invalid_input"]

InvalidReason = Literal["malformed", "truncated", "filtered", "refused"]

ResultPart = Text | Image | File


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a model sees it. `input_schema` is a JSON Schema of type object."""

    name: str
    description: str = ""
    input_schema: JsonObject = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    strict: bool = False


class InvalidCall(msgspec.Struct, frozen=True):
    """Why a call must not run, and the argument text that arrived."""

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
    """The provider's own id, where ours had to differ."""
    invalid: InvalidCall | None = None


class ToolResult(StreamPayload, frozen=True, kw_only=True, omit_defaults=True, tag="tool_result"):
    """The one outcome of a call; `id` is the call's."""

    type = "tool_result"

    id: str
    status: ToolStatus
    content: str | list[ResultPart]
    name: str = ""
    truncated: bool = False
    is_error: bool | None = None
    """Whether the model should read it as a failure. Follows the status where not given."""
    summary: str = ""
    """One line for people, where the tool has one. The model does not see it."""

    def __post_init__(self) -> None:
        if self.is_error is None:
            msgspec.structs.force_setattr(self, "is_error", self.status != "ok")

    @property
    def text(self) -> str:
        """The textual part of the content."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, Text))
