"""Streams into decoders, and what must be true of every decoded one."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

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
from heald.core.json import JsonObject
from heald.core.messages import Message, Reasoning, Text, ToolCall
from heald.core.payload import Payload
from heald.core.turn import Usage
from heald.wires.decoder import Decoder
from heald.wires.registry import WIRES

STARTS = (TextContentBlockStart, ThinkingContentBlockStart, ToolUseContentBlockStart)
DELTAS = (TextDelta, ThinkingDelta, InputJsonDelta)
STOPS = (TextContentBlockStop, ThinkingContentBlockStop, ToolUseContentBlockStop)


class Decoded(msgspec.Struct):
    """A decoded stream, checked to be well formed."""

    decoder: Decoder
    events: list[Payload]

    @property
    def message(self) -> Message:
        assert self.decoder.message is not None, self.decoder.error
        return self.decoder.message

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def thinking(self) -> str:
        return "".join(block.text for block in self.message.content if isinstance(block, Reasoning))

    @property
    def calls(self) -> list[ToolCall]:
        return self.message.tool_calls

    @property
    def named(self) -> list[tuple[str, JsonObject]]:
        """The calls by name and input; all of them may run."""
        assert [call.invalid for call in self.calls] == [None] * len(self.calls)
        return [(call.name, call.input) for call in self.calls]

    @property
    def usage(self) -> Usage:
        return self.decoder.usage

    @property
    def stop(self) -> str | None:
        return self.decoder.stop_reason

    @property
    def native(self) -> Any:
        assert self.message.native is not None
        return self.message.native.content

    @property
    def failure(self) -> str:
        """The code of the error that discarded the message."""
        assert isinstance(self.events[-1], MessageDiscarded)
        assert self.decoder.message is None
        return self.events[-1].error.code


def frame(wire: str, event: Any) -> bytes:
    """One event as it stands on the wire."""
    raw = event if isinstance(event, bytes) else json.dumps(event).encode()
    if wire == "ollama":
        return raw + b"\n"
    kind = event["type"] if wire in ("messages", "responses") and not isinstance(event, bytes) else ""
    return (f"event: {kind}\n".encode("utf-8", "replace") if kind else b"") + b"data: " + raw + b"\n\n"


def decode(wire: str, *events: Any, **options: Any) -> Decoded:
    """Decode events and check the outcome."""
    return decode_pieces(wire, [frame(wire, event) for event in events], **options)


def decode_pieces(wire: str, pieces: Iterable[bytes], *, ordered: bool = True, **options: Any) -> Decoded:
    decoder = WIRES[wire].decoder("msg", **options)
    events = decoder.open()
    for piece in pieces:
        events += decoder.feed(piece)
    events += decoder.close()
    check(events, decoder.message, ordered)
    return Decoded(decoder, events)


def check(events: list[Payload], message: Message | None, ordered: bool = True) -> None:
    """What holds for every stream: blocks numbered, opened, written, closed; one end; text as it was shown."""
    assert isinstance(events[0], MessageStart)
    ends = [event for event in events if isinstance(event, MessageStop | MessageDiscarded)]
    assert ends == events[-1:], "exactly one end, and it is last"
    block_texts: list[str] = []
    kinds: list[type] = []
    closed: set[int] = set()
    for event in events[1:]:
        if isinstance(event, STARTS):
            assert event.index == len(block_texts)
            assert event.block == f"msg.{event.index}"
            block_texts.append("")
            kinds.append(type(event))
        elif isinstance(event, DELTAS):
            assert 0 <= event.index < len(block_texts), "a delta before its block began"
            assert event.index not in closed, "a delta after its block ended"
            block_texts[event.index] += event.partial_json if isinstance(event, InputJsonDelta) else event.text
        elif isinstance(event, STOPS):
            assert event.index not in closed
            closed.add(event.index)
    if isinstance(events[-1], MessageDiscarded):
        assert message is None
        return
    assert len(closed) == len(block_texts), "a block was never closed"
    assert isinstance(events[-2], MessageDelta)
    assert message is not None
    if ordered:
        _check_content(message, list(zip(kinds, block_texts, strict=True)))


def _check_content(message: Message, streamed: list[tuple[type, str]]) -> None:
    """The blocks of the message are the blocks that were shown, in their order."""
    blocks = [block for block in message.content if isinstance(block, Text | Reasoning | ToolCall)]
    assert len(blocks) == len(streamed)
    for block, (kind, text) in zip(blocks, streamed, strict=True):
        if isinstance(block, ToolCall):
            assert kind is ToolUseContentBlockStart
            if block.invalid is None and text.startswith("{"):
                assert json.loads(text) == block.input
        else:
            assert kind is (TextContentBlockStart if isinstance(block, Text) else ThinkingContentBlockStart)
            assert block.text == text
