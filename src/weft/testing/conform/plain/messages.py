"""Anthropic Messages, read plainly.

https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from weft.core.json import JsonObject, as_int, as_object, encode_text
from weft.testing.conform.plain.reader import OpenCall, Reader, Tokens


class MessagesReader(Reader):
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
        self._call: OpenCall | None = None
        self._usage: JsonObject = {}
        self._counted = False  # in message_delta, whose figure is the final one

    def take(self, data: JsonObject, event: str) -> None:
        kind = str(data.get("type") or "")
        self.named(kind, event)
        if not self._began and kind not in ("message_start", "ping", "error"):
            self.fault("order", f"{kind} came before message_start")
        match kind:
            case "message_start":
                self._start(as_object(data.get("message")))
            case "content_block_start":
                self._block_start(as_int(data.get("index")), as_object(data.get("content_block")))
            case "content_block_delta":
                self._block_delta(as_int(data.get("index")), as_object(data.get("delta")))
            case "content_block_stop":
                self._block_stop(as_int(data.get("index")))
            case "message_delta":
                self.finish = str(as_object(data.get("delta")).get("stop_reason") or self.finish)
                self._usage |= as_object(data.get("usage"))
                self._counted = "output_tokens" in as_object(data.get("usage"))
            case "message_stop":
                self.ended = True
            case "error":
                self.failed(data.get("error"))
            case _:
                pass

    def end(self) -> None:
        if not self.ended:
            self.fault("terminal", "no message_stop", "F10")
        if self._open is not None:
            self.fault("order", "a content block was never stopped")
        if not self._usage:
            return
        if not self._counted:
            self.fault("usage", "message_delta counts no output_tokens", "U01")
        counted = self.count(self._usage, "input_tokens", "output_tokens")
        self.tokens = Tokens(counted.input, counted.output)

    def _start(self, message: JsonObject) -> None:
        if self._began:
            self.fault("order", "message_start came twice")
        self._began = True
        self.role = message.get("role")
        self.require("envelope", message, "the message", id=str, model=str, content=list)
        if message.get("type") != "message":
            self.fault("envelope", "the message's type is not “message”")
        self._usage |= as_object(message.get("usage"))

    def _block_start(self, index: int | None, block: JsonObject) -> None:
        if self._open is not None:
            self.fault("order", "a content block started before the one before it was stopped")
        if index != self._blocks:
            self.fault("order", f"content block {self._blocks} has the index {index}")
        self._blocks += 1
        self._open, self._call = index, None
        if block.get("type") == "text":
            self.text.append(str(block.get("text") or ""))
        if block.get("type") != "tool_use":
            return
        given = as_object(block.get("input"))
        if not isinstance(block.get("input"), dict):
            self.fault("call-fields", "a tool_use block starts without an input object")
        self._call = OpenCall(str(block.get("id") or ""), str(block.get("name") or ""))
        if given:
            self._call.pieces.append(encode_text(given))
        self.calls.append(self._call)

    def _block_delta(self, index: int | None, delta: JsonObject) -> None:
        if self._open is None or index != self._open:
            self.fault("order", "a delta belongs to no open content block")
        if delta.get("type") == "text_delta":
            self.text.append(str(delta.get("text") or ""))
        if delta.get("type") == "input_json_delta" and self._call is not None:
            self._call.pieces.append(str(delta.get("partial_json") or ""))

    def _block_stop(self, index: int | None) -> None:
        if self._open is None or index != self._open:
            self.fault("order", "a content block was stopped that was not open")
        if self._call is not None and not self._call.arguments.strip():
            self._call.pieces = ["{}"]  # no parameters, no deltas: the empty input of the start stands
        self._open = self._call = None
