"""The DevTools protocol over two pipes: JSON messages, each ended by NUL. No port is opened.

Sessions are flat: one connection carries the browser and every tab, told apart by `sessionId`.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from weft.studio.browser.rendering import BrowserError

Params = dict[str, Any]
Listener = Callable[[str, Params], None]
"""Hears an event's method and parameters."""

MAX_MESSAGE = 256 * 1024 * 1024


class _Message(msgspec.Struct, rename={"session": "sessionId"}):
    id: int = 0
    session: str = ""
    method: str = ""
    params: Params = {}
    result: Params = {}
    error: Params | None = None


class Refused(Exception):
    """The browser answered a command with an error."""


class Connection(asyncio.Protocol):
    """Commands out, answers and events in. When the browser goes away every open command fails with a BrowserError."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self._waiting: dict[int, asyncio.Future[Params]] = {}
        self._listeners: dict[str, Listener] = {}
        self._pieces: list[bytes] = []
        self._size = 0
        self._last = 0
        self._reading: asyncio.ReadTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self._decoder = msgspec.json.Decoder(_Message)

    async def connect(self, reading: int, writing: int) -> None:
        """Speak over these descriptors, which belong to the connection from now on."""
        loop = asyncio.get_running_loop()
        self._reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(reading, "rb", 0))
        self._writing, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(writing, "wb", 0))

    async def call(self, method: str, params: Params | None = None, session: str = "") -> Params:
        """Run a command and give back its result."""
        self._last += 1
        number = self._last
        future = asyncio.get_running_loop().create_future()
        self._send(number, method, params or {}, session)
        self._waiting[number] = future
        try:
            return await future
        finally:
            self._waiting.pop(number, None)

    def post(self, method: str, params: Params | None = None, session: str = "") -> None:
        """Run a command whose result does not matter."""
        if not self.lost.is_set():
            self._last += 1
            self._send(self._last, method, params or {}, session)

    def listen(self, session: str, listener: Listener) -> None:
        self._listeners[session] = listener

    def forget(self, session: str) -> None:
        self._listeners.pop(session, None)

    def close(self) -> None:
        for transport in (self._reading, self._writing):
            if transport is not None:
                transport.close()
        self._drop()

    def data_received(self, data: bytes) -> None:
        head, *rest = data.split(b"\0")
        self._pieces.append(head)
        self._size += len(head)
        if self._size > MAX_MESSAGE:
            self.close()
            return
        for piece in rest:
            whole = b"".join(self._pieces) if len(self._pieces) > 1 else self._pieces[0]
            self._pieces, self._size = [piece], len(piece)
            self._hear(whole)

    def connection_lost(self, exc: Exception | None) -> None:
        self.close()

    def _send(self, number: int, method: str, params: Params, session: str) -> None:
        if self._writing is None or self.lost.is_set():
            raise gone()
        message: Params = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._writing.write(msgspec.json.encode(message) + b"\0")

    def _hear(self, raw: bytes) -> None:
        try:
            message = self._decoder.decode(raw)
        except msgspec.DecodeError:
            return
        if not message.id:
            listener = self._listeners.get(message.session)
            if listener is not None:
                listener(message.method, message.params)
            return
        future = self._waiting.get(message.id)
        if future is None or future.done():
            return
        if message.error is not None:
            future.set_exception(Refused(str(message.error.get("message", ""))))
        else:
            future.set_result(message.result)

    def _drop(self) -> None:
        self.lost.set()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(gone())
        self._waiting.clear()


def gone() -> BrowserError:
    return BrowserError("The browser went away while it rendered the page; try again.", "gone")
