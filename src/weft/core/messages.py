"""Messages: the neutral form of a conversation, with each provider's own form kept beside it."""

from typing import Any, Literal

import msgspec

from weft.core.content import File, Grounding, Image, Reasoning, Text
from weft.core.json import decode
from weft.core.tools import ToolCall, ToolResult

Role = Literal["user", "assistant", "tool"]

Block = Text | Reasoning | Image | File | ToolCall | ToolResult | Grounding


class Native(msgspec.Struct, frozen=True, kw_only=True):
    """An assistant message exactly as its provider wrote it.

    It is echoed to its origin and to nobody else: signatures and encrypted reasoning mean nothing elsewhere.
    """

    wire: str
    provider: str
    model: str
    content: Any


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    role: Role
    content: list[Block]
    id: str = ""
    native: Native | None = None
    said: str | None = None
    """A person's own words, where the texts of the content were made from them. Models never see it."""

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def words(self) -> str:
        """What a person reads of it: their own words where these were kept."""
        return self.text if self.said is None else self.said

    @property
    def tool_calls(self) -> list[ToolCall]:
        return [block for block in self.content if isinstance(block, ToolCall)]


def user(*content: str | Text | Image | File) -> Message:
    """A user message of texts, pictures and files."""
    return Message(role="user", content=[Text(part) if isinstance(part, str) else part for part in content])


def assistant(text: str) -> Message:
    return Message(role="assistant", content=[Text(text)])


def tool_results(results: list[ToolResult]) -> Message:
    return Message(role="tool", content=list(results))


_decoder = msgspec.json.Decoder(list[Message])


def decode_messages(data: bytes) -> list[Message]:
    return decode(_decoder, data)
