"""The wires by name: `weft.core.messages.WireName` lists the same names."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from weft.core.json import JsonObject
from weft.core.messages import WireName
from weft.wires import chat, cloud_messages, converse, gemini, messages, ollama, responses
from weft.wires.chat import ChatDecoder
from weft.wires.cloud_messages import BedrockMessagesDecoder
from weft.wires.converse import ConverseDecoder
from weft.wires.decoder import Decoder
from weft.wires.gemini import GeminiDecoder
from weft.wires.messages import MessagesDecoder
from weft.wires.ollama import OllamaDecoder
from weft.wires.request import TurnRequest
from weft.wires.responses import ResponsesDecoder


class Wire(msgspec.Struct, frozen=True):
    """The codec of one provider API: the path and body of a request, and the decoder of its response."""

    name: WireName
    request_path: Callable[[str], str]
    encode_request: Callable[[TurnRequest], JsonObject]
    decoder: type[Decoder]

    def build_request(self, request: TurnRequest) -> JsonObject:
        """Encode a request, with the extra parameters of its settings merged in."""
        return merge_extra(self.encode_request(request), request.settings.extra)


def merge_extra(body: JsonObject, extra: JsonObject) -> JsonObject:
    """Merge extra parameters into a request: objects member by member, `tools` behind ours, all else in our place."""
    merged = dict(body)
    for name, value in extra.items():
        known = merged.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[name] = merge_extra(cast(JsonObject, known), cast(JsonObject, value))
        elif name == "tools" and isinstance(known, list) and isinstance(value, list):
            merged[name] = [*cast("list[Any]", known), *cast("list[Any]", value)]
        else:
            merged[name] = value
    return merged


WIRES: dict[str, Wire] = {
    "chat": Wire("chat", chat.request_path, chat.build_request, ChatDecoder),
    "responses": Wire("responses", responses.request_path, responses.build_request, ResponsesDecoder),
    "messages": Wire("messages", messages.request_path, messages.build_request, MessagesDecoder),
    "gemini": Wire("gemini", gemini.request_path, gemini.build_request, GeminiDecoder),
    "ollama": Wire("ollama", ollama.request_path, ollama.build_request, OllamaDecoder),
    "converse": Wire("converse", converse.request_path, converse.build_request, ConverseDecoder),
    "bedrock-messages": Wire(
        *("bedrock-messages", cloud_messages.bedrock_path, cloud_messages.build_bedrock_request, BedrockMessagesDecoder)
    ),
    "vertex-messages": Wire(
        *("vertex-messages", cloud_messages.vertex_path, cloud_messages.build_vertex_request, MessagesDecoder)
    ),
}
