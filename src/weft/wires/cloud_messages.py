"""Anthropic Messages on Amazon Bedrock and Google Vertex: the same API with another path, and the model in the path.

Bedrock: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
Vertex:  https://docs.anthropic.com/en/api/claude-on-vertex-ai
"""

from urllib.parse import quote

from weft.core.json import JsonObject, loads
from weft.wires import messages
from weft.wires.amazon_framing import AmazonChunkParser
from weft.wires.errors import error_from_object
from weft.wires.framing import StreamFraming
from weft.wires.messages import MessagesDecoder
from weft.wires.request import TurnRequest


def bedrock_path(model: str) -> str:
    return f"/model/{quote(model, safe='')}/invoke-with-response-stream"


def build_bedrock_request(request: TurnRequest) -> JsonObject:
    body = messages.build_request(request)
    kept = {name: value for name, value in body.items() if name not in ("model", "stream")}
    return {"anthropic_version": "bedrock-2023-05-31"} | kept


def vertex_path(model: str) -> str:
    return f"/models/{quote(model, safe='@')}:streamRawPredict"


def build_vertex_request(request: TurnRequest) -> JsonObject:
    body = messages.build_request(request)
    return {"anthropic_version": "vertex-2023-10-16"} | {name: body[name] for name in body if name != "model"}


class BedrockMessagesDecoder(MessagesDecoder):
    """Decodes Anthropic's events out of the event stream of Bedrock."""

    def _new_framing(self) -> StreamFraming:
        return AmazonChunkParser()

    def _read_event(self, data: bytes, event: str) -> None:
        if event != "exception":
            super()._read_event(data, event)
            return
        self._fail(error_from_object(loads(data)))
