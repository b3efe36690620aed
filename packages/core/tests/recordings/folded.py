"""A message put together from stream payloads alone, and what every stream of payloads must satisfy."""

import json
from dataclasses import dataclass, field
from typing import Any

from heald.core.events import (
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.payload import Payload
from heald.core.server_tool_events import CitationAdded, ServerToolCall, ServerToolResult


@dataclass
class Block:
    kind: str
    text: str = ""
    call: str = ""
    name: str = ""
    open: bool = True


@dataclass
class Folded:
    blocks: list[Block] = field(default_factory=list[Block])
    end: MessageDelta | None = None
    stopped: bool = False
    discarded: MessageDiscarded | None = None

    def text(self, kind: str) -> str:
        return "".join(block.text for block in self.blocks if block.kind == kind)

    @property
    def calls(self) -> list[tuple[str, str, Any]]:
        return [(b.call, b.name, _json(b.text)) for b in self.blocks if b.kind == "tool"]


def fold(payloads: list[Payload]) -> Folded:
    """Assemble, and assert the order of events on the way."""
    assert isinstance(payloads[0], MessageStart)
    assert isinstance(payloads[-1], MessageStop | MessageDiscarded)
    state = Folded()
    for payload in payloads[1:]:
        assert not state.stopped
        assert state.discarded is None
        _apply(state, payload)
    if state.stopped:
        assert state.end is not None
        assert not any(block.open for block in state.blocks)
    return state


def _apply(state: Folded, payload: Payload) -> None:
    match payload:
        case TextContentBlockStart(index=index, refusal=refusal):
            assert index == len(state.blocks)
            state.blocks.append(Block("refusal" if refusal else "text"))
        case ThinkingContentBlockStart(index=index):
            assert index == len(state.blocks)
            state.blocks.append(Block("thinking"))
        case ToolUseContentBlockStart(index=index, id=call, name=name):
            assert index == len(state.blocks)
            state.blocks.append(Block("tool", call=call, name=name))
        case TextDelta(index=index, text=text) | ThinkingDelta(index=index, text=text):
            assert state.blocks[index].open
            state.blocks[index].text += text
        case InputJsonDelta(index=index, partial_json=text):
            assert state.blocks[index].open
            assert state.blocks[index].kind == "tool"
            state.blocks[index].text += text
        case TextContentBlockStop(index=i) | ThinkingContentBlockStop(index=i) | ToolUseContentBlockStop(index=i):
            assert state.blocks[i].open
            state.blocks[i].open = False
        case MessageDelta():
            assert state.end is None
            state.end = payload
        case MessageStop():
            state.stopped = True
        case MessageDiscarded():
            state.discarded = payload
        case CitationAdded() | ServerToolCall() | ServerToolResult():
            pass  # beside the blocks
        case _:
            raise AssertionError(f"{payload.type} does not belong into a message")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
