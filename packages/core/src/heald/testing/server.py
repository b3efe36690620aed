"""A real HTTP/1.1 server on the loopback that sends scripted replies.

    async with ScriptedServer([Reply([b"data: hello\\n\\n"])]) as server:
        ...  # send requests to server.url
    assert server.requests[0].path == "/v1/chat/completions"

Each request gets the next reply of the script; a script that is one function answers all requests. Leaving the block
closes every connection and task. A reply can pause, be cut short or reset the connection.
"""

import asyncio
import socket
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import responses
from json import loads
from types import TracebackType
from typing import Any, Literal, Self

from heald.core.json import encode

EVENT_STREAM = "text/event-stream"

_FACT_PATHS = ("/api/show",)
_FACT_LISTS = ("/models", "/props")
_NO_LINGER = struct.pack("ii", 1, 0)
_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as the client sent it. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes
    connection: int
    """The number of its connection; requests with equal numbers came over one kept-alive connection."""
    closed_early: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client disconnects before the reply is complete."""

    @property
    def body(self) -> Any:
        """The content parsed as JSON, None if it is not JSON."""
        try:
            return loads(self.content)
        except ValueError:
            return None

    @property
    def keeps_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


@dataclass(frozen=True)
class Pause:
    """Send nothing for some seconds."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """Close the connection before the body is complete: without the last chunk, or short of the content length."""


@dataclass(frozen=True)
class Reset:
    """Reset the connection (TCP RST), as a crashed proxy does."""


@dataclass(frozen=True)
class Hang:
    """Send nothing more and keep the connection open until the client disconnects."""


Step = bytes | Pause | Cut | Reset | Hang
"""Bytes are sent in one write, and in one chunk if the body is chunked."""


@dataclass(frozen=True)
class Reply:
    body: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content_type: str = EVENT_STREAM
    framing: Literal["chunked", "length", "close"] = "chunked"
    """How the end of the body is marked; `close` marks it by closing the connection."""
    gzip: bool = False
    """Compress, with a flush after each step, as a streaming proxy does."""

    @staticmethod
    def json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> "Reply":
        """Make a reply with one JSON document, such as an error."""
        return Reply(
            [encode(value)], status=status, headers=headers or {}, content_type="application/json", framing="length"
        )


ReplyFunction = Callable[[ReceivedRequest], Reply]


class ScriptedServer:
    """Answers requests in the order of its script, or with the one function that is its script."""

    def __init__(
        self, script: Iterable[Reply | ReplyFunction] | ReplyFunction, *, facts: Mapping[str, object] | None = None
    ) -> None:
        self.requests: list[ReceivedRequest] = []
        self.fact_requests: list[ReceivedRequest] = []
        """Requests for facts about the server. They are answered from `facts`, by path, and not by the script."""
        self._facts = facts or {}
        self._answer: ReplyFunction | None = script if callable(script) else None
        self._script: list[Reply | ReplyFunction] = [] if callable(script) else list(script)
        self._server: asyncio.Server | None = None
        self._connections: set[_ClientConnection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._opened = 0
        self._closing = False
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._create_connection, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._closing = True
        self._server.close()
        for task in self._tasks:
            task.cancel()
        for connection in self._connections:
            connection.writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(connection.closed.wait() for connection in self._connections))
        await self._server.wait_closed()

    def _create_connection(self) -> "_ClientConnection":
        self._opened += 1
        return _ClientConnection(self._opened, self._start_serving)

    def _start_serving(self, connection: "_ClientConnection") -> None:
        if self._closing:  # accepted while the server closes
            connection.writer.transport.abort()
            return
        self._connections.add(connection)
        task = asyncio.get_running_loop().create_task(self._serve(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: "_ClientConnection") -> None:
        try:
            while (request := await _read_request(connection.reader, connection.number)) is not None:
                if not await connection.send(request, self._reply_to(request)) or not request.keeps_alive:
                    break
        finally:
            connection.writer.close()
        await connection.closed.wait()
        self._connections.discard(connection)

    def _reply_to(self, request: ReceivedRequest) -> Reply:
        if not _asks_for_facts(request) and request.path not in self._facts:
            self.requests.append(request)
            return self._next_reply(request)
        self.fact_requests.append(request)
        is_known = request.path in self._facts
        return Reply.json(self._facts.get(request.path, {"error": "not found"}), 200 if is_known else 404)

    def _next_reply(self, request: ReceivedRequest) -> Reply:
        answer = self._answer or (self._script.pop(0) if self._script else _script_exhausted)
        return answer if isinstance(answer, Reply) else answer(request)


def _asks_for_facts(request: ReceivedRequest) -> bool:
    return request.path.endswith(_FACT_PATHS) or (request.method == "GET" and request.path.endswith(_FACT_LISTS))


def _script_exhausted(request: ReceivedRequest) -> Reply:
    message = f"The script has no reply left for {request.method} {request.path}."
    return Reply.json({"error": {"message": message, "type": "invalid_request_error"}}, status=400)


async def _read_request(reader: asyncio.StreamReader, connection: int) -> ReceivedRequest | None:
    """Read the next request; None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        content = await _read_content(reader, headers)
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        return None
    return ReceivedRequest(method, path, headers, content, connection)


async def _read_content(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length") or 0))
    pieces: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        pieces.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(pieces)


class _ClientConnection(asyncio.StreamReaderProtocol):
    """One client. Notices a disconnect at once, even while a reply is being sent."""

    def __init__(self, number: int, on_open: Callable[["_ClientConnection"], None]) -> None:
        self.number = number
        self.reader = asyncio.StreamReader(limit=1 << 20)
        self.disconnected = asyncio.Event()
        self.closed = asyncio.Event()
        super().__init__(self.reader, self._open)
        self._on_open = on_open

    def _open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._on_open(self)

    def eof_received(self) -> bool | None:
        self.disconnected.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.disconnected.set()
        self.closed.set()
        super().connection_lost(None)  # a reset is an end like any other: asyncio keeps an exception that nobody awaits

    async def send(self, request: ReceivedRequest, reply: Reply) -> bool:
        """Send a reply. Returns False if the connection cannot be used any further."""
        body = _BodyEncoder(reply)
        try:
            await self._write(_encode_head(reply))
            for step in reply.body:
                match step:
                    case bytes():
                        await self._write(body.encode(step))
                    case Pause(seconds):
                        with suppress(TimeoutError):
                            await asyncio.wait_for(self.disconnected.wait(), seconds)
                    case Hang():
                        await self.disconnected.wait()
                        raise ConnectionResetError
                    case Cut():
                        return False
                    case Reset():
                        self._reset()
                        return False
            await self._write(body.finish())
        except ConnectionError:
            request.closed_early.set()
            return False
        return reply.framing != "close"

    async def _write(self, data: bytes) -> None:
        if self.disconnected.is_set():
            raise ConnectionResetError
        if data:
            self.writer.write(data)
            await self.writer.drain()

    def _reset(self) -> None:
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.writer.transport.abort()


class _BodyEncoder:
    """Encodes a body for the connection: compressed and chunked as the reply asks."""

    def __init__(self, reply: Reply) -> None:
        self._chunked = reply.framing == "chunked"
        self._gzip = zlib.compressobj(wbits=_GZIP) if reply.gzip else None

    def encode(self, data: bytes) -> bytes:
        if self._gzip is not None:
            data = self._gzip.compress(data) + self._gzip.flush(zlib.Z_SYNC_FLUSH)
        return self._chunk(data)

    def finish(self) -> bytes:
        rest = self._chunk(self._gzip.flush()) if self._gzip is not None else b""
        return rest + (b"0\r\n\r\n" if self._chunked else b"")

    def _chunk(self, data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if self._chunked and data else data


def _encode_head(reply: Reply) -> bytes:
    headers = {"content-type": reply.content_type} | {name.lower(): value for name, value in reply.headers.items()}
    if reply.gzip:
        headers["content-encoding"] = "gzip"
    match reply.framing:
        case "chunked":
            headers["transfer-encoding"] = "chunked"
        case "length":
            headers["content-length"] = str(_content_length(reply))
        case "close":
            headers["connection"] = "close"
    lines = [
        f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _content_length(reply: Reply) -> int:
    body = _BodyEncoder(reply)
    pieces = [body.encode(step) for step in reply.body if isinstance(step, bytes)]
    return sum(map(len, pieces)) + len(body.finish())
