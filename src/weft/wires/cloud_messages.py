"""Anthropic Messages on Amazon Bedrock and Google Vertex: the same API with another path, and the model in the path.

Bedrock: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
Vertex:  https://docs.anthropic.com/en/api/claude-on-vertex-ai
"""

from urllib.parse import quote

from weft.core.json import JsonObject, loads
from weft.wires import messages_request
from weft.wires.amazon_framing import AmazonChunkParser
from weft.wires.errors import error_from_object
from weft.wires.features import PASSED, WireFeatures
from weft.wires.framing import StreamFraming
from weft.wires.messages import MessagesDecoder
from weft.wires.request import TurnRequest

_OWN_MACHINES = ("file_ids", "file_upload", "batches", "service_tier", "web_search", "web_fetch", "code_execution")
"""Features of Anthropic's own machines."""
_HOSTED: WireFeatures = {name: place for name, place in messages_request.FEATURES.items() if name not in _OWN_MACHINES}
BEDROCK_FEATURES: WireFeatures = {**_HOSTED, "token_count": "POST /model/…/count-tokens"}
VERTEX_FEATURES: WireFeatures = {
    **_HOSTED,
    "token_count": "POST /models/count-tokens:rawPredict",
    "web_search": PASSED,
}


def bedrock_path(model: str) -> str:
    return f"/model/{quote(model, safe='')}/invoke-with-response-stream"


def build_bedrock_request(request: TurnRequest) -> JsonObject:
    body = messages_request.build_request(request)
    kept = {name: value for name, value in body.items() if name not in ("model", "stream")}
    return {"anthropic_version": "bedrock-2023-05-31"} | _encode_betas(request) | kept


def vertex_path(model: str) -> str:
    return f"/models/{quote(model, safe='@')}:streamRawPredict"


def build_vertex_request(request: TurnRequest) -> JsonObject:
    body = messages_request.build_request(request)
    kept = {name: body[name] for name in body if name != "model"}
    return {"anthropic_version": "vertex-2023-10-16"} | _encode_betas(request) | kept


def _encode_betas(request: TurnRequest) -> JsonObject:
    betas = messages_request.find_betas(request)
    return {"anthropic_beta": betas} if betas else {}


class BedrockMessagesDecoder(MessagesDecoder):
    """Decodes Anthropic's events out of the event stream of Bedrock."""

    def _new_framing(self) -> StreamFraming:
        return AmazonChunkParser()

    def _read_event(self, data: bytes, event: str) -> None:
        if event != "exception":
            super()._read_event(data, event)
            return
        self._fail(error_from_object(loads(data)))
