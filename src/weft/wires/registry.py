"""The wires by name: `weft.core.messages.WireName` lists the same names."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from weft.core.json import JsonObject
from weft.core.messages import WireName
from weft.wires import (
    chat_request,
    cloud_messages,
    converse,
    gemini_request,
    messages_request,
    ollama,
    responses_request,
)
from weft.wires.chat import ChatDecoder
from weft.wires.cloud_messages import BedrockMessagesDecoder
from weft.wires.converse import ConverseDecoder
from weft.wires.decoder import Decoder
from weft.wires.features import WireFeatures, keep_supported
from weft.wires.gemini import GeminiDecoder
from weft.wires.messages import MessagesDecoder
from weft.wires.ollama import OllamaDecoder
from weft.wires.request import TurnRequest
from weft.wires.responses import ResponsesDecoder


def _no_headers(_: TurnRequest) -> dict[str, str]:
    return {}


class Wire(msgspec.Struct, frozen=True):
    """The codec of one provider API: the path, headers and body of a request, and the decoder of its response."""

    name: WireName
    request_path: Callable[[str], str]
    encode_request: Callable[[TurnRequest], JsonObject]
    decoder: type[Decoder]
    features: WireFeatures
    encode_headers: Callable[[TurnRequest], dict[str, str]] = _no_headers

    def build_request(self, request: TurnRequest) -> JsonObject:
        """Encode a request, with the extra parameters of its settings merged in."""
        return merge_extra(self.encode_request(self._supported(request)), request.settings.extra)

    def build_headers(self, request: TurnRequest) -> dict[str, str]:
        """Return the headers of a request beyond those of its endpoint, in lower case."""
        own = {name.lower(): value for name, value in request.settings.extra_headers.items()}
        headers = self.encode_headers(self._supported(request))
        if "anthropic-beta" in headers and "anthropic-beta" in own:
            own["anthropic-beta"] = f"{headers['anthropic-beta']},{own['anthropic-beta']}"
        return headers | own

    def _supported(self, request: TurnRequest) -> TurnRequest:
        settings = keep_supported(request.settings, self.features)
        return request if settings is request.settings else msgspec.structs.replace(request, settings=settings)


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
    wire.name: wire
    for wire in (
        Wire("chat", chat_request.request_path, chat_request.build_request, ChatDecoder, chat_request.FEATURES),
        Wire(
            *("responses", responses_request.request_path, responses_request.build_request, ResponsesDecoder),
            responses_request.FEATURES,
        ),
        Wire(
            *("messages", messages_request.request_path, messages_request.build_request, MessagesDecoder),
            messages_request.FEATURES,
            messages_request.build_headers,
        ),
        Wire(
            *("gemini", gemini_request.request_path, gemini_request.build_request, GeminiDecoder),
            gemini_request.FEATURES,
        ),
        Wire("ollama", ollama.request_path, ollama.build_request, OllamaDecoder, ollama.FEATURES),
        Wire("converse", converse.request_path, converse.build_request, ConverseDecoder, converse.FEATURES),
        Wire(
            *("bedrock-messages", cloud_messages.bedrock_path, cloud_messages.build_bedrock_request),
            BedrockMessagesDecoder,
            cloud_messages.BEDROCK_FEATURES,
        ),
        Wire(
            *("vertex-messages", cloud_messages.vertex_path, cloud_messages.build_vertex_request),
            MessagesDecoder,
            cloud_messages.VERTEX_FEATURES,
        ),
    )
}
