"""A real HTTP/1.1 server on the loopback that answers what a test has written down.

    async with ScriptedServer([Reply([b"data: hello\\n\\n"])]) as server:
        ...  # talk to server.url
    assert server.requests[0].path == "/v1/chat/completions"

Every request takes the next reply, or all of them ask one function. Leaving the block closes every connection at once
and leaves no task behind. A reply can stall, be cut short or break the connection: see `replies`.
"""

import asyncio
import socket
import struct
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.client import responses
from types import TracebackType
from typing import Self

from weft.testing.exchange import Request, read_request
from weft.testing.replies import Cut, Hang, Pause, Reply, Reset

Answer = Callable[[Request], Reply]

_NO_LINGER = struct.pack("ii", 1, 0)
_GZIP = 16 + zlib.MAX_WBITS


class ScriptedServer:
    """Answers requests in the order of its script. A script of one function answers all of them with it."""

    def __init__(self, script: Iterable[Reply | Answer] | Answer) -> None:
        self.requests: list[Request] = []
        self._answer: Answer | None = script if callable(script) else None
        self._script: list[Reply | Answer] = [] if callable(script) else list(script)
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._opened = 0
        self._closing = False
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, "127.0.0.1", 0)
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
        await asyncio.gather(*(connection.lost.wait() for connection in self._connections))
        await self._server.wait_closed()

    def _connect(self) -> "_Connection":
        self._opened += 1
        return _Connection(self._opened, self._begin)

    def _begin(self, connection: "_Connection") -> None:
        if self._closing:  # accepted while the server closes
            connection.writer.transport.abort()
            return
        self._connections.add(connection)
        task = asyncio.get_running_loop().create_task(self._serve(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: "_Connection") -> None:
        try:
            while (request := await read_request(connection.reader, connection.number)) is not None:
                self.requests.append(request)
                reply = self._reply(request)
                if not await connection.send(request, reply) or not request.keeps_alive:
                    break
        finally:
            connection.writer.close()
        await connection.lost.wait()
        self._connections.discard(connection)

    def _reply(self, request: Request) -> Reply:
        answer = self._answer or (self._script.pop(0) if self._script else _nothing_left)
        return answer if isinstance(answer, Reply) else answer(request)


class _Connection(asyncio.StreamReaderProtocol):
    """One client. It knows at once when the client leaves, whatever is being sent."""

    def __init__(self, number: int, begin: Callable[["_Connection"], None]) -> None:
        self.number = number
        self.reader = asyncio.StreamReader(limit=1 << 20)
        self.left = asyncio.Event()
        self.lost = asyncio.Event()
        super().__init__(self.reader, self.begin)
        self.opened = begin

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.opened(self)

    def eof_received(self) -> bool | None:
        self.left.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.left.set()
        self.lost.set()
        super().connection_lost(exc)

    async def send(self, request: Request, reply: Reply) -> bool:
        """Send a reply. False if the connection is of no more use."""
        body = _Body(reply)
        try:
            await self._write(_head(reply))
            for step in reply.body:
                match step:
                    case bytes():
                        await self._write(body.piece(step))
                    case Pause(seconds):
                        with suppress(TimeoutError):
                            await asyncio.wait_for(self.left.wait(), seconds)
                    case Hang():
                        await self.left.wait()
                        raise ConnectionResetError
                    case Cut():
                        return False
                    case Reset():
                        self._reset()
                        return False
            await self._write(body.end())
        except ConnectionError:
            request.closed_early.set()
            return False
        return reply.framing != "close"

    async def _write(self, data: bytes) -> None:
        if self.left.is_set():
            raise ConnectionResetError
        if data:
            self.writer.write(data)
            await self.writer.drain()

    def _reset(self) -> None:
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.writer.transport.abort()


class _Body:
    """The bytes of a body as they go over the connection: compressed and in chunks where the reply asks for it."""

    def __init__(self, reply: Reply) -> None:
        self._chunked = reply.framing == "chunked"
        self._gzip = zlib.compressobj(wbits=_GZIP) if reply.gzip else None

    def piece(self, data: bytes) -> bytes:
        if self._gzip is not None:
            data = self._gzip.compress(data) + self._gzip.flush(zlib.Z_SYNC_FLUSH)
        return self._chunk(data)

    def end(self) -> bytes:
        rest = self._chunk(self._gzip.flush()) if self._gzip is not None else b""
        return rest + (b"0\r\n\r\n" if self._chunked else b"")

    def _chunk(self, data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if self._chunked and data else data


def _head(reply: Reply) -> bytes:
    headers = {"content-type": reply.content_type} | {name.lower(): value for name, value in reply.headers.items()}
    if reply.gzip:
        headers["content-encoding"] = "gzip"
    match reply.framing:
        case "chunked":
            headers["transfer-encoding"] = "chunked"
        case "length":
            headers["content-length"] = str(_length(reply))
        case "close":
            headers["connection"] = "close"
    lines = [
        f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _length(reply: Reply) -> int:
    body = _Body(reply)
    pieces = [body.piece(step) for step in reply.body if isinstance(step, bytes)]
    return sum(map(len, pieces)) + len(body.end())


def _nothing_left(request: Request) -> Reply:
    message = f"The script has no reply left for {request.method} {request.path}."
    return Reply.json({"error": {"message": message, "type": "invalid_request_error"}}, status=400)
