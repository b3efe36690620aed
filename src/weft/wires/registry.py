"""The wires by name: `weft.core.messages.WireName` lists the same names."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

import msgspec

from weft.core.json import JsonObject
from weft.core.messages import WireName
from weft.core.turn import Settings
from weft.wires.features import WireFeatures, keep_supported
from weft.wires.request import TurnRequest

if TYPE_CHECKING:
    from weft.wires.decoder import Decoder


class Wire(msgspec.Struct, frozen=True):
    """The codec of one provider API: the path, headers and body of a request, and the decoder of its response."""

    name: WireName
    request_path: Callable[[str], str]
    encode_request: Callable[[TurnRequest], JsonObject]
    decoder: "type[Decoder]"
    features: WireFeatures
    encode_headers: Callable[[TurnRequest], dict[str, str]] | None = None

    def build_request(self, request: TurnRequest) -> JsonObject:
        """Encode a request, with the extra parameters of its settings merged in."""
        body = self.encode_request(self._supported(request))
        return merge_extra(body, request.settings.extra) if request.settings.extra else body

    def build_headers(self, request: TurnRequest) -> dict[str, str]:
        """Return the headers of a request beyond those of its endpoint, in lower case."""
        extra = request.settings.extra_headers
        own = {name.lower(): value for name, value in extra.items()} if extra else {}
        if self.encode_headers is None:
            return own
        headers = self.encode_headers(self._supported(request))
        if "anthropic-beta" in headers and "anthropic-beta" in own:
            own["anthropic-beta"] = f"{headers['anthropic-beta']},{own['anthropic-beta']}"
        return headers | own

    def _supported(self, request: TurnRequest) -> TurnRequest:
        given, cache = request.settings, request.cache
        if cache is not None and cache.settings is not None and cache.settings[0] is given:
            settings: Settings = cache.settings[1]
        else:
            settings = keep_supported(given, self.features)
            if cache is not None:
                cache.settings = given, settings
        return request if settings is given else msgspec.structs.replace(request, settings=settings)


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


def _load_chat() -> Wire:
    from weft.wires import chat_request as own
    from weft.wires.chat import ChatDecoder

    return Wire("chat", own.request_path, own.build_request, ChatDecoder, own.FEATURES)


def _load_responses() -> Wire:
    from weft.wires import responses_request as own
    from weft.wires.responses import ResponsesDecoder

    return Wire("responses", own.request_path, own.build_request, ResponsesDecoder, own.FEATURES)


def _load_messages() -> Wire:
    from weft.wires import messages_request as own
    from weft.wires.messages import MessagesDecoder

    return Wire("messages", own.request_path, own.build_request, MessagesDecoder, own.FEATURES, own.build_headers)


def _load_gemini() -> Wire:
    from weft.wires import gemini_request as own
    from weft.wires.gemini import GeminiDecoder

    return Wire("gemini", own.request_path, own.build_request, GeminiDecoder, own.FEATURES)


def _load_ollama() -> Wire:
    from weft.wires import ollama as own

    return Wire("ollama", own.request_path, own.build_request, own.OllamaDecoder, own.FEATURES)


def _load_converse() -> Wire:
    from weft.wires import converse as own

    return Wire("converse", own.request_path, own.build_request, own.ConverseDecoder, own.FEATURES)


def _load_bedrock() -> Wire:
    from weft.wires import cloud_messages as own

    decoder, features = own.BedrockMessagesDecoder, own.BEDROCK_FEATURES
    return Wire("bedrock-messages", own.bedrock_path, own.build_bedrock_request, decoder, features)


def _load_vertex() -> Wire:
    from weft.wires import cloud_messages as own
    from weft.wires.messages import MessagesDecoder

    return Wire("vertex-messages", own.vertex_path, own.build_vertex_request, MessagesDecoder, own.VERTEX_FEATURES)


class _Wires(Mapping[str, Wire]):
    """Loads a wire when it is wanted: most programs speak one."""

    _loaders: ClassVar[dict[str, Callable[[], Wire]]] = {
        "chat": _load_chat,
        "responses": _load_responses,
        "messages": _load_messages,
        "gemini": _load_gemini,
        "ollama": _load_ollama,
        "converse": _load_converse,
        "bedrock-messages": _load_bedrock,
        "vertex-messages": _load_vertex,
    }

    def __init__(self) -> None:
        self._loaded: dict[str, Wire] = {}

    def __getitem__(self, name: str) -> Wire:
        found = self._loaded.get(name)
        if found is None:
            found = self._loaded[name] = self._loaders[name]()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._loaders

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaders)

    def __len__(self) -> int:
        return len(self._loaders)


WIRES: Mapping[str, Wire] = _Wires()
