"""Writes one message of an agent, through the decoder that all wires share."""

from typing import ClassVar

from heald.core.json import JsonObject, encode_text
from heald.core.messages import Message
from heald.core.payload import Payload
from heald.core.turn import StopReason, Usage
from heald.wires.decoder import Decoder


class AcpDecoder(Decoder):
    """The blocks of a message, from the agent's updates instead of bytes."""

    wire = "acp"
    stop_reasons: ClassVar[dict[str, StopReason]] = {
        "end_turn": "end_turn",
        "tool_use": "tool_use",
        "max_tokens": "max_tokens",
        "max_turn_requests": "max_tokens",
        "refusal": "refusal",
        "pause_turn": "pause_turn",
    }

    def _init_state(self) -> None:
        self._has_surrogates = True  # a chunk may end within a pair

    def add_text(self, text: str) -> list[Payload]:
        out = self._out = []
        if text:
            self._add_text(text)
        return out

    def add_thinking(self, text: str) -> list[Payload]:
        out = self._out = []
        if text:
            self._add_thinking(text)
        return out

    def add_call(self, wire_id: str, name: str, arguments: JsonObject) -> list[Payload]:
        out = self._out = []
        block = self._start_call(wire_id, name)
        self._add_arguments(block, encode_text(arguments))
        return out

    def finish(self, stop_reason: str, usage: Usage) -> tuple[list[Payload], Message]:
        """End the message. Returns the payloads that end it."""
        self.provider_stop_reason, self.usage = stop_reason, usage
        payloads = self.close()
        assert self.message is not None
        return payloads, self.message

    def _build_native(self) -> None:
        return None
