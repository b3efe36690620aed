"""Finds the context size that is requested from an Ollama server.

Ollama runs a model with a context of a few thousand tokens unless a request names another size, and removes the start
of a longer prompt without an error.
"""

import asyncio
import re
from contextlib import suppress

from weft.core.errors import ProviderError
from weft.core.json import as_int, as_object, encode, loads
from weft.http1.errors import NetworkError
from weft.providers.model import Model
from weft.providers.transport import Response, Transport

_SECONDS = 5.0
_MAX_BYTES = 1 << 20
_OWN_SIZE = re.compile(r"^\s*num_ctx\s", re.MULTILINE)


async def ollama_context(model: Model, transport: Transport) -> int | None:
    """Return the size to request: that of the model, at most the cap of its endpoint.

    None if the server does not know it, or if the model's own file sets a size.
    """
    shown = as_object(await _post(model, transport))
    if _OWN_SIZE.search(str(shown.get("parameters", ""))):
        return None
    info = as_object(shown.get("model_info"))
    sizes = [as_int(value) for name, value in info.items() if name.endswith(".context_length")]
    size = next((each for each in sizes if each), None)
    return min(size, model.endpoint.quirks.context_cap) if size is not None else None


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
