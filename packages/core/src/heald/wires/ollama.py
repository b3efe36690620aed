"""Reads streams of Ollama's chat API: JSON lines.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
"""

from typing import Any, ClassVar

import msgspec

from heald.core.json import JsonObject, encode_text
from heald.core.turn import StopReason, TokenLogprob, Usage
from heald.wires import ollama_request
from heald.wires.decoder import Decoder
from heald.wires.errors import error_from_object
from heald.wires.framing import StreamFraming
from heald.wires.json_lines import JsonLinesParser
from heald.wires.ollama_request import NAME
from heald.wires.request import without_none
from heald.wires.usage_counts import as_count
from heald.wires.wire import Wire


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
    __slots__ = ()

    wire = NAME
    needs_terminal = True
    stop_reasons: ClassVar[dict[str, StopReason]] = {"stop": "end_turn", "length": "max_tokens"}

    def _new_framing(self) -> StreamFraming:
        return JsonLinesParser()

    def _read_event(self, data: bytes, event: str) -> None:
        line = self._decode(_lines, data)
        if line is None:
            return
        if line.error:
            self._fail(error_from_object({"error": line.error}))
            return
        if line.message is None and line.model is None and not line.done:
            if self._fail_if_error(data):
                return
            self._ignore(data)
        self.response_model = self.response_model or line.model
        if line.message is not None and not self.done:
            self._read_message(line.message)
        if line.done:
            self.done = True
            self.provider_stop_reason = line.done_reason or "stop"
            self.provider_usage = without_none(**{name: getattr(line, name) for name in _COUNTED})
            self.usage = parse_usage(self.provider_usage)

    def _parse_logprobs(self, event: JsonObject) -> list[TokenLogprob]:
        from heald.wires.logprobs import parse_openai_logprobs

        return parse_openai_logprobs(event.get("logprobs"))

    def _read_message(self, message: _Message) -> None:
        if message.thinking:
            self._add_thinking(message.thinking)
        if message.content:
            self._add_model_text(message.content)
        if message.tool_calls:
            self._end_text_calls(native=True)
        for call in message.tool_calls or ():
            function = call.function or _Function()
            block = self._start_call(str(call.id or ""), function.name)
            self._add_arguments(block, encode_text(function.arguments or {}))

    def _flush(self) -> None:
        self._end_text_calls()

    def _build_native(self) -> JsonObject:
        text, thinking = (
            "".join(block.text for block in self._blocks if block.kind == kind) for kind in ("text", "thinking")
        )
        return without_none(
            role="assistant",
            content=text,
            thinking=thinking or None,
            tool_calls=[ollama_request.encode_call(call) for block in self._blocks for call in block.calls] or None,
        )


def parse_usage(raw: JsonObject) -> Usage:
    return Usage(input=as_count(raw.get("prompt_eval_count")), output=as_count(raw.get("eval_count")))


WIRE = Wire(
    name=NAME,
    request_path=ollama_request.request_path,
    encode_request=ollama_request.build_request,
    decoder=OllamaDecoder,
    features=ollama_request.FEATURES,
    reads_text_calls=True,
    check_media=ollama_request.check_media,
)
