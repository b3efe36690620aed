"""Finds the facts that a server has about a model: the size of its context, and its number of parameters.

Ollama runs a model with a context of a few thousand tokens unless a request names another size, and removes the start
of a longer prompt without an error. Other servers have one size, which llama.cpp, vLLM and LM Studio report. Models of
known providers are in the catalogue.
"""

import asyncio
import re
import time
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from heald.core.errors import ProviderError
from heald.core.json import as_int, as_object, as_objects, encode, loads
from heald.core.lazy import lazy_pattern
from heald.http1.errors import NetworkError
from heald.providers.catalogue import describe_model
from heald.providers.list_price import has_list_price
from heald.providers.model import Model
from heald.providers.transport import Response, Transport

_SECONDS = 5.0
_REMEMBERED_SECONDS = 10.0
"""How long the facts of a server are used again: it may be started anew with a larger context."""
_MAX_BYTES = 1 << 20
_OWN_SIZE = lazy_pattern(r"^\s*num_ctx\s+(\d+)?", re.MULTILINE)
_OLLAMA_DEFAULT = 4096


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that a server reports about a model. None means unknown."""

    context_size: int | None = None
    parameters: int | None = None
    is_llama_cpp: bool = False
    """The server is that of llama.cpp, which can report how much of a prompt is read."""


async def find_context_size(model: Model) -> int | None:
    """Return the size of a model's context in tokens, from its quirks, the catalogue or its server; None if unknown."""
    if model.endpoint.quirks.context_size is not None:
        return model.endpoint.quirks.context_size
    return (await find_server_facts(model)).context_size


async def find_server_facts(model: Model) -> ServerFacts:
    """Return the facts about a model, from the catalogue or from its server. They are remembered for a while: many
    agents may use one server."""
    key = (model.base_url, model.name, model.wire.name)
    now = time.monotonic()
    until, facts = _remembered.get(key, (0.0, None))
    if facts is not None and now < until:
        return facts
    facts = await asyncio.to_thread(_look_up, model)
    for old in [place for place, (until, _) in _remembered.items() if until <= now]:
        del _remembered[old]
    _remembered[key] = now + _REMEMBERED_SECONDS, facts
    return facts


def _look_up(model: Model) -> ServerFacts:
    listed = describe_model(model).context_window if has_list_price(model) else None
    if listed is not None:
        return ServerFacts(context_size=listed)
    parts = urlsplit(model.base_url)
    if parts.scheme != "http" or not parts.hostname:
        return ServerFacts()
    from heald.providers.local_servers import context_sizes, fetch_json  # loads an HTTP client of its own

    until = time.monotonic() + _SECONDS
    host, port, headers = parts.hostname, parts.port or 80, model.request_headers
    running = as_int(
        as_object(as_object(fetch_json(host, port, "/props", headers, until)).get("default_generation_settings")).get(
            "n_ctx"
        )
    )
    listing = fetch_json(host, port, f"{parts.path}/models", headers, until)
    sizes = context_sizes(model.provider, listing)
    return ServerFacts(
        context_size=running or _of_model(sizes, model.name),
        parameters=_of_model(_parameter_counts(listing), model.name),
        is_llama_cpp=bool(running),
    )


def _parameter_counts(listing: object) -> dict[str, int]:
    """The numbers of parameters that llama.cpp's server lists, by model."""
    entries = as_objects(as_object(listing).get("data"))
    counts = {str(entry.get("id")): as_int(as_object(entry.get("meta")).get("n_params")) for entry in entries}
    return {name: count for name, count in counts.items() if count}


def _of_model(values: dict[str, int], name: str) -> int | None:
    """The value of a model. A server with one model answers to any name."""
    return values.get(name) or (next(iter(values.values())) if len(values) == 1 else None)


_remembered: dict[tuple[str, str, str], tuple[float, ServerFacts]] = {}
"""The facts that were found lately, and until when they are used again."""


class OllamaFacts(NamedTuple):
    """The facts that an Ollama server reports about a model."""

    requested_size: int | None
    """The context to request: that of the model, and at most the cap of its endpoint."""
    context_size: int
    """The context that results."""
    parameters: int | None


async def ollama_facts(model: Model, transport: Transport) -> OllamaFacts:
    """Ask an Ollama server about a model.

    No size is requested if the server does not know it, or if the model's own file sets one.
    """
    description = as_object(await _post(model, transport))
    info = as_object(description.get("model_info"))
    parameters = as_int(info.get("general.parameter_count"))
    set_size = _OWN_SIZE.search(str(description.get("parameters", "")))
    if set_size is not None:
        return OllamaFacts(None, int(set_size[1] or _OLLAMA_DEFAULT), parameters)
    sizes = [as_int(value) for name, value in info.items() if name.endswith(".context_length")]
    size = next((length for length in sizes if length), None)
    if size is None:
        return OllamaFacts(None, _OLLAMA_DEFAULT, parameters)
    requested = min(size, model.endpoint.quirks.context_cap)
    return OllamaFacts(requested, requested, parameters)


async def _post(model: Model, transport: Transport) -> object:
    """Ask for the facts of a model. Returns None on any failure: the turn itself reports it."""
    with suppress(ProviderError, NetworkError, OSError, ValueError):  # TimeoutError is an OSError
        async with asyncio.timeout(_SECONDS):
            response = await transport.post(
                f"{model.base_url}/api/show",
                headers={**model.request_headers, "accept": "application/json"},
                body=encode({"model": model.name}),
                connect_timeout=_SECONDS,
            )
            try:
                return loads(await _read(response)) if response.status == 200 else None
            finally:
                response.close()
    return None


async def _read(response: Response) -> bytes:
    body = b""
    while len(body) < _MAX_BYTES and (chunk := await response.read_chunk()):
        body += chunk
    return body
