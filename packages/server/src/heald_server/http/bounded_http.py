"""An HTTP connection of uvicorn that belongs to a table of connections, and keeps its deadline current."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from heald_server.http.connections import HEAD_SECONDS, ConnectionTable

BODY_SECONDS = 10.0
"""For the whole body of an unknown client, and for each `BODY_BYTES` of a known one."""
BODY_BYTES = 10 * 1024
UNREAD_SECONDS = 2.0
"""For the rest of a body whose response is complete."""


class BoundedHttp(H11Protocol):
    """An HTTP connection that belongs to a table, and keeps its deadline current."""

    def __init__(self, table: ConnectionTable, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._table = table
        self._body_bytes = 0
        self._is_answered = False
        """The response is complete, and the rest of its request is still to come."""
        self._is_upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._connection = self._table.open(transport)
        self.app_state = self.app_state | {
            "abort_connection": transport.abort,
            "body_writer": ChunkWriter(self),
            "connection": self._connection,
        }
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.close()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self.conn.their_state
        super().data_received(data)
        self._body_bytes += len(data)
        if not self._is_upgraded:
            self._set_deadline(before)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        super().handle_websocket_upgrade(event)
        self._is_upgraded = True
        self._connection.deadline = None  # a socket sends when it likes, and has limits of its own

    def on_response_complete(self) -> None:
        before = self.conn.their_state
        self._is_answered = before is h11.SEND_BODY
        super().on_response_complete()
        if self._is_answered:
            self._connection.deadline = self._table.clock() + UNREAD_SECONDS
        else:
            self._set_deadline(h11.DONE)

    def _set_deadline(self, before: type[h11.IDLE] | Any) -> None:
        """Follow the state of the request: head, body, or complete."""
        connection, now = self._connection, self._table.clock()
        state = self.conn.their_state
        if state is h11.IDLE:
            self._is_answered = False
            if not self.conn.trailing_data[0]:
                connection.deadline = None  # between requests: the time limit for kept connections applies
            elif before is not h11.IDLE or connection.deadline is None:
                connection.deadline = now + HEAD_SECONDS
        elif state is not h11.SEND_BODY:
            connection.deadline = None
        elif self._is_answered:
            return
        elif before is not h11.SEND_BODY or self._is_reading_paused or self._has_brought_enough:
            self._body_bytes = 0
            connection.deadline = now + BODY_SECONDS

    @property
    def _is_reading_paused(self) -> bool:
        return self.flow.read_paused  # the server is slow, not the client

    @property
    def _has_brought_enough(self) -> bool:
        return self._connection.is_known and self._body_bytes >= BODY_BYTES


class ChunkWriter:
    """Writes parts of the current response's body, past ASGI and h11: for streams that write many times a second."""

    def __init__(self, protocol: BoundedHttp) -> None:
        self._protocol = protocol

    @property
    def is_ready(self) -> bool:
        """Whether a response has begun, and its client reads what was written."""
        protocol = self._protocol
        cycle = protocol.cycle
        return (
            cycle is not None  # pyright: ignore[reportUnnecessaryComparison]
            and cycle.response_started
            and not cycle.response_complete
            and not cycle.disconnected
            and not protocol.flow.write_paused
        )

    def write(self, body: bytes) -> None:
        """Write a part of the body as a chunk (RFC 9112, section 7.1)."""
        self._protocol.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
