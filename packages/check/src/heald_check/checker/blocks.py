"""The events of content blocks, and the kind of block that each belongs to."""

from typing import Literal

from heald.core import events as ev

BlockStart = ev.TextContentBlockStart | ev.ThinkingContentBlockStart | ev.ToolUseContentBlockStart
BlockDelta = ev.TextDelta | ev.ThinkingDelta | ev.InputJsonDelta
BlockStop = ev.TextContentBlockStop | ev.ThinkingContentBlockStop | ev.ToolUseContentBlockStop
BlockKind = Literal["text", "thinking", "tool"]
_TEXT = (ev.TextContentBlockStart, ev.TextDelta, ev.TextContentBlockStop)
_THINKING = (ev.ThinkingContentBlockStart, ev.ThinkingDelta, ev.ThinkingContentBlockStop)
_TOOL_USE = (ev.ToolUseContentBlockStart, ev.InputJsonDelta, ev.ToolUseContentBlockStop)
BLOCK_EVENTS = (*_TEXT, *_THINKING, *_TOOL_USE)


def block_kind(data: BlockStart | BlockDelta | BlockStop) -> BlockKind:
    """Return the kind of block that the payload belongs to."""
    return "text" if isinstance(data, _TEXT) else "thinking" if isinstance(data, _THINKING) else "tool"
