"""A block of a message while it is being written."""

from typing import Literal

import msgspec

from heald.core.messages import ToolCall

BlockKind = Literal["text", "refusal", "thinking", "tool"]


class OpenBlock(msgspec.Struct, eq=False):
    """A block of the message while it is being written."""

    kind: BlockKind
    index: int = -1
    """Assigned with the start event."""
    id: str = ""
    parts: list[str] = []
    closed: bool = False
    half: str = ""
    """The first half of a surrogate pair whose second half has not arrived."""
    calls: list[ToolCall] = []
    """Its calls once the message ended: one, or several where a legacy wrapper held them."""
    call_id: str = ""
    wire_id: str = ""
    name: str = ""
    form: str | None = None

    @property
    def started(self) -> bool:
        return self.index >= 0

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def merge_name(self, name: str) -> None:
        """Merge a name that is whole, repeated with every fragment, or, rarely, split into pieces."""
        if not self.started and name != self.name:
            self.name = name if name.startswith(self.name) else self.name + name


def join_surrogates(block: OpenBlock, text: str) -> str:
    """Join surrogate pairs that were split between two deltas; a lone half becomes U+FFFD."""
    text = block.half + text
    block.half = ""
    if text and "\ud800" <= text[-1] <= "\udbff":
        block.half = text[-1]
        text = text[:-1]
    return replace_halves(text)


def replace_halves(text: str) -> str:
    """Replace each half of a surrogate pair that stands alone by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
