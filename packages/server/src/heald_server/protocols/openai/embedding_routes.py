"""`/v1/embeddings`: vectors of texts, by the provider of a model."""

import base64
import struct
from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heald.core.errors import ProviderError
from heald.core.json import JsonObject, as_object
from heald.providers.embeddings import EmbeddingInput, embed, require_embeddings
from heald_server.context import ServerContext
from heald_server.http.operations import json_response
from heald_server.http.route_description import RouteDescription
from heald_server.protocols.openai.dialect import encode_usage
from heald_server.protocols.openai.provider_calls import (
    CLIENT_CLOSED,
    ProviderCalls,
    estimate_usage,
    failed_response,
    until_disconnect,
)
from heald_server.protocols.openai.shapes import EmbeddingBody, EmbeddingList
from heald_server.protocols.shared.client_bodies import read_json, text_field
from heald_server.protocols.shared.parameter_table import (
    SHARED_IGNORED,
    SHARED_REFUSED,
    Parameter,
    ParameterTable,
    name_dropped,
    parameters,
)
from heald_server.protocols.shared.shapes import V1ErrorBody
from heald_server.protocols.shared.v1_parameters import refusal

_MAX_INPUTS = 2048

EMBEDDING_PARAMETERS = ParameterTable(
    "POST /v1/embeddings",
    [
        *parameters("honoured", "", "model", "encoding_format"),
        Parameter("input", "honoured", f"a text or its tokens, or at most {_MAX_INPUTS} of them; Gemini has no tokens"),
        Parameter("dimensions", "honoured", "where the model has a choice"),
        *SHARED_IGNORED,
        *parameters("dropped", "not passed on", "input_type", "task_type", "truncate", "truncate_prompt_tokens"),
        *SHARED_REFUSED,
    ],
)
_DESCRIPTION = RouteDescription(
    "POST",
    "/v1/embeddings",
    "The embeddings of texts, by the provider of a model.",
    tag="v1",
    error_body=V1ErrorBody,
    body=EmbeddingBody,
    response=EmbeddingList,
    errors=("forbidden", "not_found", "too_many", "budget", "unavailable"),
)


class EmbeddingRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._calls = ProviderCalls(context)

    def routes(self) -> list[BaseRoute | RouteDescription]:
        return [Route("/v1/embeddings", self._embed, methods=["POST"]), _DESCRIPTION]

    async def _embed(self, request: Request) -> Response:
        body = as_object(await read_json(request))
        name = text_field(body, "model") or ""
        model = self._calls.open_model(name)
        dropped = EMBEDDING_PARAMETERS.check(body)
        EMBEDDING_PARAMETERS.note(dropped)
        inputs, dimensions, encoding = _read_inputs(body), _read_dimensions(body), _read_encoding(body)
        require_embeddings(model)
        owner = await self._calls.admit(request)
        with self._calls.counting(owner):
            try:
                embeddings = await until_disconnect(request, embed(model, inputs, dimensions))
            except ProviderError as error:
                return failed_response(error)
            sent = " ".join(text if isinstance(text, str) else "word" * len(text) for text in inputs)
            usage = estimate_usage(embeddings.usage if embeddings else None, sent)
            cost = await self._calls.record(owner, model, usage, embeddings.billed_usd if embeddings else None)
        if embeddings is None:
            return Response(status_code=CLIENT_CLOSED)
        counts = encode_usage(usage, cost)
        rows = [
            {"object": "embedding", "index": index, "embedding": encoding(vector)}
            for index, vector in enumerate(embeddings.vectors)
        ]
        input_counts = {key: counts[key] for key in ("prompt_tokens", "total_tokens", "cost") if key in counts}
        response = json_response({"object": "list", "data": rows, "model": name or "heald", "usage": input_counts})
        return name_dropped(response, dropped)


def _read_inputs(body: JsonObject) -> list[EmbeddingInput]:
    wrong = refusal("input", f"input is a text or a list of tokens, or a list of at most {_MAX_INPUTS} of them.")
    try:
        value = msgspec.convert(body.get("input"), str | list[str | int | list[int]])
    except msgspec.ValidationError:
        raise wrong from None
    if isinstance(value, str):
        return [value]
    inputs: list[EmbeddingInput] = [entry for entry in value if not isinstance(entry, int)]
    tokens = [entry for entry in value if isinstance(entry, int)]
    if tokens and not inputs:
        return [tokens]
    if tokens or not 0 < len(inputs) <= _MAX_INPUTS or not all(inputs):
        raise wrong
    return inputs


def _read_dimensions(body: JsonObject) -> int | None:
    dimensions = body.get("dimensions")
    if dimensions is not None and (type(dimensions) is not int or dimensions < 1):
        raise refusal("dimensions", "dimensions is a number of at least 1.")
    return dimensions


def _read_encoding(body: JsonObject) -> Callable[[list[float]], object]:
    match body.get("encoding_format"):
        case None | "float":
            return list
        case "base64":
            return _encode_base64
        case _:
            raise refusal("encoding_format", "encoding_format is float or base64.")


def _encode_base64(vector: list[float]) -> str:
    """The numbers as 32-bit floats, as that API sends them."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
