"""The client's WebSocket."""

import asyncio
import logging
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from heald.http1.dial import HAPPY_EYEBALLS

_LARGEST_WRITE = 256 * 1024
_MUTE = logging.Logger("heald_server.client.websocket", logging.CRITICAL + 1)
"""A logger outside of the logger tree: at debug level, websockets would log the token."""


class HandshakeRefused(Exception):
    """The server answered the handshake with an HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


class NoWebSocket(Exception):
    """The server does not speak the WebSocket protocol."""


class SocketClosed(Exception):
    """The connection is closed, with the code of the server if it sent one."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


class WebSocket:
    """An open connection, for one reader and one writer at a time."""

    def __init__(self, connection: "_TimedConnection") -> None:
        self._connection = connection

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        headers: Mapping[str, str],
        tls: ssl.SSLContext | None,
        dial: float,
        goodbye: float,
        largest: int,
    ) -> Self:
        """Open a connection. Raises HandshakeRefused, NoWebSocket, OSError, TimeoutError or UnicodeError."""
        try:
            connection = await _NoRedirects(
                url,
                additional_headers=headers,
                user_agent_header="heald",
                create_connection=_TimedConnection,
                compression=None,
                proxy=None,
                ping_interval=None,  # servers send heartbeats
                open_timeout=dial,
                close_timeout=goodbye,
                max_size=largest,
                write_limit=_LARGEST_WRITE,
                logger=_MUTE,
                ssl=tls,
                happy_eyeballs_delay=HAPPY_EYEBALLS,
            )
        except InvalidStatus as error:
            raise HandshakeRefused(error.response.status_code) from None
        except WebSocketException as error:
            raise NoWebSocket(type(error).__name__) from None
        assert isinstance(connection, _TimedConnection)
        return cls(connection)

    async def send(self, text: str) -> None:
        """Send a message. Raises SocketClosed."""
        try:
            await self._connection.send(text)
        except ConnectionClosed:
            raise SocketClosed(self._connection.close_code) from None

    async def receive(self, silence: float) -> str:
        """Wait for the next message. Raises TimeoutError after `silence` seconds without any data, pings included."""
        connection = self._connection
        began = connection.loop.time()
        while True:
            try:
                async with asyncio.timeout_at(max(connection.last_received, began) + silence):
                    message = await connection.recv()
            except TimeoutError:
                if connection.last_received + silence <= connection.loop.time():
                    raise
                continue
            except ConnectionClosed:
                raise SocketClosed(connection.close_code) from None
            if isinstance(message, bytes):
                raise SocketClosed(None)
            return message

    async def close(self) -> None:
        """Close the connection and discard the messages that still arrive."""
        passing = asyncio.create_task(self._discard_messages())
        try:
            with suppress(OSError):
                await self._connection.close()
        finally:
            passing.cancel()
            await asyncio.wait([passing])

    async def _discard_messages(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                await self._connection.recv()


class _TimedConnection(ClientConnection):
    last_received = 0.0
    """When data was last received."""

    def data_received(self, data: bytes) -> None:
        self.last_received = self.loop.time()
        super().data_received(data)
        protocol = self.protocol
        if protocol.close_rcvd is not None or protocol.parser_exc is not None:
            # The closing handshake is complete: do not wait for the server to close the socket.
            self.transport.close()
            self.loop.call_later(self.close_timeout or 0, self.transport.abort)


class _NoRedirects(connect):
    """A connect that does not follow redirects."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc
