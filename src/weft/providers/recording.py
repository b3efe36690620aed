"""Traffic kept in a file and played back byte for byte, in the same pieces, without a network.

    with weft.record("traffic.jsonl"):
        ...  # every turn of a real endpoint is written as it happens
    with weft.replay("traffic.jsonl"):
        ...  # the same turns, from the file; no key needed

A file holds one JSON object a line, an exchange each: the request without its secrets, the answer's status, headers
and pieces with their times, and how it ended.
"""

import asyncio
import base64
import os
from collections.abc import Awaitable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from weft.core.errors import ConfigurationError, ConnectionFailed
from weft.core.json import JsonObject
from weft.providers.model import Model
from weft.providers.transport import Response

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
    """Bytes as one read brought them, `ms` after the request."""

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


class RecordedExchange(msgspec.Struct, omit_defaults=True):
    url: str
    request_headers: dict[str, str]
    request: Any
    status: int = 0
    headers: dict[str, str] = {}
    pieces: list[Piece] = []
    ended: str = ""
    """`eof` (all that was wanted was read), `closed` (we stopped reading), or the network's error."""


class Recorder:
    """Writes what passes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)

    async def post(self, request: Awaitable[Response], model: Model, body: bytes) -> Response:
        """Wait for the answer, and keep all that is read of it."""
        secret = (model.api_key or "").encode()
        loop = asyncio.get_running_loop()
        start = loop.time()
        exchange = RecordedExchange(
            model.url, _public(model.request_headers), msgspec.json.decode(_hidden(body, secret)), pieces=[]
        )
        try:
            response = await request
        except BaseException as error:
            self._end(exchange, f"{type(error).__name__}: {_hidden(str(error).encode(), secret).decode()}")
            raise
        exchange.status, exchange.headers = response.status, _public(response.headers)
        read = response.read_chunk

        async def read_chunk() -> bytes:
            try:
                data = await read()
            except Exception as error:
                self._end(exchange, f"{type(error).__name__}: {error}")
                raise
            if data:
                exchange.pieces.append(Piece.of(round((loop.time() - start) * 1000, 3), _hidden(data, secret)))
            return data

        def release() -> None:
            self._end(exchange, "eof")
            response.release()

        def close() -> None:
            self._end(exchange, "closed")
            response.close()

        return Response(
            response.status, response.headers, read_chunk, at_end=response.at_end, release=release, close=close
        )

    def _end(self, exchange: RecordedExchange, how: str) -> None:
        """Written once, however the answer ended."""
        if not exchange.ended:
            exchange.ended = how
            self._write(exchange)

    def _write(self, exchange: RecordedExchange) -> None:
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(exchange) + b"\n")
            file.flush()
            os.fsync(file.fileno())


class Player:
    """Answers from a file, in order. A request must be the one that was recorded."""

    def __init__(self, path: Path, speed: float) -> None:
        self._path = path
        self._speed = speed
        self._exchanges = _load(path)
        self._next = 0

    def post(self, url: str, body: bytes) -> Response:
        exchange = self._take(url, msgspec.json.decode(body))
        if exchange.status == 0:
            raise ConnectionFailed(f"The recorded request failed: {exchange.ended}", reached=False)
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

    def _take(self, url: str, request: Any) -> RecordedExchange:
        place = f"{self._path}, line {self._next + 1}"
        if self._next >= len(self._exchanges):
            raise ConfigurationError(f"{self._path} holds {len(self._exchanges)} exchanges and all were played.")
        exchange = self._exchanges[self._next]
        self._next += 1
        if urlsplit(exchange.url).path != urlsplit(url).path:
            raise ConfigurationError(f"{place} was recorded for {exchange.url}, but {url} is asked.")
        if exchange.request != request:
            raise ConfigurationError(
                f"{place} was recorded for another request: {_difference(exchange.request, request)}."
            )
        return exchange

    async def _wait(self, start: float, ms: float) -> None:
        if not self._speed:
            return
        left = ms / 1000 / self._speed - (asyncio.get_running_loop().time() - start)
        if left > 0:
            await asyncio.sleep(left)


_tape: ContextVar[Recorder | Player | None] = ContextVar("weft_tape", default=None)


def current_tape() -> Recorder | Player | None:
    return _tape.get()


@contextmanager
def record(path: str | os.PathLike[str]) -> Generator[None]:
    """Append the traffic of every turn inside to a file. Keys are left out."""
    yield from _run(Recorder(Path(path)))


@contextmanager
def replay(path: str | os.PathLike[str], *, speed: float = 0.0) -> Generator[None]:
    """Answer every turn inside from a file. `speed` 1 keeps the recorded pace, 0 does not wait."""
    yield from _run(Player(Path(path), speed))


def _run(tape: Recorder | Player) -> Generator[None]:
    token = _tape.set(tape)
    try:
        yield
    finally:
        _tape.reset(token)


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


def _hidden(data: bytes, secret: bytes) -> bytes:
    return data.replace(secret, b"[key]") if secret else data


def _nothing() -> None:
    pass


def _no() -> bool:
    return False


def _public(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET_HEADERS}


def _difference(recorded: Any, asked: Any) -> str:
    """Where two requests first differ."""
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
