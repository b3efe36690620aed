"""The transport to an MCP server that is a child process, over its pipes.

The process has a process group of its own, which is killed when the connection ends. The sizes of messages and of the
stored standard error are bounded. Lines that are not messages are skipped.
"""

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from heald.tools.mcp.config import McpServer
from heald.tools.mcp.messages import MAX_MESSAGE, RawSchemas, error_response, shrink_message

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

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
