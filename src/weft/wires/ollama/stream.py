"""Ollama's chat: the stream of an answer as events."""

from typing import Any, ClassVar

import msgspec

from weft.core.json import JsonObject, encode_text
from weft.core.stop import StopReason
from weft.core.usage import Usage
from weft.wires.decoder import Decoder
from weft.wires.faults import error_from_object
from weft.wires.framing import Framing, Lines
from weft.wires.ollama.request import NAME, tool_call
from weft.wires.request import without_none


class _Function(msgspec.Struct):
    name: str = ""
    arguments: Any = None


class _Call(msgspec.Struct):
    id: Any = None
    function: _Function | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(msgspec.Struct):
    model: str | None = None
    message: _Message | None = None
    done: bool = False
    done_reason: str | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_count: int | None = None
    prompt_eval_duration: int | None = None
    eval_count: int | None = None
    eval_duration: int | None = None
    error: Any = None


_COUNTED = [name for name in _Line.__struct_fields__ if name.endswith(("_duration", "_count"))]

_lines = msgspec.json.Decoder(_Line)


class OllamaDecoder(Decoder):
    wire = NAME
    stop_reasons: ClassVar[dict[str, StopReason]] = {"stop": "end_turn", "length": "max_tokens"}

    def _new_framing(self) -> Framing:
        return Lines()

    def _read(self, data: bytes, event: str) -> None:
        line = self._decode(_lines, data)
        if line is None:
            return
        if line.error:
            self._fail(error_from_object({"error": line.error}))
            return
        self.response_model = self.response_model or line.model
        if line.message is not None and not self.done:
            self._take(line.message)
        if line.done:
            self.done = True
            self.provider_stop_reason = line.done_reason or "stop"
            self.provider_usage = without_none(**{name: getattr(line, name) for name in _COUNTED})
            self.usage = usage_of(self.provider_usage)

    def _take(self, message: _Message) -> None:
        if message.thinking:
            self._thinking(message.thinking)
        if message.content:
            self._text(message.content)
        for call in message.tool_calls or ():
            function = call.function or _Function()
            block = self._call(str(call.id or ""), function.name)
            self._call_text(block, encode_text(function.arguments or {}))

    def _complete(self) -> bool:
        return self.done and self.provider_stop_reason is not None

    def _native(self) -> JsonObject:
        text, thinking = (
            "".join(block.text for block in self._blocks if block.kind == kind) for kind in ("text", "thinking")
        )
        return without_none(
            role="assistant",
            content=text,
            thinking=thinking or None,
            tool_calls=[tool_call(call) for block in self._blocks for call in block.calls] or None,
        )


def usage_of(raw: JsonObject) -> Usage:
    return Usage(input=raw.get("prompt_eval_count"), output=raw.get("eval_count"))
