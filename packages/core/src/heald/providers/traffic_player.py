"""Plays recorded traffic back byte for byte, in the same pieces."""

import asyncio
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import msgspec

from heald.core.errors import ConfigurationError, ConnectionFailed, ProviderTimeout
from heald.core.json import JsonObject
from heald.providers.recorded_exchange import RecordedExchange
from heald.providers.transport import Response


class TrafficPlayer:
    """Replays traffic. A request gets the first recorded response to the same request that was not played yet."""

    kind: Literal["player"] = "player"

    def __init__(self, path: Path, speed: float) -> None:
        self._path = path
        self._speed = speed
        self._all = _load(path)
        self._left = list(enumerate(self._all, 1))

    async def post(self, url: str, body: bytes) -> Response:
        exchange = self._next_exchange(url, msgspec.json.decode(body))
        if exchange.failure is not None:
            kind = ProviderTimeout if exchange.failure.code == "timeout" else ConnectionFailed
            raise kind(exchange.failure.message, reached=exchange.failure.reached)
        pieces = iter(exchange.pieces)
        start = asyncio.get_running_loop().time()

        async def read_chunk() -> bytes:
            piece = next(pieces, None)
            if piece is not None:
                await self._wait(start, piece.ms)
                return piece.data
            if exchange.ended not in ("eof", "closed"):
                raise ConnectionResetError(exchange.ended)
            return b""

        return Response(exchange.status, exchange.headers, read_chunk, at_end=_no, release=_nothing, close=_nothing)

    def _next_exchange(self, url: str, request: Any) -> RecordedExchange:
        if not self._left:
            raise ConfigurationError(f"{self._path} holds {len(self._all)} exchanges and all were played.")
        path = urlsplit(url).path
        for place, (_, exchange) in enumerate(self._left):
            if urlsplit(exchange.url).path == path and exchange.request == request:
                return self._left.pop(place)[1]
        line, exchange = self._left[0]
        where = f"{self._path}, line {line}"
        if urlsplit(exchange.url).path != path:
            raise ConfigurationError(f"{where} was recorded for {exchange.url}, but {url} is requested.")
        raise ConfigurationError(f"{where} was recorded for another request: {_difference(exchange.request, request)}.")

    async def _wait(self, start: float, ms: float) -> None:
        if not self._speed:
            return
        left = ms / 1000 / self._speed - (asyncio.get_running_loop().time() - start)
        if left > 0:
            await asyncio.sleep(left)


def _load(path: Path) -> list[RecordedExchange]:
    decoder = msgspec.json.Decoder(RecordedExchange)
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigurationError(f"The recording {path} cannot be read: {error.strerror}.") from None
    exchanges: list[RecordedExchange] = []
    for number, line in enumerate(lines, 1):
        try:
            exchanges.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise ConfigurationError(f"{path}, line {number} is not a recorded exchange: {error}.") from None
    return exchanges


def _nothing() -> None:
    pass


def _no() -> bool:
    return False


def _difference(recorded: Any, requested: Any) -> str:
    """Describe where two requests first differ."""
    match recorded, requested:
        case dict(), dict():
            old, new = cast("JsonObject", recorded), cast("JsonObject", requested)
            key = next(key for key in [*old, *new] if old.get(key) != new.get(key))
            return f"{key}: {_difference(old.get(key), new.get(key))}"
        case list(), list():
            olds, news = cast("list[Any]", recorded), cast("list[Any]", requested)
            pairs = enumerate(zip(olds, news, strict=False))
            return next(
                (f"[{index}] {_difference(old, new)}" for index, (old, new) in pairs if old != new),
                f"{len(olds)} items recorded, {len(news)} requested",
            )
        case _:
            return f"{str(recorded)[:80]!r} recorded, {str(requested)[:80]!r} requested"
