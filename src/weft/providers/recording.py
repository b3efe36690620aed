"""Records provider traffic in a file and plays it back byte for byte, in the same pieces, without a network.

    with weft.record("traffic.jsonl"):
        ...  # every turn of a real endpoint is written as it happens
    with weft.replay("traffic.jsonl"):
        ...  # the same turns, from the file; no key needed

Each line of the file is a JSON object with one exchange: the request without its secrets, the response's status,
headers and timed pieces, and how it ended.
"""

import asyncio
import base64
import os
from collections.abc import Awaitable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import msgspec

from weft.core.errors import ConfigurationError, ConnectionFailed, ProviderError, ProviderTimeout
from weft.core.json import JsonObject, encode
from weft.providers.defaults import tape_of_context
from weft.providers.model import Model
from weft.providers.transport import Response, describe_os_error

_SECRET_HEADERS = (
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "set-cookie",
    "proxy-authorization",
)


class Piece(msgspec.Struct, omit_defaults=True):
    """The bytes of one read, `ms` after the request."""

    ms: float
    text: str | None = None
    base64: str | None = None

    @staticmethod
    def of(ms: float, data: bytes) -> "Piece":
        try:
            return Piece(ms, text=data.decode())
        except UnicodeDecodeError:
            return Piece(ms, base64=base64.b64encode(data).decode())

    @property
    def data(self) -> bytes:
        return self.text.encode() if self.text is not None else base64.b64decode(self.base64 or "")


class RecordedFailure(msgspec.Struct):
    """A request that got no response."""

    code: str
    message: str
    reached: bool


class RecordedExchange(msgspec.Struct, omit_defaults=True):
    url: str
    request_headers: dict[str, str]
    request: Any
    status: int = 0
    headers: dict[str, str] = {}
    pieces: list[Piece] = []
    ended: str = ""
    """`eof` (read to the end), `closed` (reading was stopped), or how the connection broke."""
    failure: RecordedFailure | None = None


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
        asked = msgspec.json.decode(mask(body, secrets))
        exchange = RecordedExchange(model.url, _public(model.request_headers), asked)
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
        exchange.headers = {n: mask(v.encode(), secrets).decode() for n, v in _public(response.headers).items()}

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
            raise ConfigurationError(f"{where} was recorded for {exchange.url}, but {url} is asked.")
        raise ConfigurationError(f"{where} was recorded for another request: {_difference(exchange.request, request)}.")

    async def _wait(self, start: float, ms: float) -> None:
        if not self._speed:
            return
        left = ms / 1000 / self._speed - (asyncio.get_running_loop().time() - start)
        if left > 0:
            await asyncio.sleep(left)


@contextmanager
def record(path: str | os.PathLike[str]) -> Generator[None]:
    """Append the traffic of every turn inside the block to a file, without keys."""
    yield from _run(TrafficRecorder(Path(path)))


@contextmanager
def replay(path: str | os.PathLike[str], *, speed: float = 0.0) -> Generator[None]:
    """Answer every turn inside the block from a file. `speed` 1 keeps the recorded pace, 0 does not wait."""
    yield from _run(TrafficPlayer(Path(path), speed))


def _run(tape: TrafficRecorder | TrafficPlayer) -> Generator[None]:
    token = tape_of_context.set(tape)
    try:
        yield
    finally:
        tape_of_context.reset(token)


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


def mask(data: bytes, secrets: Iterable[str]) -> bytes:
    """Mask the secrets in the data, at the same length."""
    for secret in secrets:
        data = data.replace(secret.encode(), b"*" * len(secret.encode()))
    return data


def _masked(pieces: list[tuple[float, bytes]], secrets: Iterable[str]) -> list[tuple[float, bytes]]:
    """Mask the secrets in the pieces, also where one spans two pieces."""
    whole = mask(b"".join(data for _, data in pieces), secrets)
    masked: list[tuple[float, bytes]] = []
    at = 0
    for ms, data in pieces:
        masked.append((ms, whole[at : at + len(data)]))
        at += len(data)
    return masked


def _nothing() -> None:
    pass


def _no() -> bool:
    return False


def _public(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET_HEADERS}


def _difference(recorded: Any, asked: Any) -> str:
    """Describe where two requests first differ."""
    match recorded, asked:
        case dict(), dict():
            old, new = cast("JsonObject", recorded), cast("JsonObject", asked)
            key = next(key for key in [*old, *new] if old.get(key) != new.get(key))
            return f"{key}: {_difference(old.get(key), new.get(key))}"
        case list(), list():
            olds, news = cast("list[Any]", recorded), cast("list[Any]", asked)
            pairs = enumerate(zip(olds, news, strict=False))
            return next(
                (f"[{index}] {_difference(old, new)}" for index, (old, new) in pairs if old != new),
                f"{len(olds)} items recorded, {len(news)} asked",
            )
        case _:
            return f"{str(recorded)[:80]!r} recorded, {str(asked)[:80]!r} asked"
