"""Anthropic Messages on Google Vertex: the same API with the model in the path.

https://docs.anthropic.com/en/api/claude-on-vertex-ai
"""

from urllib.parse import quote

from heald.core.json import JsonObject
from heald.wires import messages_request
from heald.wires.features import PASSED, WireFeatures
from heald.wires.messages import MessagesDecoder
from heald.wires.request import TurnRequest
from heald.wires.wire import Wire

FEATURES: WireFeatures = {
    **messages_request.CLOUD_FEATURES,
    "token_count": "POST /models/count-tokens:rawPredict",
    "web_search": PASSED,
}


def request_path(model: str) -> str:
    return f"/models/{quote(model, safe='@')}:streamRawPredict"


def build_request(request: TurnRequest) -> JsonObject:
    body = messages_request.build_request(request)
    members = {name: body[name] for name in body if name != "model"}
    return {"anthropic_version": "vertex-2023-10-16"} | messages_request.betas_in_body(request) | members


def encode_count(request: TurnRequest, body: JsonObject) -> tuple[str, JsonObject]:
    """The call that counts the tokens of a request."""
    return "/models/count-tokens:rawPredict", {**messages_request.keep_counted(body), "model": request.model}


WIRE = Wire(
    name="vertex-messages",
    request_path=request_path,
    encode_request=build_request,
    decoder=MessagesDecoder,
    features=FEATURES,
    encode_count=encode_count,
)
