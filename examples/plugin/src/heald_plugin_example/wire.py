"""A wire: the codec of an API that answers with lines of JSON.

{"text": "Hello"}
{"call": {"id": "1", "name": "convert_length", "arguments": {"value": 1}}}
{"end": "stop", "tokens": [12, 34]}
"""

import json
from typing import Any, ClassVar

import heald
from heald.plugins import Decoder, JsonLinesParser, TurnRequest, Wire, WireFeatures

FEATURES: WireFeatures = {"temperature": "temperature", "max_output_tokens": "limit"}
"""The settings that the API has a field for. Others are not sent."""


def encode_request(request: TurnRequest) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for message in request.messages:
        calls = [{"id": call.id, "name": call.name, "arguments": call.input} for call in message.tool_calls]
        blocks = [block for block in message.content if isinstance(block, heald.ToolResult)]
        results = [{"id": result.id, "text": result.text} for result in blocks]
        messages.append({"role": message.role, "text": message.text, "calls": calls, "results": results})
    return {
        "model": request.model,
        "system": request.settings.system,
        "messages": messages,
        "tools": [{"name": tool.name, "schema": tool.input_schema} for tool in request.tools],
        "temperature": request.settings.temperature,
        "limit": request.settings.max_output_tokens,
    }


class LinesDecoder(Decoder):
    """Reads the lines of a response as they arrive."""

    __slots__ = ()
    wire = "lines"
    needs_terminal = True
    stop_reasons: ClassVar = {"stop": "end_turn", "limit": "max_tokens"}

    def _new_framing(self) -> JsonLinesParser:
        return JsonLinesParser()

    def _read_event(self, data: bytes, event: str) -> None:
        line = json.loads(data)
        if text := line.get("text"):
            self._add_text(text)
        if call := line.get("call"):
            block = self._start_call(call["id"], call["name"])
            self._add_arguments(block, json.dumps(call["arguments"]))
        if end := line.get("end"):
            self.done = True
            self.provider_stop_reason = end

    def _build_native(self) -> dict[str, Any]:
        return {}


WIRE = Wire(
    name="lines",
    request_path=lambda model: f"/answer/{model}",
    encode_request=encode_request,
    decoder=LinesDecoder,
    features=FEATURES,
)
