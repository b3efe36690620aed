"""The connection to Chromium: commands and events of the DevTools protocol over pipes.

A message is JSON that ends with NUL, with a `sessionId` for every tab. No port is opened.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from heald_studio.browser.page import BrowserError

Params = dict[str, Any]
Listener = Callable[[str, Params], None]  # gets the method and the parameters of an event

MAX_MESSAGE = 256 * 1024 * 1024


class _Message(msgspec.Struct, rename={"session": "sessionId"}):
    id: int = 0
    session: str = ""
    method: str = ""
    params: Params = {}
    result: Params = {}
    error: Params | None = None


class CommandFailed(Exception):
    """The browser answered a command with an error."""


class DevToolsConnection(asyncio.Protocol):
    """Sends commands and receives results and events. If the browser ends, every open command raises BrowserError."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self._pending: dict[int, asyncio.Future[Params]] = {}
        self._listeners: dict[str, Listener] = {}
        self._pieces: list[bytes] = []
        self._size = 0
        self._last = 0
        self._reading: asyncio.ReadTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self._decoder = msgspec.json.Decoder(_Message)

    async def connect(self, reading: int, writing: int) -> None:
        """Connect over these descriptors. The connection owns them from now on."""
        loop = asyncio.get_running_loop()
        self._reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(reading, "rb", 0))
        self._writing, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(writing, "wb", 0))

    async def call(self, method: str, params: Params | None = None, session: str = "") -> Params:
        """Run a command and return its result."""
        self._last += 1
        number = self._last
        future = asyncio.get_running_loop().create_future()
        self._send(number, method, params or {}, session)
        self._pending[number] = future
        try:
            return await future
        finally:
            self._pending.pop(number, None)

    def post(self, method: str, params: Params | None = None, session: str = "") -> None:
        """Run a command whose result does not matter."""
        if not self.lost.is_set():
            self._last += 1
            self._send(self._last, method, params or {}, session)

    def subscribe(self, session: str, listener: Listener) -> None:
        self._listeners[session] = listener

    def unsubscribe(self, session: str) -> None:
        self._listeners.pop(session, None)

    def close(self) -> None:
        for transport in (self._reading, self._writing):
            if transport is not None:
                transport.close()
        self._fail_pending()

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
            self._on_message(whole)

    def connection_lost(self, exc: Exception | None) -> None:
        self.close()

    def _send(self, number: int, method: str, params: Params, session: str) -> None:
        if self._writing is None or self.lost.is_set():
            raise connection_lost()
        message: Params = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._writing.write(msgspec.json.encode(message) + b"\0")

    def _on_message(self, raw: bytes) -> None:
        try:
            message = self._decoder.decode(raw)
        except msgspec.DecodeError:
            return
        if not message.id:
            listener = self._listeners.get(message.session)
            if listener is not None:
                listener(message.method, message.params)
            return
        future = self._pending.get(message.id)
        if future is None or future.done():
            return
        if message.error is not None:
            future.set_exception(CommandFailed(str(message.error.get("message", ""))))
        else:
            future.set_result(message.result)

    def _fail_pending(self) -> None:
        self.lost.set()
        for future in self._pending.values():
            if not future.done():
                future.set_exception(connection_lost())
        self._pending.clear()


def connection_lost() -> BrowserError:
    return BrowserError("The browser exited while it rendered the page; try again.", "gone")
