"""A wire: the codec of one provider API.

A distribution offers one as an entry point of the group `heald.wires`; `heald.wires.registry` finds it by its name.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from heald.core.json import JsonObject
from heald.core.messages import File, Image
from heald.core.turn import Settings
from heald.wires.features import WireFeatures, keep_supported
from heald.wires.request import TurnRequest

if TYPE_CHECKING:
    from heald.wires.decoder import Decoder
else:
    Decoder = Any  # `help` looks the name up

KeyHeader = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key"]
"""The header that holds the key: a bearer token in `authorization`, or a header of this name."""


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """The codec of one provider API: the path, headers and body of a request, and the decoder of its response."""

    name: str
    request_path: Callable[[str], str]
    """The path of a turn, behind the base URL, for the name of a model."""
    encode_request: Callable[[TurnRequest], JsonObject]
    decoder: "type[Decoder]"
    features: WireFeatures
    encode_headers: Callable[[TurnRequest], dict[str, str]] | None = None
    """Headers that depend on the request, in lower case."""
    headers: Mapping[str, str] = {}
    """Headers of every request, in lower case."""
    key_header: KeyHeader = "bearer"
    """The header of the key, if the endpoint names no other."""
    attempts: int = 10
    """How often a turn is tried at most, if `Retry.attempts` is not set."""
    reads_text_calls: bool = False
    """The decoder recognises calls and files that a model writes as text."""
    check_audio: Callable[[File], None] | None = None
    """Raises InvalidRequest for audio that the API has no form for. With None, `audio_input` stands for any audio."""
    check_media: Callable[[Image | File], None] | None = None
    """Raises InvalidRequest for a picture or document that the API has no form for."""
    encode_count: Callable[[TurnRequest, JsonObject], tuple[str, JsonObject]] | None = None
    """The path and the body of the call that counts tokens, from a turn and its encoded request."""
    encode_compaction: Callable[[TurnRequest, JsonObject], tuple[str, JsonObject]] | None = None
    """The path and the body of the call that compacts a conversation, from a turn and its encoded request."""

    def build_request(self, request: TurnRequest) -> JsonObject:
        """Encode a request, with the extra parameters of its settings merged in."""
        body = self.encode_request(self._supported(request))
        return merge_extra(body, request.settings.extra) if request.settings.extra else body

    def build_headers(self, request: TurnRequest) -> dict[str, str]:
        """Return the headers of a request beyond those of its endpoint, in lower case."""
        extra_headers = request.settings.extra_headers
        extra = {name.lower(): value for name, value in extra_headers.items()} if extra_headers else {}
        if self.encode_headers is None:
            return extra
        headers = self.encode_headers(self._supported(request))
        if "anthropic-beta" in headers and "anthropic-beta" in extra:
            extra["anthropic-beta"] = f"{headers['anthropic-beta']},{extra['anthropic-beta']}"
        return headers | extra

    def _supported(self, request: TurnRequest) -> TurnRequest:
        """Return the request without the settings that the API has no field for."""
        settings, cache = request.settings, request.cache
        if cache is not None and cache.settings is not None and cache.settings[0] is settings:
            supported: Settings = cache.settings[1]
        else:
            supported = keep_supported(settings, self.features, request.quirks.without)
            if cache is not None:
                cache.settings = settings, supported
        return request if supported is settings else msgspec.structs.replace(request, settings=supported)


def merge_extra(body: JsonObject, extra: JsonObject) -> JsonObject:
    """Merge extra parameters into a request: objects by member, `tools` appended, everything else replaced."""
    merged = dict(body)
    for name, value in extra.items():
        current = merged.get(name)
        if isinstance(current, dict) and isinstance(value, dict):
            merged[name] = merge_extra(cast(JsonObject, current), cast(JsonObject, value))
        elif name == "tools" and isinstance(current, list) and isinstance(value, list):
            merged[name] = [*cast("list[Any]", current), *cast("list[Any]", value)]
        else:
            merged[name] = value
    return merged
