"""One message of the model, from what the SDK says: its raw stream events, or a whole message where there were none.

Both go through the decoder of the `messages` wire, so blocks, ids, calls and stops obey the same rules as everywhere.
How a message ended is held back until it is known that it counts: see `held`.
"""

from collections.abc import Container

import msgspec
from claude_agent_sdk import AssistantMessage, TextBlock, ThinkingBlock, ToolUseBlock

from weft.core.errors import ProviderError
from weft.core.json import JsonObject, encode, encode_text
from weft.core.messages import Native
from weft.core.payload import Payload
from weft.providers.base import ProviderTurn
from weft.providers.claude_agent.model import PROVIDER
from weft.providers.claude_agent.server import PREFIX
from weft.wires.messages.stream import MessagesDecoder


class TurnStream:
    """Takes the events of one message."""

    def __init__(self, model: str, attempt: int, taken: Container[str]) -> None:
        self._decoder = MessagesDecoder(provider=PROVIDER, model=model, attempt=attempt, taken=taken)
        self._model = model
        self.attempt = attempt
        self.held: list[Payload] = []
        """How the message ends, once `done`: to be published with the turn or, if something failed, not at all."""

    @property
    def id(self) -> str:
        return self._decoder.id

    @property
    def done(self) -> bool:
        """The whole message is there."""
        return bool(self.held)

    def open(self) -> list[Payload]:
        return self._decoder.open()

    @property
    def has_calls(self) -> bool:
        message = self._decoder.message
        return message is not None and bool(message.tool_calls)

    def feed(self, event: JsonObject) -> list[Payload]:
        decoder = self._decoder
        if decoder.done:
            return []
        said = decoder.feed(b"data: " + encode(_renamed(event)) + b"\n\n")
        if decoder.done and decoder.error is None:
            self.held = decoder.close()
        return said

    def abort(self, error: ProviderError) -> list[Payload]:
        """The message does not count. An error that came in the stream itself is the one that is told."""
        return self._decoder.abort(self._decoder.error or error)

    def turn(self, session: str, at: str) -> ProviderTurn:
        """The finished message. Where the SDK keeps it is its native form."""
        decoder = self._decoder
        assert decoder.message is not None
        assert decoder.stop_reason is not None
        native = Native(wire=PROVIDER, provider=PROVIDER, model=self._model, content={"session": session, "at": at})
        return ProviderTurn(
            message=msgspec.structs.replace(decoder.message, native=native),
            stop_reason=decoder.stop_reason,
            usage=decoder.usage,
            attempts=self.attempt,
            provider_stop_reason=decoder.provider_stop_reason,
            response_id=decoder.response_id,
            response_model=decoder.response_model,
        )


def events_of(message: AssistantMessage, *, counted: bool) -> list[JsonObject]:
    """A message that came whole, as the events it would have been. One whose usage was counted has none."""
    usage = {} if counted else message.usage or {}
    events: list[JsonObject] = [
        {"type": "message_start", "message": {"id": message.message_id, "model": message.model, "usage": usage}}
    ]
    for index, block in enumerate(message.content):
        start, delta = _block(block)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        if delta:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    calls = any(isinstance(block, ToolUseBlock) for block in message.content)
    reason = message.stop_reason or ("tool_use" if calls else "end_turn")
    return [*events, {"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]


def _block(block: object) -> tuple[JsonObject, JsonObject]:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
        case ThinkingBlock(thinking=thinking):
            return {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": thinking}
        case ToolUseBlock(id=call, name=name, input=arguments):
            start: JsonObject = {"type": "tool_use", "id": call, "name": name, "input": {}}
            return start, {"type": "input_json_delta", "partial_json": encode_text(arguments)}
        case _:
            return {"type": "unknown"}, {}


def _renamed(event: JsonObject) -> JsonObject:
    """Weft's tools by the names they have in Weft."""
    block = event.get("content_block")
    if not isinstance(block, dict):
        return event
    name = block.get("name")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(name, str) or not name.startswith(PREFIX):
        return event
    return event | {"content_block": block | {"name": name.removeprefix(PREFIX)}}
