"""A WebSocket to a server: text in both directions. No redirects, no proxies, no cookies, and the token in no log."""

import asyncio
import logging
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from weft.http1.dial import HAPPY_EYEBALLS

_LARGEST_WRITE = 256 * 1024
_MUTE = logging.Logger("weft.remote.websocket", logging.CRITICAL + 1)
"""Belongs to no tree of loggers: at the level of debugging websockets would write down the token."""


class HandshakeRefused(Exception):
    """What answered did so as a web server, with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


class NoWebSocket(Exception):
    """What answered does not speak the protocol."""


class Closed(Exception):
    """The connection is over; by the server with this code, None if it sent none of its own."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


class WebSocket:
    """A connection that stands. One reader and one writer at a time."""

    def __init__(self, connection: "_Connection") -> None:
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
        """Raises HandshakeRefused, NoWebSocket, OSError, TimeoutError or UnicodeError."""
        try:
            connection = await _Straight(
                url,
                additional_headers=headers,
                user_agent_header="weft",
                create_connection=_Connection,
                compression=None,
                proxy=None,
                ping_interval=None,  # servers send signs of life
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
        assert isinstance(connection, _Connection)
        return cls(connection)

    async def send(self, text: str) -> None:
        """Closed if it is over, but whoever reads learns more about why."""
        try:
            await self._connection.send(text)
        except ConnectionClosed:
            raise Closed(self._connection.close_code) from None

    async def receive(self, silence: float) -> str:
        """The next message. TimeoutError once nothing at all, not even a ping, has come for that long."""
        connection = self._connection
        began = connection.loop.time()
        while True:
            try:
                async with asyncio.timeout_at(max(connection.heard, began) + silence):
                    message = await connection.recv()
            except TimeoutError:
                if connection.heard + silence <= connection.loop.time():
                    raise
                continue
            except ConnectionClosed:
                raise Closed(connection.close_code) from None
            if isinstance(message, bytes):
                raise Closed(None)
            return message

    async def close(self) -> None:
        """Say goodbye, and pass over what still comes."""
        passing = asyncio.create_task(self._pass_over())
        try:
            with suppress(OSError):
                await self._connection.close()
        finally:
            passing.cancel()
            await asyncio.wait([passing])

    async def _pass_over(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                await self._connection.recv()


class _Connection(ClientConnection):
    heard = 0.0
    """When something came last."""

    def data_received(self, data: bytes) -> None:
        self.heard = self.loop.time()
        super().data_received(data)
        protocol = self.protocol
        if protocol.close_rcvd is not None or protocol.parser_exc is not None:
            # All is said. A server that does not hang up would be waited for.
            self.transport.close()
            self.loop.call_later(self.close_timeout or 0, self.transport.abort)


class _Straight(connect):
    """Goes where it is sent and nowhere else."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc
