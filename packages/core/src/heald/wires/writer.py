"""Writes a streamed message: opens and closes blocks, assigns indexes and ids, and parses the arguments of calls.

A wire reports what arrived (`_add_text`, `_add_thinking`, `_start_call`, `_add_arguments`), the writer emits payloads.
"""

from collections.abc import Callable, Container
from typing import Any

from msgspec.structs import replace

from heald.core.events import (
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
from heald.core.ids import new_id
from heald.core.json import JsonObject, encode_text
from heald.core.messages import CitedRange, File, Image, InvalidCall, Source, ToolCall
from heald.core.payload import Payload
from heald.core.server_tool_events import CitationAdded, ServerToolCall, ServerToolResult
from heald.core.turn import StopReason
from heald.wires.finished_call import build_call, expand_parallel_calls
from heald.wires.open_block import BlockKind, OpenBlock, join_surrogates
from heald.wires.server_tools import MAX_TEXT, ServerCall, ServerResult

MAX_DELTA = 128 * 1024
"""Characters of one delta, each of which JSON may write as six bytes: a larger one becomes several."""


WHOLE_FILE, FILE_PARTS, DIFF = "file", "search-replace", "diff"
FILE_FORMS = frozenset({WHOLE_FILE, FILE_PARTS, DIFF})
"""The forms of calls that were written as files."""
_UNCLOSED = (
    "The block of the file has no end, so the file was not written. Write the complete file, and end its block with "
    "the fence that begins it."
)
PARALLEL = "multi_tool_use.parallel"


class MessageWriter:
    """Writes one message, block by block."""

    __slots__ = (
        "_blocks",
        "_call_ids",
        "_citations",
        "_current",
        "_has_surrogates",
        "_media",
        "_out",
        "_pcm",
        "_sources",
        "_started",
        "_used_ids",
        "id",
    )

    def __init__(self, message_id: str, used_ids: Container[str]) -> None:
        self.id = message_id or new_id("msg")
        self._used_ids = used_ids
        self._out: list[Payload] = []
        self._blocks: list[OpenBlock] = []
        self._call_ids: set[str] = set()
        self._sources: dict[tuple[str, str | None, CitedRange | None], Source] = {}
        self._citations: set[tuple[str, int | None, int | None]] = set()
        self._media: list[Image | File] = []
        self._pcm: dict[str, list[str]] = {}  # pieces of audio without a header, by media type
        self._current: OpenBlock | None = None
        self._started = 0
        self._has_surrogates = False  # half a surrogate pair was seen: every text is checked from now on

    # --- content ------------------------------------------------------------------------------------------------

    def _add_text(self, text: str, kind: BlockKind = "text") -> str:
        """Add a piece of text and return it as it was emitted."""
        block = self._current
        if block is None or block.kind != kind:
            block = self._open_block(kind)
        if self._has_surrogates:
            text = join_surrogates(block, text)
        block.parts.append(text)
        if len(text) <= MAX_DELTA:
            self._out.append(TextDelta(block.index, block.id, text))
        else:
            self._out += [TextDelta(block.index, block.id, piece) for piece in split_delta(text)]
        return text

    def _add_refusal(self, text: str) -> str:
        return self._add_text(text, "refusal")

    def _add_thinking(self, text: str) -> str:
        block = self._current
        if block is None or block.kind != "thinking":
            block = self._open_block("thinking")
        if self._has_surrogates:
            text = join_surrogates(block, text)
        block.parts.append(text)
        if len(text) <= MAX_DELTA:
            self._out.append(ThinkingDelta(block.index, block.id, text))
        else:
            self._out += [ThinkingDelta(block.index, block.id, piece) for piece in split_delta(text)]
        return text

    def _open_block(self, kind: BlockKind) -> OpenBlock:
        """Open a text or thinking block; the one before it is closed."""
        self._close_block()
        block = OpenBlock(kind)
        self._blocks.append(block)
        self._announce(block)
        self._current = block
        return block

    def _close_block(self) -> None:
        """Close the open text or thinking block."""
        if self._current is not None:
            self._close(self._current)
            self._current = None

    def _start_call(self, wire_id: str, name: str) -> OpenBlock:
        """Begin a call. It is announced with its first arguments, when its name is complete."""
        block = OpenBlock("tool", wire_id=wire_id, name=name, call_id=self._unique_id(wire_id))
        self._blocks.append(block)
        return block

    def _add_arguments(self, block: OpenBlock, text: str) -> None:
        if block.closed:
            return
        if block.index < 0 and _is_named(block):
            self._announce(block)
        if self._has_surrogates:
            text = join_surrogates(block, text)
        block.parts.append(text)
        if block.index >= 0 and len(text) <= MAX_DELTA:
            self._out.append(InputJsonDelta(block.index, block.id, text))
        elif block.index >= 0:
            self._out += [InputJsonDelta(block.index, block.id, piece) for piece in split_delta(text)]

    def _replace_arguments(self, block: OpenBlock, text: str) -> None:
        """Set the arguments to the provider's final text."""
        so_far = block.text
        if text.startswith(so_far):
            if len(text) > len(so_far):
                self._add_arguments(block, text[len(so_far) :])
            return
        block.parts = [text]

    def _add_source(
        self,
        title: str,
        url: Any,
        quote: Any = None,
        cited: CitedRange | None = None,
        span: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Add a source with the part of it that is cited. `span` are the characters of the open text that cite it."""
        url, quote = (value if isinstance(value, str) else None for value in (url, quote))
        key = (url or title, quote, cited)
        if key in self._sources and (span[0] is None or (key[0], *span) in self._citations):
            return
        source = self._sources.setdefault(key, Source(title or url or "", url, quote, cited))
        self._citations.add((key[0], *span))
        block = self._current if span[0] is None else self._last_text()
        self._out.append(CitationAdded(self.id, block.id if block is not None else "", source, *span))

    def _last_text(self) -> OpenBlock | None:
        return next((block for block in reversed(self._blocks) if block.kind == "text"), None)

    def _add_server_call(self, call: ServerCall) -> None:
        self._close_block()
        self._out.append(ServerToolCall(self.id, call.id, call.name, call.input))

    def _add_server_result(self, result: ServerResult) -> None:
        self._close_block()
        text = result.text if len(result.text) <= MAX_TEXT else f"{result.text[:MAX_TEXT]}…"
        self._out.append(ServerToolResult(self.id, result.id, result.name, text, list(result.sources), result.is_error))

    def _add_media(self, media_type: str, data: str) -> None:
        """Add a picture, or a file such as audio. Pieces of audio without a header are joined."""
        kind = media_type.lower()
        if kind.startswith("audio/") and ("pcm" in kind or kind.startswith("audio/l16")):
            self._pcm.setdefault(media_type, []).append(data)
        elif kind.startswith("image/"):
            self._media.append(Image(media_type=media_type, data=data))
        else:
            self._media.append(File(media_type=media_type, data=data))

    def _list_media(self) -> list[Image | File]:
        """Return the pictures and files of the finished message."""
        joined = [File(media_type=kind, data=join_base64(pieces)) for kind, pieces in self._pcm.items()]
        return [*self._media, *joined]

    # --- finished calls --------------------------------------------------------------------

    def _finish_call(self, block: OpenBlock, stop: StopReason, interrupted_by: str = "") -> list[ToolCall]:
        if block.name == PARALLEL:
            expanded = expand_parallel_calls(block.text)
            if expanded is not None:
                return [
                    self._build_expanded_call(name, arguments, stop, interrupted_by) for name, arguments in expanded
                ]
        if not block.text.strip():
            block.parts = []
            self._add_arguments(block, "{}")
        if not block.started:
            self._announce(block)
        self._close(block)
        wire_id = block.wire_id if block.wire_id and block.wire_id != block.call_id else None
        call = build_call(
            block.call_id, wire_id, block.name, block.text, stop, block.form, interrupted_by=interrupted_by
        )
        if block.form == WHOLE_FILE and call.invalid is not None and call.invalid.reason == "malformed":
            call = replace(call, invalid=InvalidCall("truncated", _UNCLOSED, block.text))
        return [call]

    def _build_expanded_call(self, name: str, arguments: JsonObject, stop: StopReason, interrupted_by: str) -> ToolCall:
        block = OpenBlock("tool")
        block.name = name
        block.call_id = self._unique_id("")
        self._announce(block)
        self._add_arguments(block, encode_text(arguments))
        self._close(block)
        return build_call(block.call_id, None, name, block.text, stop, interrupted_by=interrupted_by)

    # --- starts, stops, ids -------------------------------------------------------------------------------------

    def _announce(self, block: OpenBlock) -> None:
        if block.kind == "tool":
            self._close_block()
        if self._started != len(self._blocks) - 1:
            self._announce_earlier(block)
        block.index = self._started
        block.id = f"{self.id}.{block.index}"
        self._started += 1
        if block.kind == "tool":
            self._out.append(ToolUseContentBlockStart(block.index, block.id, block.call_id, block.name, block.form))
            if block.parts:  # they arrived before the name
                self._out += [InputJsonDelta(block.index, block.id, piece) for piece in split_delta(block.text)]
        elif block.kind == "thinking":
            self._out.append(ThinkingContentBlockStart(block.index, block.id))
        else:
            self._out.append(TextContentBlockStart(block.index, block.id, block.kind == "refusal"))

    def _announce_earlier(self, block: OpenBlock) -> None:
        """Announce the calls before a block that still wait for their arguments: they keep their position."""
        for earlier in self._blocks:
            if earlier is block:
                break
            if earlier.kind == "tool" and not earlier.started and _is_named(earlier):
                self._announce(earlier)

    def _close(self, block: OpenBlock) -> None:
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

    def _unique_id(self, wire_id: str) -> str:
        call_id = wire_id
        if not call_id or call_id in self._call_ids or call_id in self._used_ids:
            call_id = new_id("call")
        self._call_ids.add(call_id)
        return call_id


def _is_named(block: OpenBlock) -> bool:
    return bool(block.name) and block.name != PARALLEL


def join_base64(pieces: list[str]) -> str:
    """Join data that was encoded in pieces. One that cannot be decoded is left out."""
    import base64  # answers are seldom spoken
    from contextlib import suppress

    decoded = bytearray()
    for piece in pieces:
        with suppress(ValueError):
            decoded += base64.b64decode(piece)
    return base64.b64encode(decoded).decode()


def split_delta(text: str) -> list[str]:
    """Cut a text into pieces of the largest size that a delta may have."""
    return [text[at : at + MAX_DELTA] for at in range(0, len(text), MAX_DELTA)] or [""]
