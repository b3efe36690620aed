"""A block of a message while it is being written."""

from typing import Literal

from weft.core.tools import ToolCall

Kind = Literal["text", "refusal", "thinking", "tool"]


class OpenBlock:
    """A block of the message while it is being written."""

    __slots__ = ("call_id", "calls", "closed", "half", "id", "index", "kind", "name", "parts", "wire_id")

    def __init__(self, kind: Kind) -> None:
        self.kind: Kind = kind
        self.index = -1  # given with the start event
        self.id = ""
        self.parts: list[str] = []
        self.closed = False
        self.half = ""  # the first half of a surrogate pair whose second half is still to come
        self.calls: list[ToolCall] = []
        """What became of it at the message's end: one call, or several where a legacy wrapper held them."""
        self.call_id = ""
        self.wire_id = ""
        self.name = ""

    @property
    def started(self) -> bool:
        return self.index >= 0

    @property
    def text(self) -> str:
        return "".join(self.parts)


def mend(block: OpenBlock, text: str) -> str:
    """Join surrogate pairs that were cut between two deltas; a half that stays alone becomes U+FFFD."""
    text = block.half + text
    block.half = ""
    if text and "\ud800" <= text[-1] <= "\udbff":
        block.half = text[-1]
        text = text[:-1]
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
