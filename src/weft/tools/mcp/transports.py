"""Transports to MCP servers: streamable HTTP, HTTP with server-sent events, and a child process over its pipes.

The sizes of messages and of the kept standard error are bounded. Configured headers are sent to the server's
origin only. A child process runs in its own process group, which is killed when the connection ends. Lines that are not
messages are ignored.
"""

import asyncio
import os
import signal
import ssl
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from weft.tools.mcp.config import McpServer
from weft.tools.mcp.messages import MAX_MESSAGE, RawSchemas, error_response, shrink_message

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


@asynccontextmanager
async def http_transport(
    server: McpServer, schemas: RawSchemas, auth: httpx2.Auth | None = None
) -> "AsyncGenerator[TransportStreams]":
    """Connect over HTTP for the duration of the context."""
    assert server.url is not None
    certificates = await asyncio.to_thread(_trusted_certificates)

    def open_client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity"} | server.headers | (headers or {}),
            timeout=timeout,
            trust_env=server.use_proxy,
            verify=certificates,
            auth=auth,
            event_hooks={"response": [partial(_bound, schemas)]},
        )

    limit = max(server.call_timeout, server.connect_timeout) + 30
    timeout = httpx2.Timeout(server.connect_timeout, read=limit)
    if server.transport == "sse":
        async with sse_client(
            server.url,
            timeout=server.connect_timeout,
            sse_read_timeout=_IDLE_SECONDS,
            httpx_client_factory=open_client,
            auth=auth,
        ) as streams:
            yield streams
        return
    async with (
        open_client(timeout=timeout, auth=auth) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_MESSAGE) as streams,
    ):
        yield streams


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Load the certificates of the system, or those that the environment names. It takes some time."""
    return httpx2.create_ssl_context()


async def _bound(schemas: RawSchemas, response: httpx2.Response) -> None:
    """Bound the messages of a response. Reject compressed ones: they could be bombs."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx2.DecodingError("The answer is compressed, which was not asked for.")
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    response.stream = (_EventStream if is_events else _WholeBody)(response.stream, schemas)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, schemas: RawSchemas) -> None:
        self._stream = stream
        self._schemas = schemas

    async def aclose(self) -> None:
        await self._stream.aclose()


class _WholeBody(_BoundedStream):
    """A body that is one message."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces: list[bytes] = []
        arrived = 0
        async for chunk in self._stream:
            arrived += len(chunk)
            if arrived > MAX_MESSAGE:
                raise httpx2.StreamError("The answer is too large.")
            pieces.append(chunk)
        yield await shrink_message(b"".join(pieces), self._schemas)


class _EventStream(_BoundedStream):
    """Server-sent events, each with one message. The data lines of an event become one line."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        lines = LineBuffer()
        data: list[bytes] = []
        async for chunk in self._stream:
            for line in lines.feed(chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")):
                if line.startswith(b"data:"):
                    data.append(line[5:].strip())
                    continue
                if not line and data:
                    yield b"data: " + await self._message(data) + b"\n"
                    data = []
                yield line + b"\n"
            for head in lines.dropped():
                yield b"data: " + error_response(head) + b"\n\n"

    async def _message(self, data: list[bytes]) -> bytes:
        if sum(map(len, data)) > MAX_MESSAGE:
            return error_response(data[0])
        return await shrink_message(b" ".join(data), self._schemas)


_IDLE_SECONDS = 24 * 3600.0
"""Seconds that the event stream of the older HTTP transport may be silent: it has no messages between calls."""
MAX_LOG = 8 * 1024
_CHUNK = 64 * 1024
_HEAD = 400
_PASSED_ON = ("PATH", "HOME", "LANG")
_GRACE = 2.0
"""Seconds to wait for a server to exit after its input is closed, and again after SIGTERM."""
_POLL = 0.01


class ErrorLog:
    """Keeps the end of a server's standard error."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        data = data[-MAX_LOG:]
        self._pieces.append(data)
        self._size += len(data)
        while self._size - len(self._pieces[0]) >= MAX_LOG:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        return b"".join(self._pieces)[-MAX_LOG:].decode("utf-8", "replace")


class LineBuffer:
    """Splits a byte stream into lines. A line longer than `limit` is dropped without being buffered."""

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._dropping = False
        self._dropped: list[bytes] = []

    def dropped(self) -> list[bytes]:
        """Return the beginnings of the lines that were dropped since the last call."""
        heads, self._dropped = self._dropped, []
        return heads

    def feed(self, chunk: bytes) -> list[bytes]:
        *whole, rest = chunk.split(b"\n")
        lines: list[bytes] = []
        for piece in whole:
            self._hold(piece)
            (self._dropped if self._dropping else lines).append(b"".join(self._pieces))
            self._pieces, self._size, self._dropping = [], 0, False
        self._hold(rest)
        return lines

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            if not self._dropping:
                self._pieces = [b"".join([*self._pieces, piece])[:_HEAD]]
            self._dropping = True
        elif piece:
            self._pieces.append(piece)


def environment(server: McpServer) -> dict[str, str]:
    """Return the environment of a started server."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | server.env


@asynccontextmanager
async def process_transport(
    server: McpServer, schemas: RawSchemas, log: ErrorLog, on_end: Callable[[], object]
) -> "AsyncGenerator[TransportStreams]":
    """Run the server for the duration of the context. `on_end` is called when its output ends."""
    assert server.command is not None
    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(server),
        cwd=server.cwd,
        start_new_session=True,
        limit=_CHUNK,
    )
    to_us, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, from_us = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, schemas, to_us, on_end)
            tasks.start_soon(_write, process, from_us, to_us)
            tasks.start_soon(_listen, process, log)
            try:
                yield inbox, outbox
            finally:
                inbox.close()  # further output is read and dropped, so that the server can exit
                with anyio.CancelScope(shield=True):
                    await _stop(process)
                tasks.cancel_scope.cancel()
    finally:
        kill_group(process.pid)
        for stream in (to_us, inbox, outbox, from_us):
            stream.close()
        _forget(process)


async def _read(
    process: asyncio.subprocess.Process,
    schemas: RawSchemas,
    to_us: MemoryObjectSendStream[SessionMessage | Exception],
    on_end: Callable[[], object],
) -> None:
    assert process.stdout is not None
    lines = LineBuffer()
    async with to_us:
        with suppress(OSError):
            while chunk := await process.stdout.read(_CHUNK):
                for line in [*lines.feed(chunk), *map(error_response, lines.dropped())]:
                    try:
                        small = await shrink_message(line, schemas)
                        message = SessionMessage(jsonrpc_message_adapter.validate_json(small, by_name=False))
                    except ValueError:
                        continue
                    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await to_us.send(message)
        on_end()


async def _write(
    process: asyncio.subprocess.Process,
    from_us: MemoryObjectReceiveStream[SessionMessage],
    to_us: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert process.stdin is not None
    try:
        async for message in from_us:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()
    except (OSError, anyio.ClosedResourceError):
        await to_us.aclose()


async def _listen(process: asyncio.subprocess.Process, log: ErrorLog) -> None:
    assert process.stderr is not None
    with suppress(OSError):
        while chunk := await process.stderr.read(_CHUNK):
            log.add(chunk)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Close the input, as the protocol specifies; then send SIGTERM to the group, then SIGKILL."""
    assert process.stdin is not None
    process.stdin.close()
    if await _ended(process):
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    if await _ended(process):
        return
    kill_group(process.pid)
    await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> bool:
    # wait() would also wait for the pipes, which a grandchild may keep open
    deadline = asyncio.get_running_loop().time() + _GRACE
    while process.returncode is None:
        if asyncio.get_running_loop().time() > deadline:
            return False
        await anyio.sleep(_POLL)
    return True


def kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _forget(process: asyncio.subprocess.Process) -> None:
    """Close our end of the pipes, even if a process outside the group holds the other end open."""
    transport: asyncio.SubprocessTransport | None = getattr(process, "_transport", None)
    if transport is not None:
        with suppress(ProcessLookupError, PermissionError):
            transport.close()
