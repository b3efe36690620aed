"""One call of a provider's API that is not a turn: counting tokens, uploading a file, a batch. It is not retried."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Literal

import msgspec

from heald.core.errors import MalformedResponse, ProviderError, ProviderTimeout
from heald.core.json import JsonObject, as_object, loads
from heald.http1.errors import NetworkError
from heald.providers.defaults import default_timeouts
from heald.providers.error_advice import explain_error
from heald.providers.model import Model
from heald.providers.network_errors import network_error
from heald.providers.transport import BrokenRead, Response, Transport
from heald.wires.errors import error_from_response

_SECONDS = 120.0
MAX_REPLY = 1 << 30
"""The results of a large batch are hundreds of megabytes."""


class ApiReply(msgspec.Struct, frozen=True):
    headers: Mapping[str, str]
    body: bytes

    def object(self) -> JsonObject:
        """Parse the body. Raises MalformedResponse if it is not a JSON object."""
        try:
            return as_object(loads(self.body))
        except ValueError:
            raise MalformedResponse("The server did not answer with JSON; check the base URL and the wire.") from None


@asynccontextmanager
async def open_call(
    model: Model,
    url: str,
    *,
    method: Literal["GET", "POST"] = "POST",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> AsyncGenerator[Response]:
    """Send a request with the key of a model and yield the response, whose head comes within `seconds`.

    Raises a ProviderError that is explained, also for what fails while the response is read.
    """
    with _explained_errors(model, url, seconds):
        async with asyncio.timeout(seconds):
            response = await _send(model, url, method, body, headers or {})
        try:
            await _check_status(response)
            yield response
        finally:
            response.close()


async def call_api(
    model: Model,
    url: str,
    *,
    method: Literal["GET", "POST"] = "POST",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> ApiReply:
    """Send a request with the key of a model and read the whole answer. Raises a ProviderError that is explained."""
    with _explained_errors(model, url, seconds):
        async with asyncio.timeout(seconds):
            response = await _send(model, url, method, body, headers or {})
            try:
                await _check_status(response)
                content = await response.read_body(MAX_REPLY)
            finally:
                response.close()
        if content is None:
            raise MalformedResponse(f"The answer has more than {MAX_REPLY >> 20} MiB.")
        return ApiReply(response.headers, content)


async def _send(
    model: Model, url: str, method: Literal["GET", "POST"], body: bytes, headers: Mapping[str, str]
) -> Response:
    sent = {**model.request_headers, "accept": "application/json", **headers}
    if model.signer is not None:
        sent = await model.signer.sign(url, sent, body)
    transport = await Transport.for_running_loop()
    connect = default_timeouts().connect
    if method == "GET":
        return await transport.get(url, headers=sent, connect_timeout=connect)
    return await transport.post(url, headers=sent, body=body, connect_timeout=connect)


async def _check_status(response: Response) -> None:
    if not 200 <= response.status < 300:
        raise error_from_response(response.status, response.headers, await response.read_error())


@contextmanager
def _explained_errors(model: Model, url: str, seconds: float) -> Generator[None]:
    """Raise what fails in the block as a ProviderError that is explained."""
    try:
        yield
    except ProviderError as error:
        cause = error
    except TimeoutError:
        cause = ProviderTimeout(f"The server did not answer within {seconds:g} s.")
    except BrokenRead as broken:
        cause = network_error(broken.cause, url)
    except (NetworkError, OSError) as error:
        cause = network_error(error, url)
    else:
        return
    raise explain_error(cause, model) from None
