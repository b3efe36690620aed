"""Embeddings of texts, by providers whose API has them.

- OpenAI and its imitators, Mistral, Ollama: https://platform.openai.com/docs/api-reference/embeddings
- Gemini: https://ai.google.dev/api/embeddings
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from heald.core.errors import InvalidRequest, MalformedResponse
from heald.core.json import JsonObject, as_list, as_object, as_objects, encode
from heald.core.turn import Usage
from heald.providers.api_call import call_api
from heald.providers.error_advice import explain_error
from heald.providers.model import Model
from heald.wires.billed_cost import read_billed_cost
from heald.wires.chat import parse_usage
from heald.wires.usage_counts import as_count

EmbeddingInput = str | list[int]
"""A text, or its tokens."""

_GEMINI_BATCH = 100
"""Texts in one request to Gemini."""


class Embeddings(msgspec.Struct, frozen=True, kw_only=True):
    """One vector for each input, in their order."""

    vectors: list[list[float]]
    usage: Usage | None = None
    billed_usd: float | None = None
    """The cost, if the provider reports it."""


async def embed(model: Model, inputs: Sequence[EmbeddingInput], dimensions: int | None = None) -> Embeddings:
    """Return the embeddings of inputs. Raises InvalidRequest if the API of the model has none, and ProviderErrors that
    are explained."""
    require_embeddings(model)
    model.require_key()
    if model.wire.name != "gemini":
        base_url = f"{model.base_url}/v1" if model.wire.name == "ollama" else model.base_url
        return await _embed_openai(model, f"{base_url}/embeddings", inputs, dimensions)
    texts = [text for text in inputs if isinstance(text, str)]
    if len(texts) < len(inputs):
        raise InvalidRequest("Gemini embeds texts, not tokens; send the input as text.")
    return await _embed_gemini(model, texts, dimensions)


def require_embeddings(model: Model) -> None:
    """Raise InvalidRequest if the API of a model has no embeddings, or they are not supported."""
    if model.wire.name not in ("chat", "responses", "ollama", "gemini") or model.endpoint.quirks.embeddings == "none":
        raise InvalidRequest(
            f"There are no embeddings by the provider {model.provider}; use a model of a provider that has them, such "
            "as openai, gemini, mistral or ollama."
        )


async def _embed_openai(model: Model, url: str, inputs: Sequence[EmbeddingInput], dimensions: int | None) -> Embeddings:
    body: JsonObject = {"model": model.name, "input": list(inputs)}
    if dimensions is not None:
        body[model.endpoint.quirks.embeddings] = dimensions
    answer = (await call_api(model, url, body=encode(body))).object()
    rows = sorted(as_objects(answer.get("data")), key=lambda row: as_count(row.get("index")) or 0)
    counts = as_object(answer.get("usage"))
    return Embeddings(
        vectors=_vectors(model, [row.get("embedding") for row in rows], len(inputs)),
        usage=parse_usage(counts) if counts else None,
        billed_usd=read_billed_cost(counts),
    )


async def _embed_gemini(model: Model, texts: Sequence[str], dimensions: int | None) -> Embeddings:
    name = f"models/{quote(model.name.removeprefix('models/'), safe='-._~@')}"
    size = {} if dimensions is None else {"outputDimensionality": dimensions}
    vectors: list[list[float]] = []
    usage: Usage | None = None
    for begin in range(0, len(texts), _GEMINI_BATCH):
        batch = texts[begin : begin + _GEMINI_BATCH]
        requests = [{"model": name, "content": {"parts": [{"text": text}]}, **size} for text in batch]
        url = f"{model.base_url}/{name}:batchEmbedContents"
        answer = (await call_api(model, url, body=encode({"requests": requests}))).object()
        rows = [row.get("values") for row in as_objects(answer.get("embeddings"))]
        vectors += _vectors(model, rows, len(batch))
        count = as_count(as_object(answer.get("usageMetadata")).get("promptTokenCount"))
        usage = usage if count is None else (usage or Usage()) + Usage(input=count)
    return Embeddings(vectors=vectors, usage=usage)


def _vectors(model: Model, rows: Sequence[Any], count: int) -> list[list[float]]:
    """Return the vectors of an answer. Raises MalformedResponse unless there is one for each input."""
    try:
        vectors = msgspec.convert([as_list(row) for row in rows], list[list[float]])
    except msgspec.ValidationError:
        vectors = []
    if len(vectors) != count or not all(vectors):
        error = MalformedResponse(f"The answer does not hold {count} embeddings; check that the model makes them.")
        raise explain_error(error, model)
    return vectors
