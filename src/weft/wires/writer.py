"""The blocks of a message as they are written: which is open, what was said in it, which calls were made.

A wire says what arrived (`_text`, `_thinking`, `_call`, `_call_text`); the writer turns it into payloads with the
right indexes and ids, opens and closes blocks in order, and makes calls of argument text at the end.
"""

from collections.abc import Callable, Container
from typing import Any

from weft.core.content import Image, Source
from weft.core.events import (
    InputJsonDelta,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from weft.core.ids import new_id
from weft.core.json import JsonObject, encode_text
from weft.core.payload import Payload
from weft.core.stop import StopReason
from weft.core.tools import ToolCall
from weft.wires.arguments import expand_parallel, finish_call
from weft.wires.blocks import Kind, OpenBlock, mend

PARALLEL = "multi_tool_use.parallel"


class MessageWriter:
    """Writes one message, block by block."""

    _current: OpenBlock | None = None
    _started: int = 0
    _surrogates: bool = False  # a text with half a surrogate pair was seen: mend each from now on

    def __init__(self, message: str, taken: Container[str]) -> None:
        self.id = message or new_id("msg")
        self._taken = taken
        self._out: list[Payload] = []
        self._blocks: list[OpenBlock] = []
        self._call_ids: set[str] = set()
        self._sources: dict[tuple[str, str | None], Source] = {}
        self._images: list[Image] = []

    # --- what was said ----------------------------------------------------------------------------------------

    def _text(self, text: str, kind: Kind = "text") -> str:
        """Say a piece of text; gives back what was said of it."""
        block = self._current
        if block is None or block.kind != kind:
            block = self._begin(kind)
        if self._surrogates:
            text = mend(block, text)
        block.parts.append(text)
        self._out.append(TextDelta(block.index, block.id, text))
        return text

    def _refusal(self, text: str) -> str:
        return self._text(text, "refusal")

    def _thinking(self, text: str) -> str:
        block = self._current
        if block is None or block.kind != "thinking":
            block = self._begin("thinking")
        if self._surrogates:
            text = mend(block, text)
        block.parts.append(text)
        self._out.append(ThinkingDelta(block.index, block.id, text))
        return text

    def _begin(self, kind: Kind) -> OpenBlock:
        """Open a text or thinking block, closing the one before it."""
        self._break()
        block = OpenBlock(kind)
        self._blocks.append(block)
        self._start(block)
        self._current = block
        return block

    def _break(self) -> None:
        """Close the open text or thinking block: what comes next is another one."""
        if self._current is not None:
            self._stop(self._current)
            self._current = None

    def _call(self, wire_id: str, name: str) -> OpenBlock:
        """A new call. It is announced with the first of its arguments, when its name is surely whole."""
        block = OpenBlock("tool")
        block.wire_id = wire_id
        block.name = name
        block.call_id = self._unique(wire_id)
        self._blocks.append(block)
        return block

    def _call_text(self, block: OpenBlock, text: str) -> None:
        if block.closed:
            return
        if not block.started and _is_named(block):
            self._start(block)
        if self._surrogates:
            text = mend(block, text)
        block.parts.append(text)
        if block.started:
            self._out.append(InputJsonDelta(block.index, block.id, text))

    def _call_replace(self, block: OpenBlock, text: str) -> None:
        """The provider's final word on a call's arguments."""
        so_far = block.text
        if text.startswith(so_far):
            if len(text) > len(so_far):
                self._call_text(block, text[len(so_far) :])
            return
        block.parts = [text]

    def _source(self, title: str, url: Any, quote: Any = None) -> None:
        url, quote = (value if isinstance(value, str) else None for value in (url, quote))
        self._sources.setdefault((url or title, quote), Source(title or url or "", url, quote))

    def _image(self, media_type: str, data: str) -> None:
        self._images.append(Image(media_type=media_type, data=data))

    # --- calls, once all of them has arrived --------------------------------------------------------------------

    def _finish_call(self, block: OpenBlock, stop: StopReason) -> list[ToolCall]:
        if block.name == PARALLEL:
            expanded = expand_parallel(block.text)
            if expanded is not None:
                return [self._whole_call(name, arguments, stop) for name, arguments in expanded]
        if not block.text.strip():
            block.parts = []
            self._call_text(block, "{}")
        if not block.started:
            self._start(block)
        self._stop(block)
        wire_id = block.wire_id if block.wire_id and block.wire_id != block.call_id else None
        return [finish_call(block.call_id, wire_id, block.name, block.text, stop)]

    def _whole_call(self, name: str, arguments: JsonObject, stop: StopReason) -> ToolCall:
        block = OpenBlock("tool")
        block.name = name
        block.call_id = self._unique("")
        self._start(block)
        self._call_text(block, encode_text(arguments))
        self._stop(block)
        return finish_call(block.call_id, None, name, block.text, stop)

    # --- starts, stops, ids -------------------------------------------------------------------------------------

    def _start(self, block: OpenBlock) -> None:
        if block.kind == "tool":
            self._break()
        for earlier in self._blocks:  # a call that waits for its arguments keeps its place
            if earlier is block:
                break
            if earlier.kind == "tool" and not earlier.started and _is_named(earlier):
                self._start(earlier)
        block.index = self._started
        block.id = f"{self.id}.{block.index}"
        self._started += 1
        if block.kind == "tool":
            self._out.append(ToolUseContentBlockStart(block.index, block.id, block.call_id, block.name))
            if block.parts:  # they came before the name
                self._out.append(InputJsonDelta(block.index, block.id, block.text))
        elif block.kind == "thinking":
            self._out.append(ThinkingContentBlockStart(block.index, block.id))
        else:
            self._out.append(TextContentBlockStart(block.index, block.id, block.kind == "refusal"))

    def _stop(self, block: OpenBlock) -> None:
        if block.closed:
            return
        block.closed = True
        if block.half:
            delta: Callable[[int, str, str], Payload] = (
                ThinkingDelta if block.kind == "thinking" else InputJsonDelta if block.kind == "tool" else TextDelta
            )
            block.parts.append("\ufffd")
            self._out.append(delta(block.index, block.id, "\ufffd"))
            block.half = ""
        if block.kind == "tool":
            self._out.append(ToolUseContentBlockStop(block.index, block.id, block.call_id))
        elif block.kind == "thinking":
            self._out.append(ThinkingContentBlockStop(block.index, block.id))
        else:
            self._out.append(TextContentBlockStop(block.index, block.id))

    def _unique(self, wire_id: str) -> str:
        call_id = wire_id
        if not call_id or call_id in self._call_ids or call_id in self._taken:
            call_id = new_id("call")
        self._call_ids.add(call_id)
        return call_id


def _is_named(block: OpenBlock) -> bool:
    return bool(block.name) and block.name != PARALLEL
