"""Messages of JSON-RPC on standard input and output, one JSON object a line.

A line that is not a JSON-RPC message, or is too long, is answered with an error; the connection stays open. While the
transport is open, standard output of the rest of the process is standard error, so that a stray `print` of a tool
cannot damage the protocol.
"""

import asyncio
import json
import os
import stat
import sys
from contextlib import suppress
from typing import Any, cast

from heald.core.json import encode

MAX_LINE = 64 * 1024 * 1024
"""Maximum bytes of one message, pictures included."""
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
_READ = 1024 * 1024


class StdioTransport:
    """Reads and writes the messages. `open` it in the event loop that uses it."""

    def __init__(self, reader: asyncio.StreamReader, writer: "asyncio.StreamWriter | None", output: int) -> None:
        self._reader = reader
        self._writer = writer
        self._output = output
        self._buffer = bytearray()
        self._searched = 0
        self._is_skipping = False
        self._lock = asyncio.Lock()
        self._asked: set[int | str | None] = set()
        self._answered = asyncio.Event()

    @classmethod
    async def open(cls) -> "StdioTransport":
        """Connect standard input and output."""
        sys.stdout.flush()
        output = os.dup(1)
        os.dup2(2, 1)
        return cls(await _open_reader(), await _open_writer(output), output)

    async def send(self, message: dict[str, Any]) -> None:
        await self._write(encode(message) + b"\n")
        if "method" not in message:
            self._asked.discard(message.get("id"))
            self._answered.set()

    async def _write(self, data: bytes) -> None:
        async with self._lock:
            if self._writer is None:
                await asyncio.to_thread(_write_all, self._output, data)
                return
            self._writer.write(data)
            await self._writer.drain()

    async def wait_answered(self, seconds: float) -> None:
        """Wait until every request so far has its answer, or for so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._asked:
                    self._answered.clear()
                    await self._answered.wait()

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message, None at the end of the input."""
        while (line := await self._read_line()) is not None:
            if not line.strip():
                continue
            message = await self._parse(line)
            if message is not None:
                return message
        return None

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    async def _read_line(self) -> bytes | None:
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                if not self._is_skipping:
                    return line
                self._is_skipping = False
                continue
            if len(self._buffer) > MAX_LINE or self._is_skipping:
                if not self._is_skipping:
                    await self._refuse(INVALID_REQUEST, f"A message is longer than {MAX_LINE} bytes; send less.")
                self._is_skipping = True
                self._buffer.clear()
            self._searched = len(self._buffer)
            more = await self._reader.read(_READ)
            if not more:
                return None
            self._buffer += more

    async def _parse(self, line: bytes) -> dict[str, Any] | None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            await self._refuse(PARSE_ERROR, "A line is not JSON; send one JSON-RPC message a line.")
            return None
        if not isinstance(message, dict):
            await self._refuse(INVALID_REQUEST, "A message must be a JSON object; batches are not part of ACP.")
            return None
        return await self._check(cast("dict[str, Any]", message))

    async def _check(self, message: dict[str, Any]) -> dict[str, Any] | None:
        key = message.get("id")
        if isinstance(key, bool) or not isinstance(key, int | str | None):
            await self._refuse(INVALID_REQUEST, "The id of a message must be a number or a string.")
            return None
        if "method" in message:
            if isinstance(message["method"], str) and isinstance(message.get("params"), dict | None):
                if "id" in message:
                    self._asked.add(key)
                return message
            await self._refuse(INVALID_REQUEST, "A request needs a method, a string, and its params, an object.", key)
            return None
        if "id" not in message or not ("result" in message or "error" in message):
            await self._refuse(INVALID_REQUEST, "A message has neither a method nor a result or error with an id.", key)
            return None
        return message if "error" not in message else {"id": key, "error": _checked_error(message["error"])}

    async def _refuse(self, code: int, text: str, key: int | str | None = None) -> None:
        await self.send({"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": text}})


def _checked_error(error: object) -> dict[str, Any]:
    """Return the error of a response in its proper form."""
    members = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    code, text = members.get("code"), members.get("message")
    return {
        "code": code if isinstance(code, int) else INTERNAL_ERROR,
        "message": text if isinstance(text, str) else "The editor sent an error without a message.",
        "data": members.get("data"),
    }


async def _open_reader() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=_READ)
    if not _is_pipe(sys.stdin.fileno()):
        reader.feed_data(await asyncio.to_thread(sys.stdin.buffer.read))
        reader.feed_eof()
        return reader
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def _open_writer(output: int) -> asyncio.StreamWriter | None:
    """Return a writer for a pipe, socket or terminal; None for a file."""
    loop = asyncio.get_running_loop()
    if not _is_pipe(output):
        return None
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop=loop), os.fdopen(output, "wb", buffering=0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _is_pipe(fd: int) -> bool:
    """Whether the event loop can wait for it: a pipe, a socket or a terminal, but no file and not /dev/null."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def _write_all(output: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(output, rest) :]
