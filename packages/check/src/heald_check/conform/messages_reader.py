"""Reads answers of the Messages API of Anthropic."""

from msgspec.structs import replace

from heald.core.json import JsonObject, as_int, as_object, encode_text
from heald_check.conform.reader import StrictReader
from heald_check.conform.reading import ReadCall


class MessagesReader(StrictReader):
    """Anthropic Messages (https://docs.anthropic.com/en/docs/build-with-claude/streaming)."""

    finishes = frozenset(
        {
            "end_turn",
            "max_tokens",
            "stop_sequence",
            "tool_use",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
        }
    )
    truncated = "max_tokens"

    def __init__(self) -> None:
        super().__init__()
        self._began = False
        self._blocks = 0
        self._open: int | None = None
        self._call: ReadCall | None = None
        self._usage: JsonObject = {}
        self._counted = False  # by message_delta, which has the final figure

    def read_event(self, data: JsonObject, event: str) -> None:
        kind = str(data.get("type") or "")
        self.check_event_name(kind, event)
        if not self._began and kind not in ("message_start", "ping", "error"):
            self.add_fault("order", f"{kind} came before message_start")
        match kind:
            case "message_start":
                self._read_start(as_object(data.get("message")))
            case "content_block_start":
                self._start_block(as_int(data.get("index")), as_object(data.get("content_block")))
            case "content_block_delta":
                self._add_delta(as_int(data.get("index")), as_object(data.get("delta")))
            case "content_block_stop":
                self._stop_block(as_int(data.get("index")))
            case "message_delta":
                self.finish = str(as_object(data.get("delta")).get("stop_reason") or self.finish)
                self._usage |= as_object(data.get("usage"))
                self._counted = "output_tokens" in as_object(data.get("usage"))
            case "message_stop":
                self.ended = True
            case "error":
                self.set_error(data.get("error"))
            case _:
                pass

    def end(self) -> None:
        if not self.ended:
            self.add_fault("terminal", "no message_stop", "F10")
        if self._open is not None:
            self.add_fault("order", "a content block was never stopped")
        if not self._usage:
            return
        if not self._counted:
            self.add_fault("usage", "message_delta counts no output_tokens", "U01")
        self.tokens = replace(self.read_usage(self._usage, "input_tokens", "output_tokens"), total=None)

    def _read_start(self, message: JsonObject) -> None:
        if self._began:
            self.add_fault("order", "message_start came twice")
        self._began = True
        self.role = message.get("role")
        self.require("envelope", message, "the message", id=str, model=str, content=list)
        if message.get("type") != "message":
            self.add_fault("envelope", "the message's type is not “message”")
        self._usage |= as_object(message.get("usage"))

    def _start_block(self, index: int | None, block: JsonObject) -> None:
        if self._open is not None:
            self.add_fault("order", "a content block started before the one before it was stopped")
        if index != self._blocks:
            self.add_fault("order", f"content block {self._blocks} has the index {index}")
        self._blocks += 1
        self._open, self._call = index, None
        if block.get("type") == "text":
            self.text.append(str(block.get("text") or ""))
        if block.get("type") != "tool_use":
            return
        arguments = as_object(block.get("input"))
        if not isinstance(block.get("input"), dict):
            self.add_fault("call-fields", "a tool_use block starts without an input object")
        self._call = ReadCall(str(block.get("id") or ""), str(block.get("name") or ""))
        if arguments:
            self._call.pieces.append(encode_text(arguments))
        self.calls.append(self._call)

    def _add_delta(self, index: int | None, delta: JsonObject) -> None:
        if self._open is None or index != self._open:
            self.add_fault("order", "a delta belongs to no open content block")
        if delta.get("type") == "text_delta":
            self.text.append(str(delta.get("text") or ""))
        if delta.get("type") == "input_json_delta" and self._call is not None:
            self._call.pieces.append(str(delta.get("partial_json") or ""))

    def _stop_block(self, index: int | None) -> None:
        if self._open is None or index != self._open:
            self.add_fault("order", "a content block was stopped that was not open")
        if self._call is not None and not self._call.arguments.strip():
            self._call.pieces = ["{}"]  # a call without parameters has no deltas
        self._open = self._call = None
