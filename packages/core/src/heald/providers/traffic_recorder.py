"""Records provider traffic in a file."""

import asyncio
import os
from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from heald.core.errors import ConfigurationError, ProviderError
from heald.core.json import encode
from heald.providers.model import Model
from heald.providers.network_errors import describe_os_error
from heald.providers.recorded_exchange import Piece, RecordedExchange, RecordedFailure
from heald.providers.transport import Response

_SECRET_HEADERS = (
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "set-cookie",
    "proxy-authorization",
)


class TrafficRecorder:
    """Records traffic."""

    kind: Literal["recorder"] = "recorder"

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        except OSError as error:
            raise ConfigurationError(f"The recording {path} cannot be written: {error.strerror}.") from None

    async def post(self, request: Awaitable[Response], model: Model, body: bytes) -> Response:
        """Wait for the response and record everything that is read of it."""
        secrets = model.secrets
        request_body = msgspec.json.decode(_mask(body, secrets))
        exchange = RecordedExchange(model.url, _public(model.request_headers), request_body)
        loop = asyncio.get_running_loop()
        start = loop.time()
        read_so_far: list[tuple[float, bytes]] = []

        def end(how: str, failure: RecordedFailure | None = None) -> None:
            if exchange.ended:
                return
            exchange.ended, exchange.failure = how, failure
            exchange.pieces = [Piece.of(ms, data) for ms, data in _masked(read_so_far, secrets)]
            self._write(exchange)

        try:
            response = await request
        except ProviderError as error:
            end("failed", RecordedFailure(error.code, str(error), getattr(error, "reached", True)))
            raise
        exchange.status = response.status
        exchange.headers = {n: _mask(v.encode(), secrets).decode() for n, v in _public(response.headers).items()}

        async def read_chunk() -> bytes:
            try:
                data = await response.read_chunk()
            except Exception as error:
                end(describe_os_error(error))
                raise
            if data:
                read_so_far.append((round((loop.time() - start) * 1000, 3), data))
            return data

        def release() -> None:
            end("eof")
            response.release()

        def close() -> None:
            end("closed")
            response.close()

        return Response(
            response.status, response.headers, read_chunk, at_end=response.at_end, release=release, close=close
        )

    def _write(self, exchange: RecordedExchange) -> None:
        with self._path.open("ab") as file:
            file.write(encode(exchange) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _masked(pieces: list[tuple[float, bytes]], secrets: Iterable[str]) -> list[tuple[float, bytes]]:
    """Mask the secrets in the pieces, also where one spans two pieces."""
    whole = _mask(b"".join(data for _, data in pieces), secrets)
    masked: list[tuple[float, bytes]] = []
    at = 0
    for ms, data in pieces:
        masked.append((ms, whole[at : at + len(data)]))
        at += len(data)
    return masked


def _public(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET_HEADERS}


def _mask(data: bytes, secrets: Iterable[str]) -> bytes:
    """Mask the secrets in the data, at the same length."""
    for secret in secrets:
        data = data.replace(secret.encode(), b"*" * len(secret.encode()))
    return data
