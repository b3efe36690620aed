"""Anthropic Messages on Amazon Bedrock: the same API in Amazon's event stream, with the model in the path.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
"""

import base64
from urllib.parse import quote

from heald.core.json import JsonObject, encode
from heald.wires import messages_request
from heald.wires.amazon_framing import AmazonChunkParser
from heald.wires.errors import error_from_named_event
from heald.wires.features import WireFeatures
from heald.wires.framing import StreamFraming
from heald.wires.messages import MessagesDecoder
from heald.wires.request import TurnRequest
from heald.wires.wire import Wire

FEATURES: WireFeatures = {**messages_request.CLOUD_FEATURES, "token_count": "POST /model/…/count-tokens"}


def request_path(model: str) -> str:
    return f"/model/{quote(model, safe='')}/invoke-with-response-stream"


def build_request(request: TurnRequest) -> JsonObject:
    body = messages_request.build_request(request)
    members = {name: value for name, value in body.items() if name not in ("model", "stream")}
    return {"anthropic_version": "bedrock-2023-05-31"} | messages_request.betas_in_body(request) | members


def encode_count(request: TurnRequest, body: JsonObject) -> tuple[str, JsonObject]:
    """The call that counts the tokens of a request."""
    counted = {"invokeModel": {"body": base64.b64encode(encode(body)).decode()}}
    return f"/model/{quote(request.model, safe='')}/count-tokens", {"input": counted}


class BedrockMessagesDecoder(MessagesDecoder):
    """Decodes Anthropic's events out of the event stream of Bedrock."""

    __slots__ = ()

    def _new_framing(self) -> StreamFraming:
        return AmazonChunkParser()

    def _read_event(self, data: bytes, event: str) -> None:
        if event != "exception":
            super()._read_event(data, event)
            return
        self._fail(error_from_named_event(data))


WIRE = Wire(
    name="bedrock-messages",
    request_path=request_path,
    encode_request=build_request,
    decoder=BedrockMessagesDecoder,
    features=FEATURES,
    encode_count=encode_count,
)
