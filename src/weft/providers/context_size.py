"""Finds the size of a model's context.

Ollama runs a model with a context of a few thousand tokens unless a request names another size, and removes the start
of a longer prompt without an error. Other servers have one size, which llama.cpp, vLLM and LM Studio report. Models of
known providers are in the catalogue.
"""

import asyncio
import re
import time
from contextlib import suppress
from urllib.parse import urlsplit

from weft.core.errors import ProviderError
from weft.core.json import as_int, as_object, encode, loads
from weft.http1.errors import NetworkError
from weft.providers.catalogue import describe_model, has_list_price
from weft.providers.local_servers import context_sizes, fetch_json
from weft.providers.model import Model
from weft.providers.transport import Response, Transport

_SECONDS = 5.0
_MAX_BYTES = 1 << 20
_OWN_SIZE = re.compile(r"^\s*num_ctx\s+(\d+)?", re.MULTILINE)
_OLLAMA_DEFAULT = 4096


async def find_context_size(model: Model) -> int | None:
    """Return the size of a model's context in tokens, from its quirks, the catalogue or its server; None if unknown."""
    if model.endpoint.quirks.context_size is not None:
        return model.endpoint.quirks.context_size
    return await asyncio.to_thread(_look_up, model)


def _look_up(model: Model) -> int | None:
    listed = describe_model(model).context_window if has_list_price(model) else None
    if listed is not None:
        return listed
    parts = urlsplit(model.base_url)
    if parts.scheme != "http" or not parts.hostname:
        return None
    until = time.monotonic() + _SECONDS
    host, port, headers = parts.hostname, parts.port or 80, model.request_headers
    running = as_int(
        as_object(as_object(fetch_json(host, port, "/props", headers, until)).get("default_generation_settings")).get(
            "n_ctx"
        )
    )
    if running:
        return running
    sizes = context_sizes(model.provider, fetch_json(host, port, f"{parts.path}/models", headers, until))
    return sizes.get(model.name) or (next(iter(sizes.values())) if len(sizes) == 1 else None)


async def ollama_context(model: Model, transport: Transport) -> tuple[int | None, int]:
    """Return the size to request, that of the model and at most the cap of its endpoint, and the size that results.

    No size is requested if the server does not know it, or if the model's own file sets one.
    """
    shown = as_object(await _post(model, transport))
    own = _OWN_SIZE.search(str(shown.get("parameters", "")))
    if own is not None:
        return None, int(own[1] or _OLLAMA_DEFAULT)
    info = as_object(shown.get("model_info"))
    sizes = [as_int(value) for name, value in info.items() if name.endswith(".context_length")]
    size = next((each for each in sizes if each), None)
    if size is None:
        return None, _OLLAMA_DEFAULT
    requested = min(size, model.endpoint.quirks.context_cap)
    return requested, requested


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
